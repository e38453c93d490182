//! The rules of the protocol that can be broken, to test that the simulation notices.

use kandra_migrate::__internals::Mutant;

/// A rule, by the number that it has in the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// M1: writes of the journal are conditional. Broken in the simulated server.
    Conditional,
    /// M2: the condition is the operation, not the host. Broken in the simulated server.
    OperationNotHost,
    /// M12: a takeover is conditional on the operation, not on the epoch. Broken in the simulated server.
    OperationNotEpoch,
    /// M8: every write is conditional on the last command. Broken in the simulated server.
    CommandCondition,
    /// A rule that lives in the engine.
    Engine(Mutant),
}

impl Rule {
    /// All of them, with their numbers.
    pub const ALL: &'static [(&'static str, Self)] = &[
        ("M1", Self::Conditional),
        ("M2", Self::OperationNotHost),
        ("M3", Self::Engine(Mutant::NonceOfTheRun)),
        ("M4", Self::Engine(Mutant::NoDeadline)),
        ("M5", Self::Engine(Mutant::BegunIsDone)),
        ("M6", Self::Engine(Mutant::NoLapse)),
        ("M7", Self::Engine(Mutant::NoDrainBeforeRerun)),
        ("M8", Self::CommandCondition),
        ("M9", Self::Engine(Mutant::NoAttempts)),
        ("M10", Self::Engine(Mutant::NoDrainBeforeRelease)),
        ("M11", Self::Engine(Mutant::SendOnUnknownIntent)),
        ("M12", Self::OperationNotEpoch),
        ("M13", Self::Engine(Mutant::DeferOnGlance)),
    ];

    /// The rule with this number.
    #[must_use]
    pub fn find(number: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| known.eq_ignore_ascii_case(number)).map(|(_, rule)| *rule)
    }

    pub(crate) fn mutant(self) -> Option<Mutant> {
        match self {
            Self::Engine(mutant) => Some(mutant),
            _ => None,
        }
    }
}
