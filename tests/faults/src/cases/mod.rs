//! The numbers of the design's list of faults, each with what makes it; from 23 on, what backfills bear.

mod backfill;
mod doubt;
mod herd;
mod nodes;
mod steps;
mod strays;
mod strikes;
mod tally;
mod versions;
mod writes;

use std::pin::Pin;
use std::sync::Arc;

use crate::trouble::Result;
use crate::world::World;

pub(crate) use tally::Tally;

/// How much of a number is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// A few cases, for each change.
    Short,
    /// All of them.
    Full,
}

/// What a number needs of the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// That they run: other numbers go on beside it.
    Peace,
    /// That no other number is beside it: it floods them.
    Quiet,
    /// Nothing: it stops or kills them.
    Nothing,
}

/// A number, or a scene of one.
type Playing = Pin<Box<dyn Future<Output = Result<Tally>> + Send>>;

/// One number of the list.
#[derive(Clone, Copy)]
pub struct Number {
    /// Its number there.
    pub id: u8,
    /// What is done.
    pub title: &'static str,
    /// What it needs.
    pub needs: Needs,
    /// Whether the short set has some of it.
    pub is_short: bool,
    run: fn(Arc<World>, Extent) -> Playing,
}

impl Number {
    /// Does it.
    pub async fn run(&self, world: Arc<World>, extent: Extent) -> Result<Tally> {
        (self.run)(world, extent).await
    }
}

macro_rules! numbers {
    ($($number:literal $needs:ident $short:literal $title:literal $module:ident::$function:ident,)*) => {
        /// All numbers that can be made on real nodes.
        pub const NUMBERS: &[Number] = &[$(Number {
            id: $number,
            title: $title,
            needs: Needs::$needs,
            is_short: $short,
            run: |world, extent| Box::pin($module::$function(world, extent)),
        },)*];
    };
}

numbers! {
    1 Peace true "kill -9 at each request, the successor finishes" strikes::kill,
    2 Peace true "SIGSTOP for longer than the lease at each request" strikes::stop,
    3 Peace true "conditional writes lost, late, doubled, refused" writes::all,
    4 Peace true "statements lost, late, doubled, refused" steps::all,
    5 Peace true "pause, SIGTERM and failure while an outcome is unknown" doubt::all,
    7 Quiet true "starts at once on an empty and on a full ledger" herd::starts,
    8 Peace false "instances that live shorter than the lease" herd::restarts,
    9 Peace false "a step that kills its process, and its repair" herd::poison,
    10 Quiet true "a step that fails, and many instances" herd::failing,
    12 Peace true "old and new images at once" herd::mixed,
    13 Peace true "a dropped run" strikes::dropped,
    14 Nothing false "quorum lost during a conditional write, then back" nodes::quorum,
    15 Peace true "a late write against a newer one of the application" strays::all,
    16 Peace false "a step that hangs while its lease is kept" herd::hanging,
    17 Peace true "coordinators of very different speed" herd::skewed,
    19 Quiet false "4.0, 4.1 and 6.0: a run, a takeover, a failure, verbs" versions::all,
    20 Nothing false "a keyspace dropped and made anew while a node is down" nodes::recreated,
    22 Nothing false "CREATE TABLE in a coordinator that stands still" nodes::stopped_coordinator,
    23 Peace false "kill -9 ten times during one backfill" backfill::killed,
    24 Nothing false "a node killed, a node paused during a backfill" backfill::nodes,
    25 Peace false "a lease lost in the middle of a backfill" backfill::lease_lost,
}
