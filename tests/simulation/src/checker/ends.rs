//! How a run ends.

use kandra_migrate::{Code, Error, Outcome, Report};

use crate::catalogue::CATALOGUE;
use crate::coverage::Seen;
use crate::process::End;
use crate::world::World;

impl World {
    /// A run ends.
    pub(crate) fn check_end(&mut self, run: usize, ended: &End) {
        match ended {
            Ok(None) => {}
            Err(error) if self.runs[run].edits && error.code() == Code::VerbRefused => {
                self.count(Seen::EditRefused);
            }
            Ok(Some(report)) => {
                self.count(match report.outcome {
                    Outcome::AlreadyCurrent => Seen::EndedCurrent,
                    Outcome::Migrated => Seen::EndedMigrated,
                    Outcome::WaitedFor(_) => Seen::EndedWaited,
                    _ => Seen::EndedPending,
                });
                if report.outcome != Outcome::Pending {
                    self.check_success(run, report);
                }
            }
            Err(error) => self.check_error(run, error),
        }
    }

    fn check_success(&mut self, run: usize, report: &Report) {
        let first_deferred = report.deferred.first().map(|deferred| deferred.version);
        if first_deferred.is_some() {
            self.count(Seen::EndedDeferred);
        }
        for migration in self.scenario.binaries[self.runs[run].binary].clone() {
            let version = migration.version().get();
            if first_deferred == Some(migration.version()) {
                let info = &self.runs[run];
                let may_be_left = info.defers && migration.is_after_start();
                if !may_be_left || info.completed_at_start.contains(&version) {
                    let detail = format!("{} left {version}", self.name(run));
                    self.violate("what is left was deferred and not applied", detail);
                }
                break;
            }
            let row = self.checker.raw.versions.get(&version).cloned();
            let fits = |checksum: &str| migration.accepts(checksum) || self.checker.edited.contains(&version);
            if !row.as_ref().is_some_and(|row| row.state == "COMPLETED" && fits(&row.checksum)) {
                let detail = format!("{} returned success with {version} as {row:?}", self.name(run));
                self.violate("success means that everything needed is applied", detail);
            }
        }
    }

    fn check_error(&mut self, run: usize, error: &Error) {
        let version = error.version().map(kandra_migrate::Version::get);
        let ended = match error.code() {
            Code::StepFailed => {
                let real = |id: &u32| Some(CATALOGUE.step(*id).version) == version;
                if !self.checker.failed.iter().any(real) {
                    self.violate("a failure is a real one", format!("{}: {error}", self.name(run)));
                }
                Seen::EndedFailed
            }
            Code::FailedElsewhere => Seen::EndedFailedElsewhere,
            Code::Paused => Seen::EndedPaused,
            Code::Held => Seen::EndedHeld,
            Code::WaitedTooLong => Seen::EndedTooLong,
            Code::Shutdown => Seen::EndedShutdown,
            Code::OnHold => Seen::EndedOnHold,
            Code::BackingOff => Seen::EndedBackingOff,
            Code::Unreachable | Code::QuorumLost | Code::NoAgreement => Seen::EndedUnreachable,
            Code::Unauthorized => Seen::EndedRefused,
            _ if error.is_mismatch() => Seen::EndedMismatch,
            _ => {
                self.violate("a run ends in a way that it may end", format!("{}: {error}", self.name(run)));
                return;
            }
        };
        self.count(ended);
    }
}
