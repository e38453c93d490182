//! Talking to the person at the terminal, if there is one.

use std::io::{self, Write as _};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

const ANSWER_SECS_MAX: u64 = 120;

/// Writes a line to the terminal, past the capture of `cargo test`: a wait of minutes needs a reason.
pub(crate) fn say(text: &str) {
    // A message that cannot be written is no reason to stop.
    let _ = writeln!(io::stderr(), "cassandra: {text}");
}

/// Whether a `y` comes within the time; silence is a no.
pub(crate) fn agrees(question: &str) -> bool {
    let _ = write!(io::stderr(), "{question}");
    let (sender, answer) = mpsc::channel();
    thread::spawn(move || {
        let mut line = String::new();
        let _ = io::stdin().read_line(&mut line).map(|_| sender.send(line));
    });
    answer.recv_timeout(Duration::from_secs(ANSWER_SECS_MAX)).is_ok_and(|line| is_yes(&line))
}

fn is_yes(line: &str) -> bool {
    matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_is_a_yes() {
        assert!(is_yes("y\n") && is_yes("YES\n"));
        assert!(!is_yes("\n") && !is_yes("n\n") && !is_yes("yellow\n") && !is_yes(""));
    }
}
