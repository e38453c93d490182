//! What a relay does to which request.

use std::fmt;
use std::sync::Arc;

use tokio::sync::watch;

use super::frame::{Frame, Opcode};

/// A request on its way to a node.
#[derive(Clone, Debug)]
pub struct Request {
    /// The node, from 1.
    pub node: u8,
    /// What it is.
    pub opcode: Opcode,
    /// Its body as text; in front of that of an EXECUTE, the text that was prepared.
    pub text: String,
}

/// Which requests a rule is about.
#[derive(Clone)]
pub struct Pattern(Arc<dyn Fn(&Request) -> bool + Send + Sync>);

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pattern")
    }
}

impl Pattern {
    /// Requests of which this is true.
    pub fn new(matches: impl Fn(&Request) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(matches))
    }

    /// Statements with this text that are not writes of the ledger.
    #[must_use]
    pub fn statement(text: &'static str) -> Self {
        Self::new(move |request| {
            request.opcode != Opcode::Prepare && !is_of_ledger(request) && request.text.contains(text)
        })
    }

    /// Conditional writes of the ledger whose text has this.
    #[must_use]
    pub fn write(text: &'static str) -> Self {
        Self::new(move |request| is_ledger_write(request) && request.text.contains(text))
    }

    /// Conditional writes of the ledger that say nothing: renewals.
    #[must_use]
    pub fn renewal() -> Self {
        Self::new(|request| is_ledger_write(request) && !request.text.contains("BEGIN BATCH"))
    }

    /// All that has to do with one keyspace, and all that was prepared: what a run sends, without what the driver
    /// sends for itself and without the polls for agreement.
    #[must_use]
    pub fn of_keyspace(keyspace: &str) -> Self {
        let keyspace = keyspace.to_owned();
        Self::new(move |request| match request.opcode {
            Opcode::Query | Opcode::Prepare => request.text.contains(&keyspace),
            Opcode::Execute | Opcode::Batch => true,
            _ => false,
        })
    }

    pub(super) fn matches(&self, request: &Request) -> bool {
        (self.0)(request)
    }
}

fn is_of_ledger(request: &Request) -> bool {
    request.text.contains(kandra_migrate::LEDGER_TABLE)
}

fn is_ledger_write(request: &Request) -> bool {
    request.opcode == Opcode::Query && is_of_ledger(request) && request.text.contains(r#" IF "op" = "#)
}

/// What happens to a request.
#[derive(Clone, Debug)]
pub enum Fate {
    /// It never arrives.
    Lost,
    /// It arrives, and its answer does not.
    AnswerLost,
    /// It waits, and then arrives or not.
    Held(Gate),
    /// It arrives, and its answer waits.
    AnswerHeld(Gate),
    /// It arrives twice; the answer is that to the second one.
    Twice,
    /// It arrives, and the connection breaks before the answer.
    Cut,
    /// It arrives, and this is the answer all the same.
    ArrivesBut(Refusal),
    /// It does not arrive, and this is the answer.
    Refused(Refusal),
}

/// An error that a server could have answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Too few replicas accepted a conditional write in time.
    CasWriteTimeout,
    /// Too few replicas answered a read in time.
    ReadTimeout,
    /// Too few replicas are up.
    Unavailable,
    /// The coordinator has too much to do.
    Overloaded,
    /// `ScyllaDB`'s word for two schema changes at once.
    GroupZero,
    /// The table is there already.
    AlreadyExists,
}

impl Refusal {
    pub(super) fn frame(self, stream: [u8; 2]) -> Frame {
        const QUORUM: [u8; 2] = [0, 4];
        let (code, message, more) = match self {
            Self::CasWriteTimeout => {
                (0x1100, "timed out", [&QUORUM[..], &int(1), &int(2), &text("CAS")].concat())
            }
            Self::ReadTimeout => (0x1200, "timed out", [&QUORUM[..], &int(1), &int(2), &[0]].concat()),
            Self::Unavailable => {
                (0x1000, "cannot achieve consistency level", [&QUORUM[..], &int(2), &int(1)].concat())
            }
            Self::Overloaded => (0x1001, "overloaded", Vec::new()),
            Self::GroupZero => {
                (0x0000, "Failed to apply group 0 change due to concurrent modification", Vec::new())
            }
            Self::AlreadyExists => (0x2400, "Object already exists", [text("ks"), text("t")].concat()),
        };
        Frame::answer(0, stream, &[&int(code)[..], &text(message), &more].concat())
    }
}

fn int(value: i32) -> [u8; 4] {
    value.to_be_bytes()
}

fn text(value: &str) -> Vec<u8> {
    let length = u16::try_from(value.len()).unwrap_or(u16::MAX).to_be_bytes();
    [&length[..], value.as_bytes()].concat()
}

/// What becomes of something that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on.
    Pass,
    /// It is thrown away.
    Drop,
}

/// Holds a frame until the test says what becomes of it.
#[derive(Clone, Debug)]
pub struct Gate {
    held: Arc<watch::Sender<Option<Request>>>,
    verdict: Arc<watch::Sender<Option<Verdict>>>,
    answered: Arc<watch::Sender<bool>>,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            held: Arc::new(watch::Sender::new(None)),
            verdict: Arc::new(watch::Sender::new(None)),
            answered: Arc::new(watch::Sender::new(false)),
        }
    }
}

impl Gate {
    /// The request, once it (or its answer) is held.
    pub async fn reached(&self) -> Request {
        let mut held = self.held.subscribe();
        loop {
            if let Some(request) = held.borrow_and_update().clone() {
                return request;
            }
            // The sender is this gate's own: it outlives the wait.
            let _ = held.changed().await;
        }
    }

    /// Lets it go on, or not. What comes after that does not wait.
    pub fn open(&self, verdict: Verdict) {
        self.verdict.send_replace(Some(verdict));
    }

    /// Ends once the node has answered a request that was held and passed on.
    pub async fn answered(&self) {
        // The sender is this gate's own: it outlives the wait.
        let _ = self.answered.subscribe().wait_for(|answered| *answered).await;
    }

    pub(super) fn note_answer(&self) {
        self.answered.send_replace(true);
    }

    pub(super) async fn wait(&self, request: Request) -> Verdict {
        self.held.send_replace(Some(request));
        let mut verdict = self.verdict.subscribe();
        loop {
            if let Some(verdict) = *verdict.borrow_and_update() {
                return verdict;
            }
            let _ = verdict.changed().await;
        }
    }
}

/// A rule: of the requests that match, after the first `skip`, the next `times` meet this fate.
#[derive(Clone, Debug)]
pub struct Rule {
    pattern: Pattern,
    fate: Fate,
    skip: usize,
    times: usize,
}

impl Rule {
    /// The first match, once.
    #[must_use]
    pub fn new(pattern: Pattern, fate: Fate) -> Self {
        Self { pattern, fate, skip: 0, times: 1 }
    }

    /// Not these first ones.
    #[must_use]
    pub fn after(mut self, skip: usize) -> Self {
        self.skip = skip;
        self
    }

    /// All matches from there on.
    #[must_use]
    pub fn always(mut self) -> Self {
        self.times = usize::MAX;
        self
    }

    /// The fate of a request, if it is this rule's.
    pub(super) fn take(&mut self, request: &Request) -> Option<Fate> {
        if self.times == 0 || !self.pattern.matches(request) {
            return None;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return None;
        }
        self.times -= 1;
        Some(self.fate.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Request {
        Request { node: 1, opcode: Opcode::Query, text: text.to_owned() }
    }

    #[test]
    fn a_rule_takes_its_share() {
        let mut rule = Rule::new(Pattern::statement("INSERT"), Fate::Lost).after(1);
        let mut takes = |text| rule.take(&query(text)).is_some();
        assert!(!takes("SELECT"));
        assert!(!takes("INSERT 1"));
        assert!(takes("INSERT 2"));
        assert!(!takes("INSERT 3"));
    }

    #[test]
    fn writes_of_the_ledger_are_told_from_statements() {
        let write = query(r#"BEGIN BATCH UPDATE "ks"."kandra_migrations" SET x IF "op" = null; 'acquired'"#);
        let renewal = query(r#"UPDATE "ks"."kandra_migrations" SET x IF "op" = null"#);
        let read = query(r#"SELECT "op" FROM "ks"."kandra_migrations""#);
        assert!(Pattern::write("acquired").matches(&write) && !Pattern::renewal().matches(&write));
        assert!(Pattern::renewal().matches(&renewal) && !Pattern::write("acquired").matches(&renewal));
        assert!(!Pattern::write("").matches(&read) && !Pattern::statement("UPDATE").matches(&write));
        assert!(Pattern::of_keyspace("ks").matches(&read) && !Pattern::of_keyspace("other").matches(&read));
    }

    #[tokio::test]
    async fn a_gate_holds_until_it_is_opened() {
        let gate = Gate::default();
        let waiting = tokio::spawn({
            let gate = gate.clone();
            async move { gate.wait(query("INSERT")).await }
        });
        assert_eq!(gate.reached().await.text, "INSERT");
        assert!(!waiting.is_finished());
        gate.open(Verdict::Drop);
        assert_eq!(waiting.await.unwrap(), Verdict::Drop);
    }
}
