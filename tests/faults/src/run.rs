//! Runs numbers of the list and prints a line for each.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
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

/// Clusters whose nodes are stopped, at once. A stop is mostly waited for, and takes little of the machine.
const STOPPED_CLUSTERS: usize = 2;

/// Runs the selected numbers on private clusters of three nodes; `program` is the binary of this package. True if nothing
/// was wrong.
pub async fn run(selection: &Selection, program: PathBuf) -> Result<bool> {
    let lasting = on_lasting_nodes(selection, &program).await?;
    Ok(on_stopped_nodes(selection, &program).await? && lasting)
}

/// The numbers that let the nodes live.
async fn on_lasting_nodes(selection: &Selection, program: &Path) -> Result<bool> {
    let (peaceful, quiet) = (chosen(selection, Needs::Peace), chosen(selection, Needs::Quiet));
    if peaceful.is_empty() && quiet.is_empty() {
        return Ok(true);
    }
    let settings = Settings { forgetful: true, ..Settings::nodes(3) };
    let world = world(selection, program, settings).await?;
    let mut beside = JoinSet::new();
    for number in peaceful {
        beside.spawn(one(number, Arc::clone(&world), selection.extent));
    }
    let mut is_right = all_right(beside).await?;
    for number in quiet {
        is_right &= one(number, Arc::clone(&world), selection.extent).await;
    }
    Ok(is_right)
}

/// The numbers that stop or kill nodes: each cluster does one at a time.
async fn on_stopped_nodes(selection: &Selection, program: &Path) -> Result<bool> {
    let numbers = chosen(selection, Needs::Nothing);
    let clusters = numbers.len().min(STOPPED_CLUSTERS);
    let numbers = Arc::new(Mutex::new(VecDeque::from(numbers)));
    let mut beside = JoinSet::new();
    for _ in 0..clusters {
        let world = world(selection, program, Settings::nodes(3)).await?;
        let numbers = Arc::clone(&numbers);
        let extent = selection.extent;
        beside.spawn(async move {
            let mut is_right = true;
            loop {
                let next = numbers.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                let Some(number) = next else { return is_right };
                is_right &= one(number, Arc::clone(&world), extent).await;
            }
        });
    }
    all_right(beside).await
}

async fn all_right(mut beside: JoinSet<bool>) -> Result<bool> {
    let mut is_right = true;
    while let Some(was_right) = beside.join_next().await {
        is_right &= was_right?;
    }
    Ok(is_right)
}

async fn world(selection: &Selection, program: &Path, settings: Settings) -> Result<Arc<World>> {
    let cluster = tokio::task::spawn_blocking(|| Cluster::start(settings)).await??;
    Ok(Arc::new(World::new(cluster, program.to_owned(), selection.seed).await?))
}

fn chosen(selection: &Selection, needs: Needs) -> Vec<Number> {
    NUMBERS.iter().filter(move |number| number.needs == needs && selection.has(number)).copied().collect()
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
