//! How the process ends.

use std::process::ExitCode;

use crate::error::{Code, Error};

/// An exit code; what each means is in the docs of the [module](super).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    Success = 0,
    Failure = 1,
    Usage = 2,
    Pending = 3,
    Mismatch = 4,
    Held = 5,
    OperatorNeeded = 6,
    Unreachable = 7,
}

impl Exit {
    pub(super) fn of_error(error: &Error) -> Self {
        match error.code() {
            Code::ChecksumMismatch | Code::BelowFrontier | Code::DivergentHistory => Self::Mismatch,
            Code::Held | Code::WaitedTooLong | Code::OnHold => Self::Held,
            Code::Paused => Self::OperatorNeeded,
            Code::Unreachable | Code::QuorumLost => Self::Unreachable,
            Code::Config => Self::Usage,
            _ => Self::Failure,
        }
    }

    pub(super) const fn code(self) -> u8 {
        self as u8
    }
}

/// Of what was typed: help was asked for, or it was not understood.
pub(super) fn of_clap(error: &clap::Error) -> ExitCode {
    let exit = if error.use_stderr() { Exit::Usage } else { Exit::Success };
    ExitCode::from(exit.code())
}

/// Says what is wrong with what was typed, as for all else that is.
pub(super) fn usage(program: &str, text: &str) -> Exit {
    let text = format!("{text}\n\nFor more information, try '{program} --help'.\n");
    let error = clap::Error::raw(clap::error::ErrorKind::MissingRequiredArgument, text);
    // What nobody can read changes nothing.
    let _ = error.print();
    Exit::Usage
}
