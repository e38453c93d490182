//! What pending schema steps will meet. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{Step, Steps};
use crate::schema::shape::{KeyspaceSchema, RoleSight};
use crate::schema::{Effect, SchemaChange, probe};

/// What there is of a step before it is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outlook {
    /// Its effect, or something else in its place.
    Found(Effect),
    /// The server will pass over it in silence, since something of another shape is there.
    PassedOver(Effect),
    /// Why the server will refuse it.
    Obstacle(String),
}

/// What was read of what the steps are about.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// By name; `None` where there is no such keyspace.
    pub(crate) keyspaces: BTreeMap<String, Option<KeyspaceSchema>>,
    /// By name.
    pub(crate) roles: BTreeMap<String, RoleSight>,
}

impl Outlook {
    /// What there is of the steps of these plans, in their order, by plan and step.
    ///
    /// Nothing is said of an object that an earlier step is going to change: what is seen of it now is not what the later
    /// step will meet.
    pub(crate) fn of<'a>(
        plans: impl Iterator<Item = (i64, &'a Steps)>,
        seen: &Seen,
        keyspace: &str,
    ) -> BTreeMap<(i64, i64), Self> {
        let mut outlooks = BTreeMap::new();
        let mut changing = BTreeSet::new();
        for (version, step) in
            plans.flat_map(|(version, steps)| steps.iter().map(move |step| (version, step)))
        {
            let Some(object) = step.change().and_then(SchemaChange::object) else { continue };
            let object = object.to_string();
            if changing.contains(&object) {
                continue;
            }
            match Self::of_step(step, seen, keyspace) {
                Some(outlook) => {
                    outlooks.insert((version, step.n), outlook);
                }
                None => {
                    changing.insert(object);
                }
            }
        }
        outlooks
    }

    /// `None` where it will be run, as far as can be seen.
    fn of_step(step: &Step, seen: &Seen, keyspace: &str) -> Option<Self> {
        let change = step.change()?;
        let of = change.keyspace();
        let schema = seen.keyspaces.get(of.as_deref().unwrap_or(keyspace)).and_then(Option::as_ref);
        let effect = match change {
            SchemaChange::Role(role) => probe::observe_role(role, seen.roles.get(role.role()?)?, keyspace),
            change => probe::observe(change, schema),
        };
        match effect {
            Effect::Absent => schema.and_then(|schema| probe::obstacle(change, schema)).map(Self::Obstacle),
            Effect::Unknown { .. } => None,
            effect @ Effect::OtherShape { .. } if step.passes_over() => Some(Self::PassedOver(effect)),
            effect => Some(Self::Found(effect)),
        }
    }
}

impl std::fmt::Display for Outlook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Found(effect) | Self::PassedOver(effect) => effect.fmt(f),
            Self::Obstacle(obstacle) => f.write_str(obstacle),
        }
    }
}
