//! Colour, where a person sees it.

use std::io::IsTerminal;

/// What a text is to look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Paint {
    #[default]
    Plain,
    Heading,
    Good,
    Attention,
    Bad,
    Dim,
}

/// Whether there is colour.
#[derive(Debug, Clone, Copy)]
pub(super) struct Painter {
    pub(super) has_colour: bool,
}

impl Painter {
    /// For a stream: colour only on a terminal that has it and whose user wants it (<https://no-color.org>).
    pub(super) fn of(stream: &impl IsTerminal) -> Self {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { has_colour: stream.is_terminal() && !is_dumb && !is_set("NO_COLOR") }
    }

    pub(super) fn paint(self, paint: Paint, text: &str) -> String {
        let code = match paint {
            Paint::Plain => "",
            Paint::Heading => "1",
            Paint::Good => "32",
            Paint::Attention => "33",
            Paint::Bad => "31",
            Paint::Dim => "2",
        };
        if !self.has_colour || code.is_empty() || text.is_empty() {
            return text.to_owned();
        }
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_around_the_text_or_not_at_all() {
        assert_eq!(Painter { has_colour: true }.paint(Paint::Bad, "PAUSED"), "\x1b[31mPAUSED\x1b[0m");
        assert_eq!(Painter { has_colour: true }.paint(Paint::Plain, "x"), "x");
        assert_eq!(Painter { has_colour: false }.paint(Paint::Bad, "PAUSED"), "PAUSED");
    }
}
