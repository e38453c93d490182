//! What to do about a problem, and the verbs that do it.

use std::fmt::Write as _;

/// A verb that gets things going again, whoever says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    Run,
    RunCreatingKeyspace,
    Status,
    Events,
    Wait,
    Resume,
    MarkDone(i64),
    Rerun(i64),
    Abandon(i64),
    Restamp(i64),
    /// With the serial consistency that the ledger is written with.
    AtSerial(SerialLevel),
}

/// A serial consistency, as a ledger stores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SerialLevel {
    Serial,
    LocalSerial,
}

/// How a verb is said: by code, or at a command line that begins with these words.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Idiom<'a> {
    Library,
    #[cfg_attr(not(any(feature = "cli", test)), expect(dead_code, reason = "only a command line speaks so"))]
    CommandLine(&'a str),
}

/// What to do next: advice, and the verbs for it, each with the case that it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Next {
    advice: String,
    ways: Vec<(&'static str, Call)>,
}

impl Next {
    pub(crate) fn new(advice: impl Into<String>) -> Self {
        Self { advice: advice.into(), ways: Vec::new() }
    }

    /// With a verb, for this case.
    pub(crate) fn way(mut self, case: &'static str, call: Call) -> Self {
        self.ways.push((case, call));
        self
    }

    /// The advice and then a line for each verb.
    pub(crate) fn text(&self, idiom: Idiom<'_>) -> String {
        let mut text = self.advice.clone();
        let width = self.ways.iter().map(|(case, _)| case.len()).max().unwrap_or_default() + 1;
        for (case, call) in &self.ways {
            let case = format!("{case}:");
            // Writing to a string cannot fail.
            let _ = write!(text, "\n  {case:width$}  {}", idiom.say(*call));
        }
        text
    }

    /// The verbs alone.
    #[cfg(feature = "cli")]
    pub(crate) fn calls(&self, idiom: Idiom<'_>) -> Vec<String> {
        self.ways.iter().map(|(_, call)| idiom.say(*call)).collect()
    }
}

impl Idiom<'_> {
    /// The verb, ready to be typed.
    pub(crate) fn say(self, call: Call) -> String {
        match self {
            Self::Library => call.in_code(),
            Self::CommandLine(program) => format!("{program} {}", call.at_command_line()),
        }
    }
}

impl Call {
    fn in_code(self) -> String {
        match self {
            Self::Run => "runner.run()".to_owned(),
            Self::RunCreatingKeyspace => {
                "runner.create_keyspace(\"{'class': 'NetworkTopologyStrategy', 'replication_factor': 3}\").run()".to_owned()
            }
            Self::Status => "runner.status()".to_owned(),
            Self::Events => "runner.control().events(20)".to_owned(),
            Self::Wait => "runner.wait_until_applied()".to_owned(),
            Self::Resume => "runner.control().resume(\"…\")".to_owned(),
            Self::MarkDone(version) => format!("runner.control().mark_done({version}, \"…\")"),
            Self::Rerun(version) => format!("runner.control().rerun({version}, \"…\")"),
            Self::Abandon(version) => format!("runner.control().abandon({version}, \"…\")"),
            Self::Restamp(version) => format!("runner.control().restamp({version}, \"…\")"),
            Self::AtSerial(SerialLevel::Serial) => {
                "runner.serial_consistency(SerialConsistency::Serial)".to_owned()
            }
            Self::AtSerial(SerialLevel::LocalSerial) => {
                "runner.serial_consistency(SerialConsistency::LocalSerial)".to_owned()
            }
        }
    }

    fn at_command_line(self) -> String {
        match self {
            Self::Run => "run".to_owned(),
            Self::RunCreatingKeyspace => {
                "run --create-keyspace \"{'class': 'NetworkTopologyStrategy', 'replication_factor': 3}\""
                    .to_owned()
            }
            Self::Status => "status".to_owned(),
            Self::Events => "events".to_owned(),
            Self::Wait => "wait".to_owned(),
            Self::Resume => "resume --reason \"…\"".to_owned(),
            Self::MarkDone(version) => format!("mark-done {version} --reason \"…\""),
            Self::Rerun(version) => format!("rerun {version} --reason \"…\""),
            Self::Abandon(version) => format!("abandon {version} --reason \"…\""),
            Self::Restamp(version) => format!("restamp {version} --reason \"…\""),
            Self::AtSerial(SerialLevel::Serial) => "run --serial-consistency serial".to_owned(),
            Self::AtSerial(SerialLevel::LocalSerial) => "run --serial-consistency local-serial".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verb_has_its_line_and_its_case() {
        let next = Next::new("find out whether the step took effect")
            .way("it did", Call::MarkDone(3))
            .way("it did not", Call::Rerun(3));
        assert_eq!(
            next.text(Idiom::CommandLine("shop")),
            "find out whether the step took effect\n  it did:      shop mark-done 3 --reason \"…\"\n  it did not:  shop rerun 3 --reason \"…\""
        );
        assert!(next.text(Idiom::Library).contains("runner.control().rerun(3, \"…\")"));
        assert_eq!(Next::new("wait").text(Idiom::Library), "wait");
    }
}
