//! The line of a text that a message shows.

use super::mask::{Masked, masked};

const WIDTH_CHARS_MAX: usize = 100;
/// How much is kept before the place when a line is too long.
const LEAD_CHARS_MAX: usize = 60;

/// One line, masked, and the number of characters before the place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) caret: usize,
}

/// The line of `source` that holds the byte offset `at`.
pub(crate) fn line(source: &str, at: usize) -> Line {
    let Masked { text, mark } = masked(source, at);
    let is_line_end = |c: char| matches!(c, '\n' | '\r');
    let start = text[..mark].rfind(is_line_end).map_or(0, |end| end + 1);
    let end = text[mark..].find(is_line_end).map_or(text.len(), |length| mark + length);
    let lead: Vec<char> = text[start..mark].trim_start_matches('\u{feff}').chars().collect();
    let cut = lead.len().saturating_sub(LEAD_CHARS_MAX);
    let mut shown = String::new();
    if cut > 0 {
        shown.push('…');
    }
    shown.extend(lead[cut..].iter());
    let caret = shown.chars().count();
    let mut rest = text[mark..end].chars();
    shown.extend(rest.by_ref().take(WIDTH_CHARS_MAX.saturating_sub(caret)));
    if rest.next().is_some() {
        shown.push('…');
    }
    // A caret lines up only under characters of one width.
    let text = shown.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    Line { text, caret }
}
