//! What a run does, on stderr while it does it: a line for each step in a log, one changing line on a terminal.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::paint::{Paint, Painter};
use crate::engine::Progress;
use crate::human::human;

/// Clears the line and goes to its start.
const CLEAR: &str = "\r\x1b[2K";

/// Longest line of a terminal that is counted on: a longer one would wrap, and could not be cleared.
const COLUMNS_MAX: usize = 79;

/// The progress of one run.
#[derive(Debug, Clone)]
pub(super) struct Display {
    painter: Painter,
    is_terminal: bool,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether the terminal shows a line that changes.
    is_drawn: bool,
    /// What was said last of a wait, so that it is said once.
    said: Option<String>,
}

impl Display {
    pub(super) fn new() -> Self {
        let is_terminal =
            io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        Self { painter: Painter::of(&io::stderr()), is_terminal, state: Arc::default() }
    }

    /// What a runner tells it.
    pub(super) fn observer(&self) -> impl Fn(Progress) + Send + Sync + 'static {
        let display = self.clone();
        move |progress| display.show(&progress)
    }

    /// Takes the changing line away, so that something else can be written.
    pub(super) fn clear(&self) {
        if std::mem::take(&mut self.state().is_drawn) {
            write(CLEAR);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&self, progress: &Progress) {
        match progress {
            Progress::Waiting { holder } => {
                let text = format!("waiting for {holder}");
                self.say_once(&text, &text);
            }
            // The text has the time that is left, and is said once all the same.
            Progress::PutOff { reason } => self.say_once("put off", &format!("waiting: {reason}")),
            Progress::Begun { version, name, step, steps, task } => {
                let place = format!("{version} {name}, step {step} of {steps}: {task}");
                if self.is_terminal {
                    self.draw(&format!("{} {place}", bar(step - 1, *steps)));
                } else {
                    self.line(&place);
                }
            }
            // A log has it from the task's own line.
            Progress::Far { version, name, step, task, done, total, per_second } if self.is_terminal => {
                let far = far(*done, *total, *per_second);
                self.draw(&format!("{far} {version} {name}, step {step}: {task}"));
            }
            Progress::Applied { version, name, took } => {
                let applied = self.painter.paint(Paint::Good, "applied");
                self.line(&format!("{applied} {version} {name} in {}", human(*took)));
            }
            Progress::Far { .. } | Progress::Done { .. } => {}
        }
    }

    fn say_once(&self, what: &str, text: &str) {
        let last = self.state().said.replace(what.to_owned());
        if last.as_deref() != Some(what) {
            self.line(text);
        }
    }

    fn draw(&self, text: &str) {
        self.state().is_drawn = true;
        let short: String = text.chars().take(COLUMNS_MAX).collect();
        write(&format!("{CLEAR}{short}"));
    }

    fn line(&self, text: &str) {
        self.clear();
        write(&format!("{text}\n"));
    }
}

/// How much of a migration is done.
fn bar(done: i64, steps: usize) -> String {
    const WIDTH: usize = 20;
    let filled = usize::try_from(done).unwrap_or_default() * WIDTH / steps.max(1);
    let filled = filled.min(WIDTH);
    format!("[{}{}]", "#".repeat(filled), ".".repeat(WIDTH - filled))
}

/// How far a task is, in its own unit, and how fast.
fn far(done: u64, total: Option<u64>, per_second: Option<u64>) -> String {
    let of = match total {
        Some(total) => {
            let percent = done.min(total).saturating_mul(100) / total.max(1);
            format!("{} {done} of {total}", bar(i64::try_from(percent).unwrap_or_default(), 100))
        }
        None => done.to_string(),
    };
    per_second.map_or_else(|| of.clone(), |rate| format!("{of}, {rate}/s"))
}

fn write(text: &str) {
    // A log that cannot be written is no reason to stop a migration.
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

#[cfg(test)]
mod tests {
    use super::{bar, far};

    #[test]
    fn a_task_says_how_far_it_is_and_how_fast() {
        assert_eq!(far(50, Some(100), Some(7)), "[##########..........] 50 of 100, 7/s");
        assert_eq!(far(50, None, None), "50");
        assert_eq!(far(3, Some(2), None), "[####################] 3 of 2");
        assert_eq!(far(0, Some(0), None), "[....................] 0 of 0");
    }

    #[test]
    fn the_bar_fills_with_the_steps_that_are_done() {
        assert_eq!(bar(0, 4), "[....................]");
        assert_eq!(bar(3, 4), "[###############.....]");
        assert_eq!(bar(4, 4), "[####################]");
        assert_eq!(bar(0, 0), "[....................]");
    }
}
