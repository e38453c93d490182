//! The audit trail, played again: each transition must be allowed where it stands.

use std::collections::BTreeMap;

use super::{COMPLETED, Event, Spec};

const RUNNING: &str = "RUNNING";
const PAUSED: &str = "PAUSED";
const INTENT: &str = "INTENT";
const DONE: &str = "DONE";
const FAILED: &str = "FAILED";

/// Where the events lead.
#[derive(Debug, Default)]
pub struct Replay {
    owner: Option<String>,
    epochs: i64,
    versions: BTreeMap<i64, String>,
    steps: BTreeMap<(i64, i64), String>,
    begun: BTreeMap<(i64, i64), usize>,
}

/// A line of an event: what it says, of which version and which step.
struct Line<'a> {
    verb: &'a str,
    version: i64,
    n: i64,
}

impl<'a> Line<'a> {
    /// The verbs of a holder that are about a version: `verb words… version[/step]`.
    fn parse(text: &'a str) -> Option<Self> {
        const VERBS: [&str; 14] = [
            "claimed",
            "repaired",
            "begun",
            "stopped",
            "done",
            "completed",
            "failed",
            "paused",
            "resumed",
            "marked done",
            "to be rerun",
            "abandoned",
            "restamped",
            "baselined",
        ];
        VERBS.into_iter().find_map(|verb| {
            let rest = text.strip_prefix(verb)?.strip_prefix(' ')?;
            let place = rest.split(' ').next()?;
            let (version, step) = place.split_once('/').unwrap_or((place, "1"));
            Some(Self { verb, version: version.parse().ok()?, n: step.parse::<i64>().ok()? - 1 })
        })
    }
}

impl Replay {
    /// Plays the events; what is not allowed goes into `wrong`.
    pub fn of(spec: &Spec, events: &[Event], wrong: &mut Vec<String>) -> Self {
        let mut replay = Self::default();
        for event in events {
            for line in event.text.lines() {
                if let Err(why) = replay.play(spec, event, line) {
                    wrong.push(format!("revision {}: `{line}` of {}: {why}", event.rev, event.actor));
                }
            }
        }
        replay
    }

    /// How often the lease was taken.
    #[must_use]
    pub fn epochs(&self) -> i64 {
        self.epochs
    }

    /// Who holds it in the end.
    #[must_use]
    pub fn owner(&self) -> Option<&str> {
        self.owner.as_deref()
    }

    /// The states of the versions in the end.
    #[must_use]
    pub fn versions(&self) -> &BTreeMap<i64, String> {
        &self.versions
    }

    /// The states of the steps in the end.
    #[must_use]
    pub fn steps(&self) -> &BTreeMap<(i64, i64), String> {
        &self.steps
    }

    /// Whether a step is done in the end.
    #[must_use]
    pub fn is_done(&self, version: i64, n: i64) -> bool {
        self.steps.get(&(version, n)).is_some_and(|state| state == DONE)
    }

    /// How often a step was begun.
    #[must_use]
    pub fn begun(&self, version: i64, n: i64) -> usize {
        self.begun.get(&(version, n)).copied().unwrap_or_default()
    }

    fn play(&mut self, spec: &Spec, event: &Event, text: &str) -> Result<(), String> {
        if text == "acquired" || text.starts_with("taken over from ") {
            return self.take(event, text);
        }
        if text == "released" {
            self.by_owner(event)?;
            self.owner = None;
            return Ok(());
        }
        match Line::parse(text) {
            Some(line) => {
                self.by_owner(event)?;
                self.play_line(spec, event, &line)
            }
            // What operators ask for, and remarks.
            None => Ok(()),
        }
    }

    fn take(&mut self, event: &Event, text: &str) -> Result<(), String> {
        self.epochs += 1;
        let before = self.owner.replace(event.actor.clone());
        match (before, text.strip_prefix("taken over from ")) {
            (None, None) => Ok(()),
            (Some(holder), Some(from)) if holder == from => Ok(()),
            (before, _) => Err(format!("the lease was held by {before:?}")),
        }
    }

    fn by_owner(&self, event: &Event) -> Result<(), String> {
        if self.owner.as_deref() == Some(&event.actor) {
            return Ok(());
        }
        Err(format!("the lease is held by {:?}", self.owner))
    }

    fn play_line(&mut self, spec: &Spec, event: &Event, line: &Line<'_>) -> Result<(), String> {
        let Line { verb, version, n } = *line;
        let state = self.versions.get(&version).map(String::as_str);
        match (verb, state) {
            ("claimed", None) => {
                self.set(version, RUNNING);
                self.lower_are_completed(spec, version)
            }
            ("repaired" | "resumed", Some(RUNNING | PAUSED)) => {
                self.set(version, RUNNING);
                Ok(())
            }
            ("begun", Some(RUNNING)) => {
                *self.begun.entry((version, n)).or_default() += 1;
                self.steps.insert((version, n), INTENT.to_owned());
                self.earlier_are_done(version, n)
            }
            ("stopped", Some(RUNNING)) => self.step(version, n, INTENT, INTENT),
            ("done", Some(RUNNING)) => self.step(version, n, INTENT, DONE),
            // What has failed, and whose effect is found all the same, is not run and needs no claim.
            ("done", None) => self.step(version, n, FAILED, DONE),
            ("completed", Some(RUNNING)) => {
                self.set(version, COMPLETED);
                let steps = spec.steps_of(version).ok_or("nobody has this version")?;
                self.earlier_are_done(version, i64::try_from(steps).unwrap_or(i64::MAX))
            }
            ("failed", Some(RUNNING)) => {
                self.versions.remove(&version);
                self.owner = None;
                if event.error.is_none() {
                    return Err("it has no error".to_owned());
                }
                self.step(version, n, INTENT, FAILED)
            }
            ("paused", Some(RUNNING)) => {
                self.set(version, PAUSED);
                self.owner = None;
                Ok(())
            }
            ("marked done", state) => {
                state.map(str::to_owned).is_some().then(|| self.set(version, RUNNING));
                self.steps.insert((version, n), DONE.to_owned());
                Ok(())
            }
            ("to be rerun", state) => {
                state.map(str::to_owned).is_some().then(|| self.set(version, RUNNING));
                self.steps.insert((version, n), FAILED.to_owned());
                Ok(())
            }
            ("abandoned", _) => {
                self.versions.remove(&version);
                self.steps.retain(|(of, _), _| *of != version);
                Ok(())
            }
            ("baselined", None) => {
                self.set(version, COMPLETED);
                Ok(())
            }
            ("restamped", Some(COMPLETED)) => Ok(()),
            (_, state) => Err(format!("the version is {}", state.unwrap_or("not claimed"))),
        }
    }

    fn set(&mut self, version: i64, state: &str) {
        self.versions.insert(version, state.to_owned());
    }

    fn step(&mut self, version: i64, n: i64, from: &str, to: &str) -> Result<(), String> {
        let before = self.steps.insert((version, n), to.to_owned());
        expect(before.as_deref(), from)
    }

    fn lower_are_completed(&self, spec: &Spec, version: i64) -> Result<(), String> {
        let numbers = spec.numbers();
        let mut lower = numbers.iter().filter(|lower| **lower < version);
        match lower.find(|lower| self.versions.get(lower).is_none_or(|state| state != COMPLETED)) {
            Some(lower) => Err(format!("version {lower} is not completed")),
            None => Ok(()),
        }
    }

    fn earlier_are_done(&self, version: i64, n: i64) -> Result<(), String> {
        match (0..n).find(|earlier| !self.is_done(version, *earlier)) {
            Some(earlier) => Err(format!("step {} is not done", earlier + 1)),
            None => Ok(()),
        }
    }
}

fn expect(found: Option<&str>, wanted: &str) -> Result<(), String> {
    if found == Some(wanted) { Ok(()) } else { Err(format!("the step is {found:?}, not {wanted}")) }
}
