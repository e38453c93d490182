//! Rules of the protocol that the simulator breaks, one at a time, to test that it notices.
//!
//! Without the feature `__mutants` every question is answered by a constant, and nothing of this is compiled in.

/// A rule of the protocol that can be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "__mutants"),
    expect(unreachable_pub, reason = "public where the simulator breaks rules")
)]
pub enum Mutant {
    /// M3: a nonce for each run instead of one for each write.
    NonceOfTheRun,
    /// M4: a holder sends without a look at its own deadline.
    NoDeadline,
    /// M5: a step that was begun is taken for done.
    BegunIsDone,
    /// M6: a watcher does not wait until the lease has lapsed.
    NoLapse,
    /// M7: a step is probed or run again while its earlier statement may still land.
    NoDrainBeforeRerun,
    /// M9: ambiguous starts are not counted.
    NoAttempts,
    /// M10: the lease is given back while a statement of the run may still land.
    NoDrainBeforeRelease,
    /// M11: a step is sent although it is unknown whether its begin was recorded.
    SendOnUnknownIntent,
    /// M13: a glance is proof that only what is deferred is left.
    DeferOnGlance,
}

#[cfg(feature = "__mutants")]
mod switch {
    use std::cell::Cell;

    use super::Mutant;

    thread_local! {
        static BROKEN: Cell<Option<Mutant>> = const { Cell::new(None) };
    }

    /// Breaks a rule for everything that runs on this thread; `None` keeps them all.
    pub fn break_rule(rule: Option<Mutant>) {
        BROKEN.set(rule);
    }

    pub(crate) fn is_broken(rule: Mutant) -> bool {
        BROKEN.get() == Some(rule)
    }
}

#[cfg(not(feature = "__mutants"))]
mod switch {
    pub(crate) const fn is_broken(_rule: super::Mutant) -> bool {
        false
    }
}

#[cfg(feature = "__mutants")]
pub use switch::break_rule;
pub(crate) use switch::is_broken;
