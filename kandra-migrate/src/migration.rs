//! One migration: what the `#[migration]` macro registers, or a file of CQL.

use std::fmt;
use std::sync::OnceLock;

use crate::files::{self, FileMigration};
use crate::plan::{Plan, tasks_of};

/// The version of a migration: a whole number from 1 up, unique within a registry.
///
/// Versions are applied in ascending order. They need not be consecutive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(i64);

impl Version {
    pub(crate) const fn new(version: i64) -> Self {
        assert!(version > 0, "the macro refuses versions below 1");
        Self(version)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Version {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A migration: its version, its name, the checksum of its source and how to get its plan.
///
/// Made by [`#[migration]`](macro@crate::migration), which leaves it as `MIGRATION` in the module, for
/// [`Registry::of`](crate::Registry::of); or a file of [`cql_dir!`](crate::cql_dir) and
/// [`Registry::from_dir`](crate::Registry::from_dir).
#[derive(Debug)]
pub struct Migration {
    origin: Origin,
    /// Once it was asked for, where that of the tokens is not all.
    checksum: OnceLock<String>,
}

#[derive(Debug)]
enum Origin {
    Module(Source),
    File(FileMigration),
}

/// What the macro knows of a migration.
#[doc(hidden)]
#[derive(Debug)]
pub struct Source {
    pub version: i64,
    pub name: &'static str,
    pub checksum: &'static str,
    /// The checksum of the same text in other formats.
    pub also: &'static [&'static str],
    pub accept: &'static [&'static str],
    pub reaches_outside: Option<&'static str>,
    pub out_of_order: bool,
    pub after_start: bool,
    pub file: &'static str,
    pub line: u32,
    pub module_path: &'static str,
    /// The files that its `cql_file!`s name, with their texts.
    pub files: &'static [(&'static str, &'static str)],
    pub plan: fn() -> Plan,
}

/// The tag before the colon: `k1`.
fn format_of(checksum: &str) -> &str {
    checksum.split(':').next().unwrap_or_default()
}

impl Migration {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(source: Source) -> Self {
        Self { origin: Origin::Module(source), checksum: OnceLock::new() }
    }

    pub(crate) fn of_file(file: FileMigration) -> Self {
        Self { origin: Origin::File(file), checksum: OnceLock::new() }
    }

    /// The version.
    #[must_use]
    pub const fn version(&self) -> Version {
        match &self.origin {
            Origin::Module(source) => Version::new(source.version),
            Origin::File(file) => Version::new(file.version),
        }
    }

    /// The name: that of the module, or of the file behind its version.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.origin {
            Origin::Module(source) => source.name,
            Origin::File(file) => &file.name,
        }
    }

    /// The checksum of the tokens of the module, or of the file's CQL, as `k1:` and 64 hex digits.
    #[must_use]
    pub fn checksum(&self) -> &str {
        match &self.origin {
            Origin::Module(source) if source.files.is_empty() => source.checksum,
            Origin::Module(source) => {
                self.checksum.get_or_init(|| files::of_module(source.checksum, source.files))
            }
            Origin::File(file) => &file.checksum,
        }
    }

    /// Checksums of earlier texts of this migration that are declared to have had the same effect.
    #[must_use]
    pub fn accept(&self) -> Vec<&str> {
        match &self.origin {
            Origin::Module(source) => source.accept.to_vec(),
            Origin::File(file) => file.accept.iter().map(String::as_str).collect(),
        }
    }

    /// Why this migration may use names from outside of its module, where an edit does not change its checksum.
    #[must_use]
    pub const fn reaches_outside(&self) -> Option<&str> {
        match &self.origin {
            Origin::Module(source) => source.reaches_outside,
            Origin::File(_) => None,
        }
    }

    /// Whether it may be applied although a higher version already is.
    #[must_use]
    pub const fn is_out_of_order(&self) -> bool {
        match &self.origin {
            Origin::Module(source) => source.out_of_order,
            Origin::File(file) => file.out_of_order,
        }
    }

    /// Whether a service is ready before it: [`Runner::run`](crate::Runner::run) stops before it, and
    /// [`Runner::run_deferred`](crate::Runner::run_deferred) applies it.
    #[must_use]
    pub const fn is_after_start(&self) -> bool {
        match &self.origin {
            Origin::Module(source) => source.after_start,
            Origin::File(file) => file.after_start,
        }
    }

    /// Where it is in the source, as `file:line`.
    #[must_use]
    pub fn location(&self) -> String {
        match &self.origin {
            Origin::Module(source) => format!("{}:{}", source.file, source.line),
            Origin::File(file) => format!("{}:1", file.path),
        }
    }

    /// Whether a checksum found in the ledger is that of this migration, or of a text declared to be its equal. A stored
    /// checksum is compared in its own format.
    #[must_use]
    pub fn accepts(&self, stored: &str) -> bool {
        self.checksums().any(|checksum| checksum == stored) || self.accept().contains(&stored)
    }

    /// Whether this binary has a checksum in the format of this one.
    pub(crate) fn knows_format_of(&self, stored: &str) -> bool {
        self.checksums().any(|checksum| format_of(checksum) == format_of(stored))
    }

    fn checksums(&self) -> impl Iterator<Item = &str> {
        let also: &[&str] = match &self.origin {
            Origin::Module(source) => source.also,
            Origin::File(_) => &[],
        };
        std::iter::once(self.checksum()).chain(also.iter().copied())
    }

    /// The plan: describes what will be done, and does nothing.
    #[must_use]
    pub fn plan(&self) -> Plan {
        match &self.origin {
            Origin::Module(source) => (source.plan)(),
            Origin::File(file) => Plan::new(tasks_of(&file.path, &file.script, None)),
        }
    }

    /// Whether a file is part of the checksum, or need not be.
    pub(crate) fn has_file(&self, path: &str) -> bool {
        match &self.origin {
            Origin::Module(source) => {
                source.reaches_outside.is_some() || source.files.iter().any(|(known, _)| *known == path)
            }
            Origin::File(_) => false,
        }
    }

    /// Whether it is a file.
    pub(crate) fn is_file(&self) -> bool {
        matches!(self.origin, Origin::File(_))
    }

    /// The crate that a module is part of.
    pub(crate) fn crate_name(&self) -> Option<&'static str> {
        match &self.origin {
            Origin::Module(source) => source.module_path.split("::").next(),
            Origin::File(_) => None,
        }
    }

    /// The same item, seen twice: a crate that is in one binary twice, as a dependency and as its own test, has two
    /// copies of each.
    pub(crate) fn is_same_item(&self, other: &Self) -> bool {
        self.location() == other.location() && self.checksum() == other.checksum()
    }
}
