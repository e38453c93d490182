//! The stable codes.

use std::fmt;

macro_rules! codes {
    ($($(#[$meta:meta])* $name:ident = $module:ident $number:literal,)*) => {
        /// A stable code of an [`Error`](crate::Error): `KM` and four digits. A page of each is in
        /// [`error_codes`](crate::error_codes).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$meta])* #[doc = concat!("\n\n`KM", $number, "`")] $name,)*
        }

        impl Code {
            /// All codes, ascending.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The code as text: `KM` and four digits.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => concat!("KM", $number),)*
                }
            }

            /// What it means, what to do about it: the page in the crate's docs, as Markdown.
            #[must_use]
            pub const fn page(self) -> &'static str {
                match self {
                    $(Self::$name => include_str!(concat!("../error_codes/KM", $number, ".md")),)*
                }
            }
        }

        /// One page for each code of an error: what happened, why, and what to do.
        pub mod error_codes {
            $(
                #[doc = include_str!(concat!("../error_codes/KM", $number, ".md"))]
                pub mod $module {}
            )*
        }
    };
}

codes! {
    /// The cluster did not answer.
    Unreachable = km0001 "0001",
    /// The user may not do what a migration needs.
    Unauthorized = km0002 "0002",
    /// The keyspace does not exist.
    KeyspaceMissing = km0003 "0003",
    /// A table of the ledger's name is not the ledger.
    LedgerShape = km0004 "0004",
    /// A newer version of this crate has upgraded the ledger.
    LedgerNewer = km0005 "0005",
    /// The ledger was written with another serial consistency.
    SerialDiffers = km0006 "0006",
    /// Too few replicas answer.
    QuorumLost = km0007 "0007",
    /// The server refuses conditional writes in this keyspace.
    ConditionalRefused = km0008 "0008",
    /// The nodes do not agree on the schema.
    NoAgreement = km0009 "0009",
    /// The ledger's table is missing and the server does not take table ids.
    TableIdRefused = km0010 "0010",
    /// The ledger has rows that no version of this crate writes.
    LedgerUnreadable = km0011 "0011",
    /// The server refused a statement of the ledger.
    LedgerRefused = km0012 "0012",
    /// The server refused the login.
    LoginRefused = km0013 "0013",
    /// Another table has the history of this keyspace.
    LedgerElsewhere = km0014 "0014",
    /// An applied migration was edited.
    ChecksumMismatch = km0020 "0020",
    /// A pending version is below an applied one.
    BelowFrontier = km0021 "0021",
    /// An applied version is unknown to this binary, and newer ones are known.
    DivergentHistory = km0022 "0022",
    /// A version is in flight that this binary does not have.
    UnknownInFlight = km0023 "0023",
    /// A registry without migrations.
    RegistryEmpty = km0030 "0030",
    /// Two migrations have one version.
    DuplicateVersion = km0031 "0031",
    /// The runner's settings cannot work.
    Config = km0032 "0032",
    /// A plan without tasks.
    PlanEmpty = km0033 "0033",
    /// A file in a directory of migrations is called otherwise than a migration.
    FileName = km0034 "0034",
    /// A file of CQL cannot be read as a migration.
    FileMalformed = km0035 "0035",
    /// A directory of migrations, or a file in it, cannot be read.
    DirectoryUnreadable = km0036 "0036",
    /// The files on disk are not those that were compiled in.
    Stale = km0037 "0037",
    /// A file in a plan where it cannot be.
    FileUse = km0038 "0038",
    /// A statement names a table without its keyspace.
    Unqualified = km0040 "0040",
    /// A `cql` task without a statement.
    CqlEmpty = km0041 "0041",
    /// A `USE` statement.
    CqlUse = km0042 "0042",
    /// Two statements in one `cql` task.
    CqlTwo = km0043 "0043",
    /// A statement that is no CQL.
    CqlMalformed = km0044 "0044",
    /// A statement of a kind that is not known.
    CqlUnclassified = km0045 "0045",
    /// A statement that is too long.
    CqlTooLong = km0046 "0046",
    /// A variable has no value.
    VariableMissing = km0047 "0047",
    /// A step failed.
    StepFailed = km0050 "0050",
    /// A code task panicked.
    StepPanicked = km0051 "0051",
    /// A version is paused.
    Paused = km0052 "0052",
    /// Another instance's step failed.
    FailedElsewhere = km0053 "0053",
    /// A version has failed lately and is not tried again yet.
    BackingOff = km0054 "0054",
    /// An operator holds back what is not begun yet.
    OnHold = km0055 "0055",
    /// An operator's verb does not fit the state.
    VerbRefused = km0056 "0056",
    /// `IF NOT EXISTS` over something of another shape.
    OtherShape = km0057 "0057",
    /// Another instance holds the lease, and this run does not wait.
    Held = km0060 "0060",
    /// The wait for another instance took too long.
    WaitedTooLong = km0061 "0061",
    /// The run was asked to stop.
    Shutdown = km0062 "0062",
    /// A rule of the protocol was about to be broken: a bug of this crate.
    Internal = km0099 "0099",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
