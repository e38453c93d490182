//! How often each fault and each interesting state has occurred: what never occurs is not tested.

use std::fmt;

macro_rules! seen {
    ($($name:ident = $text:literal,)*) => {
        /// A fault, or a state worth reaching.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Seen {
            $($name,)*
        }

        impl Seen {
            const ALL: &'static [(Self, &'static str)] = &[$((Self::$name, $text),)*];
        }
    };
}

seen! {
    Crash = "a process was killed",
    CrashOfHolder = "the holder was killed",
    CrashDuringStatement = "the holder was killed with a statement under way",
    Restart = "a process was started again",
    Stall = "a process stood still",
    StallPastLease = "the holder stood still for longer than its lease",
    StallBeforeSend = "the holder stood still between its last look at the deadline and the sending",
    Shutdown = "a process was asked to stop",
    WriteAnswerLost = "a conditional write was applied and its answer lost",
    WriteDropped = "a conditional write was lost",
    WriteDelayed = "a conditional write arrived after its sender had given it up",
    WriteDelayedApplied = "a delayed conditional write was applied",
    WriteStale = "a conditional write of a former holder arrived and was rejected",
    WriteOfTheDead = "a conditional write arrived after its sender's death",
    WriteDuplicated = "a conditional write arrived twice",
    WritePassing = "a conditional write was refused for now",
    WriteRefused = "a conditional write was refused",
    WriteHeadless = "a rejection came without the head's row",
    ReadLost = "a read was not answered",
    ReadStale = "a first look was answered from the past",
    QuorumLost = "the quorum was lost",
    LedgerCreated = "the ledger was created",
    StatementAnswerLost = "a statement had its effect and its answer was lost",
    StatementVanished = "a statement was lost",
    StatementDelayed = "a data statement landed after its sender had given it up",
    StatementStuck = "a schema statement was stuck in a stopped node",
    StatementLandedLate = "a statement landed after its run had lost the lease",
    StatementRefused = "a statement was refused",
    StatementPassing = "a statement was refused for now",
    AlreadyExists = "a CREATE found its object there",
    NodeStopped = "a node was stopped",
    NodeKilled = "a node was killed",
    DrainAnswered = "a drain was answered",
    DrainGone = "a drain found the node gone",
    DrainSilent = "a drain found the node silent",
    ProbeThere = "a probe found the effect",
    ProbeAbsent = "a probe did not find the effect",
    AgreedWithoutIt = "the nodes agreed without the one that had carried out schema statements",
    NoAgreement = "the nodes did not agree in time",
    CodeFailed = "a code task failed",
    CodeHung = "a code task hung",
    CodeUnknown = "a write of a code task had an unknown outcome",
    CodeResumed = "a code task went on from a checkpoint",
    Takeover = "a lapsed lease was taken over",
    TakeoverLate = "a lease was taken over long after it had lapsed",
    Command = "an operator gave a command",
    CommandObeyed = "a holder paused a version on command",
    MarkedDone = "an operator marked a step done",
    ToBeRerun = "an operator had a step run again",
    Abandoned = "an operator abandoned a version",
    Restamped = "an operator restamped a version",
    Baselined = "an operator baselined a version",
    EditOfTheDead = "an operator's edit took a dead holder's lease over",
    EditRefused = "an operator's edit was refused",
    Resumed = "a paused version went on",
    Repaired = "an edited migration went on in flight",
    Paused = "a version was paused",
    Failed = "a failure was recorded",
    Stopped = "a code task was stopped on request",
    Redone = "a step recorded as done was run again",
    RanTwice = "a step was run twice",
    EndedCurrent = "a run had nothing to do",
    EndedMigrated = "a run migrated",
    EndedWaited = "a run waited for another",
    EndedPending = "a run returned without waiting",
    EndedDeferred = "a run left what is deferred",
    EndedFailed = "a run returned its failure",
    EndedFailedElsewhere = "a run returned another's failure",
    EndedPaused = "a run returned PAUSED",
    EndedHeld = "a run did not wait",
    EndedTooLong = "a run waited too long",
    EndedShutdown = "a run stopped on request",
    EndedOnHold = "a run was held back",
    EndedBackingOff = "a run left a failed version alone",
    EndedUnreachable = "a run gave up on the cluster",
    EndedRefused = "a run ended because the ledger refused it",
    EndedMismatch = "a run refused a history that does not fit",
}

/// The counts.
#[derive(Debug, Clone)]
pub struct Coverage([u64; Seen::ALL.len()]);

impl Default for Coverage {
    fn default() -> Self {
        Self([0; Seen::ALL.len()])
    }
}

impl Coverage {
    pub(crate) fn count(&mut self, what: Seen) {
        self.0[what as usize] += 1;
    }

    /// Adds what another simulation has seen.
    pub fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, count)| *sum += count);
    }

    /// What has never occurred.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        let never = |(what, _): &&(Seen, &str)| self.0[*what as usize] == 0;
        Seen::ALL.iter().filter(never).map(|(_, text)| *text).collect()
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, text) in Seen::ALL {
            writeln!(f, "{:>9}  {text}", self.0[*what as usize])?;
        }
        Ok(())
    }
}
