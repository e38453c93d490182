//! Runs numbers of the list and prints a line for each.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use cassandra::{Cluster, Settings};
use tokio::task::JoinSet;

use crate::cases::{Extent, NUMBERS, Needs, Number};
use crate::trouble::Result;
use crate::world::World;

/// What is run.
#[derive(Clone, Debug)]
pub struct Selection {
    /// These numbers; all that have something to do where there are none.
    pub numbers: Vec<u8>,
    /// How much of each.
    pub extent: Extent,
    /// What is chosen where not all is done.
    pub seed: u64,
}

impl Selection {
    fn has(&self, number: &Number) -> bool {
        let is_wanted = self.numbers.is_empty() || self.numbers.contains(&number.id);
        is_wanted && (self.extent == Extent::Full || number.is_short)
    }
}

/// Runs the selected numbers on a private cluster of three nodes; `program` is the binary of this package. True if
/// nothing was wrong.
pub async fn run(selection: &Selection, program: PathBuf) -> Result<bool> {
    let cluster = tokio::task::spawn_blocking(|| Cluster::start(Settings::nodes(3))).await??;
    let world = Arc::new(World::new(cluster, program, selection.seed).await?);
    let mut is_right = true;
    let mut beside = JoinSet::new();
    for number in chosen(selection, Needs::Peace) {
        beside.spawn(one(number, Arc::clone(&world), selection.extent));
    }
    while let Some(was_right) = beside.join_next().await {
        is_right &= was_right?;
    }
    for number in chosen(selection, Needs::Quiet) {
        is_right &= one(number, Arc::clone(&world), selection.extent).await;
    }
    Ok(is_right)
}

fn chosen(selection: &Selection, needs: Needs) -> impl Iterator<Item = Number> {
    NUMBERS.iter().filter(move |number| number.needs == needs && selection.has(number)).copied()
}

async fn one(number: Number, world: Arc<World>, extent: Extent) -> bool {
    let begun = Instant::now();
    let result = number.run(world, extent).await;
    let secs = begun.elapsed().as_secs();
    let Number { id, title, .. } = number;
    match result {
        Ok(tally) if tally.wrong().is_empty() => {
            println!("{id:>2}  ok    {title}: {tally} ({secs} s)");
            true
        }
        Ok(tally) => {
            println!("{id:>2}  WRONG {title}: {tally} ({secs} s)");
            for line in tally.wrong() {
                println!("      {line}");
            }
            false
        }
        Err(trouble) => {
            println!("{id:>2}  NOT MADE {title}: {trouble} ({secs} s)");
            false
        }
    }
}
