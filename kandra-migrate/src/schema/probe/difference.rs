//! What differs between a statement and the schema.

use super::Effect;

/// Pairs of what is expected and what is found.
#[derive(Debug, Default)]
pub(super) struct Differences {
    expected: Vec<String>,
    found: Vec<String>,
}

impl Differences {
    pub(super) fn add(&mut self, expected: String, found: String) {
        self.expected.push(expected);
        self.found.push(found);
    }

    /// Notes two values if they differ.
    pub(super) fn compare(&mut self, what: &str, expected: &str, found: &str) {
        if expected != found {
            self.add(format!("{what} {expected}"), format!("{what} {found}"));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.expected.is_empty()
    }

    /// The effect of a statement that creates what is there, with these columns or fields more.
    pub(super) fn effect(self, extra: Vec<String>) -> Effect {
        if !self.is_empty() {
            Effect::OtherShape { expected: self.expected.join(", "), found: self.found.join(", ") }
        } else if extra.is_empty() {
            Effect::There
        } else {
            Effect::Grown { extra }
        }
    }
}
