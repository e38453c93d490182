//! What a comment of a file says to us: `-- kandra: idempotent, timeout 5m`.

use std::time::Duration;

use crate::cql::Rule;
use crate::duration;

/// What is said of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mark {
    Idempotent,
    Once,
    PointOfNoReturn,
    Timeout(Duration),
    Unclassified,
    WaitBuilt,
    /// A rule of the lint, which does not count here.
    Allow(String),
}

/// What is said of a whole migration, and is no part of its checksum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Setting {
    OutOfOrder,
    AfterStart,
    Accept(String),
}

/// What one key says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Directive {
    /// The statement that follows takes back the one before.
    Undo,
    /// Of the statement that follows.
    OfStatement(Mark),
    OfMigration(Setting),
}

struct Key {
    name: &'static str,
    means: Means,
}

enum Means {
    Just(Directive),
    /// With a value, of which there is an example.
    Value {
        example: &'static str,
        read: fn(&str) -> Result<Directive, String>,
    },
}

/// All keys: a new one is a line here, a [`Mark`] or [`Setting`], and what that does to a task or migration.
const KEYS: [Key; 11] = [
    Key { name: "undo", means: Means::Just(Directive::Undo) },
    Key { name: "idempotent", means: Means::Just(Directive::OfStatement(Mark::Idempotent)) },
    Key { name: "once", means: Means::Just(Directive::OfStatement(Mark::Once)) },
    Key { name: "point-of-no-return", means: Means::Just(Directive::OfStatement(Mark::PointOfNoReturn)) },
    Key { name: "timeout", means: Means::Value { example: "5m", read: timeout } },
    Key { name: "unclassified", means: Means::Just(Directive::OfStatement(Mark::Unclassified)) },
    Key { name: "wait-built", means: Means::Just(Directive::OfStatement(Mark::WaitBuilt)) },
    Key { name: "allow", means: Means::Value { example: "KL01", read: allow } },
    Key { name: "out-of-order", means: Means::Just(Directive::OfMigration(Setting::OutOfOrder)) },
    Key { name: "after-start", means: Means::Just(Directive::OfMigration(Setting::AfterStart)) },
    Key { name: "accept", means: Means::Value { example: "k1:…", read: accept } },
];

/// What a comment says to us, key by key; `None` if it is not addressed to us.
pub(crate) fn read(comment: &str) -> Option<Result<Vec<Directive>, String>> {
    const ADDRESS: &str = "kandra:";
    let words = comment.trim_start_matches(['-', '/', '*']).trim_start();
    let address = words.get(..ADDRESS.len())?;
    if !address.eq_ignore_ascii_case(ADDRESS) {
        return None;
    }
    if address != ADDRESS || !comment.starts_with("--") {
        return Some(
            Err("what is said to kandra-migrate begins with `-- kandra:`, in lower case".to_owned()),
        );
    }
    Some(words[ADDRESS.len()..].split(',').map(|words| directive(words.trim())).collect())
}

fn directive(words: &str) -> Result<Directive, String> {
    let (name, value) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let value = value.trim();
    let Some(key) = KEYS.iter().find(|key| key.name == name) else {
        let names: Vec<_> = KEYS.iter().map(|key| key.name).collect();
        return Err(format!("unknown key `{name}`: the keys are {}", names.join(", ")));
    };
    match &key.means {
        Means::Just(directive) if value.is_empty() => Ok(directive.clone()),
        Means::Just(_) => Err(format!("`{name}` has no value: write it alone, keys are separated by commas")),
        Means::Value { example, .. } if value.is_empty() => {
            Err(format!("`{name}` has a value: write `{name} {example}`"))
        }
        Means::Value { read, .. } => read(value).map_err(|why| format!("`{name} {value}`: {why}")),
    }
}

fn timeout(value: &str) -> Result<Directive, String> {
    let time = duration::parse(value)?;
    if time.is_zero() {
        return Err("a statement needs some time".to_owned());
    }
    Ok(Directive::OfStatement(Mark::Timeout(time)))
}

fn allow(value: &str) -> Result<Directive, String> {
    match Rule::from_code(value) {
        Some(rule) => Ok(Directive::OfStatement(Mark::Allow(rule.code().to_owned()))),
        None => Err("no rule of the lint has this code".to_owned()),
    }
}

fn accept(value: &str) -> Result<Directive, String> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    match value.strip_prefix("k1:") {
        Some(digits) if digits.len() == 64 && digits.bytes().all(is_digit) => {
            Ok(Directive::OfMigration(Setting::Accept(value.to_owned())))
        }
        _ => Err("a checksum is `k1:` and 64 digits of 0-9a-f, as the mismatch error prints it".to_owned()),
    }
}

impl Mark {
    /// As the checksum has it, if it is a part of that. **A frozen format.**
    pub(crate) fn canonical(&self) -> Option<String> {
        Some(match self {
            Self::Idempotent => "idempotent".to_owned(),
            Self::Once => "once".to_owned(),
            Self::PointOfNoReturn => "point-of-no-return".to_owned(),
            Self::Timeout(time) => format!("timeout {}ms", time.as_millis()),
            Self::Unclassified => "unclassified".to_owned(),
            Self::WaitBuilt => "wait-built".to_owned(),
            // A rule may be new, and what is applied does nothing else for it.
            Self::Allow(_) => return None,
        })
    }

    /// Why the two cannot be said of one statement.
    pub(crate) fn excludes(&self, other: &Self) -> Option<&'static str> {
        match (self, other) {
            (Self::Idempotent, Self::Once) | (Self::Once, Self::Idempotent) => {
                Some("a statement is either idempotent or once")
            }
            (Self::Allow(one), Self::Allow(other)) if one != other => None,
            _ if std::mem::discriminant(self) == std::mem::discriminant(other) => Some("this is said twice"),
            _ => None,
        }
    }
}
