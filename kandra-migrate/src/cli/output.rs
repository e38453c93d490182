//! Writing: data to stdout, everything else to stderr.

use std::io::{self, Write as _};

/// Writes data. A reader that has read enough is no error.
pub(super) fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Writes a line for the person who watches, if there is one.
pub(super) fn say(text: &str) {
    // What nobody can read is no reason to stop.
    let _ = writeln!(io::stderr(), "{text}");
}
