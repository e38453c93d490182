//! Asking the person at the terminal, if there is one.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

/// Whether somebody can be asked.
pub(super) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Whether the answer is a yes. On a thread of its own, so that the session stays alive meanwhile.
pub(super) async fn agrees(question: &'static str) -> bool {
    let ask = move || -> io::Result<String> {
        write!(io::stderr(), "{question} [y/N] ")?;
        io::stderr().flush()?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        Ok(answer)
    };
    matches!(tokio::task::spawn_blocking(ask).await, Ok(Ok(answer)) if is_yes(&answer))
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::is_yes;

    #[test]
    fn only_yes_is_a_yes() {
        assert!(is_yes("y\n") && is_yes("YES\n"));
        assert!(!is_yes("\n") && !is_yes("n\n") && !is_yes("yellow\n") && !is_yes(""));
    }
}
