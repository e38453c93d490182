//! What was done how often, and what was wrong.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use tokio::task::JoinSet;

use crate::trouble::Result;
use crate::world::World;

/// What was done how often, and what was wrong.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    counts: BTreeMap<String, usize>,
    wrong: Vec<String>,
}

impl Tally {
    /// One of these was done, and that was wrong with it.
    #[must_use]
    pub fn of(what: impl Into<String>, wrong: Vec<String>) -> Self {
        let what = what.into();
        let wrong = wrong.into_iter().map(|line| format!("{what}: {line}")).collect();
        Self { counts: BTreeMap::from([(what, 1)]), wrong }
    }

    /// Adds what else was done.
    pub fn add(&mut self, other: Self) {
        for (what, count) in other.counts {
            *self.counts.entry(what).or_default() += count;
        }
        self.wrong.extend(other.wrong);
    }

    /// What was wrong.
    #[must_use]
    pub fn wrong(&self) -> &[String] {
        &self.wrong
    }

    /// Plays scenes side by side, a few at a time.
    pub(super) async fn of_all<F>(
        world: &World,
        scenes: impl IntoIterator<Item = (String, F)>,
    ) -> Result<Self>
    where
        F: Future<Output = Result<Self>> + Send + 'static,
    {
        let mut playing = JoinSet::new();
        for (name, scene) in scenes {
            let stage = Arc::clone(&world.stage);
            playing.spawn(async move {
                // Nobody closes it.
                let _place = stage.acquire_owned().await;
                // What keeps one from being played is a finding as well, and no reason to forget those of the others.
                scene.await.unwrap_or_else(|trouble| Self::of(name, vec![trouble.to_string()]))
            });
        }
        let mut tally = Self::default();
        while let Some(played) = playing.join_next().await {
            tally.add(played?);
        }
        Ok(tally)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (what, count) in &self.counts {
            write!(f, "{separator}{count} × {what}")?;
            separator = ", ";
        }
        Ok(())
    }
}
