//! The rules of the lint.

use std::fmt;

macro_rules! rules {
    ($($(#[$meta:meta])* $name:ident = $module:ident $number:literal,)*) => {
        /// A rule of the lint. Its code is stable: `KL` and two digits. A page of each is in
        /// [`lint_codes`](crate::lint_codes).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Rule {
            $($(#[$meta])* #[doc = concat!("\n\n`KL", $number, "`")] $name,)*
        }

        impl Rule {
            /// All rules, ascending.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The code: `KL01` and so on.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$name => concat!("KL", $number),)*
                }
            }

            /// Why it is a rule, and what to do: the page in the crate's docs, as Markdown.
            #[must_use]
            pub const fn page(self) -> &'static str {
                match self {
                    $(Self::$name => include_str!(concat!("../lint_codes/KL", $number, ".md")),)*
                }
            }
        }

        /// One page for each rule of the lint: why it is one, what to do, and how to allow it in place.
        pub mod lint_codes {
            $(
                #[doc = include_str!(concat!("../lint_codes/KL", $number, ".md"))]
                pub mod $module {}
            )*
        }
    };
}

rules! {
    /// Removes data, and is no point of no return.
    Destructive = kl01 "01",
    /// Adds a column that was dropped, with another type or kind.
    Readded = kl02 "02",
    /// A data statement that cannot be sent twice, and is not marked.
    Unmarked = kl03 "03",
    /// TRUNCATE, or DELETE without a bound.
    Unbounded = kl04 "04",
    /// `SimpleStrategy`, or one replica.
    Replication = kl05 "05",
    /// A name without its keyspace.
    Unqualified = kl06 "06",
    /// Changes the replication of a keyspace.
    AlteredReplication = kl07 "07",
    /// `gc_grace_seconds = 0`.
    NoGrace = kl08 "08",
    /// A type that the Rust driver cannot read.
    UnreadableType = kl09 "09",
    /// IF NOT EXISTS over something of another shape, which does nothing.
    OtherShape = kl10 "10",
    /// Adds to a counter.
    Counter = kl11 "11",
}

impl Rule {
    /// The rule of a code, whatever its case.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|rule| rule.code().eq_ignore_ascii_case(code))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
