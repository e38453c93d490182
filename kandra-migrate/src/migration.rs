//! One migration: what the `#[migration]` macro registers.

use std::fmt;

use crate::plan::Plan;

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

/// A migration as it was compiled in: its version, its name, the checksum of its source and how to get its plan.
///
/// Made by [`#[migration]`](macro@crate::migration); the macro leaves it as `MIGRATION` in the module, for
/// [`Registry::of`](crate::Registry::of).
#[derive(Debug)]
pub struct Migration {
    source: Source,
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
    pub file: &'static str,
    pub line: u32,
    pub module_path: &'static str,
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
        Self { source }
    }

    /// The version.
    #[must_use]
    pub const fn version(&self) -> Version {
        Version::new(self.source.version)
    }

    /// The name: that of the module.
    #[must_use]
    pub const fn name(&self) -> &str {
        self.source.name
    }

    /// The checksum of the module's tokens, as `k1:` and 64 hex digits.
    #[must_use]
    pub const fn checksum(&self) -> &str {
        self.source.checksum
    }

    /// Checksums of earlier texts of this migration that are declared to have had the same effect.
    #[must_use]
    pub const fn accept(&self) -> &[&str] {
        self.source.accept
    }

    /// Why this migration may use names from outside of its module, where an edit does not change its checksum.
    #[must_use]
    pub const fn reaches_outside(&self) -> Option<&str> {
        self.source.reaches_outside
    }

    /// Whether it may be applied although a higher version already is.
    #[must_use]
    pub const fn is_out_of_order(&self) -> bool {
        self.source.out_of_order
    }

    /// Where it is in the source, as `file:line`.
    #[must_use]
    pub fn location(&self) -> String {
        format!("{}:{}", self.source.file, self.source.line)
    }

    /// Whether a checksum found in the ledger is that of this migration, or of a text declared to be its equal. A stored
    /// checksum is compared in its own format.
    #[must_use]
    pub fn accepts(&self, stored: &str) -> bool {
        self.checksums().any(|checksum| checksum == stored) || self.source.accept.contains(&stored)
    }

    /// Whether this binary has a checksum in the format of this one.
    pub(crate) fn knows_format_of(&self, stored: &str) -> bool {
        self.checksums().any(|checksum| format_of(checksum) == format_of(stored))
    }

    fn checksums(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.source.checksum).chain(self.source.also.iter().copied())
    }

    /// The plan: describes what will be done, and does nothing.
    #[must_use]
    pub fn plan(&self) -> Plan {
        (self.source.plan)()
    }

    /// The crate that the migration is part of.
    pub(crate) fn crate_name(&self) -> &'static str {
        self.source.module_path.split("::").next().unwrap_or_default()
    }

    /// The same item, seen twice: a crate that is in one binary twice, as a dependency and as its own test, has two
    /// copies of each.
    pub(crate) fn is_same_item(&self, other: &Self) -> bool {
        self.source.file == other.source.file
            && self.source.line == other.source.line
            && self.source.checksum == other.source.checksum
    }
}
