//! Lines and columns.

/// A place in a text, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// Counted from 1; LF, CR and CRLF each end a line.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
}

impl Position {
    /// The first character of a text.
    pub const START: Self = Self { line: 1, column: 1 };

    pub(crate) fn in_text(source: &str, at: usize) -> Self {
        Self::START.after(&source[..at])
    }

    /// Where one is after reading `text` from here. A CRLF must not be cut in two.
    pub(crate) fn after(self, text: &str) -> Self {
        let mut position = self;
        let mut last = '\0';
        for character in text.chars() {
            match character {
                '\n' if last == '\r' => {}
                '\n' | '\r' => position = Self { line: position.line + 1, column: 1 },
                '\u{feff}' => {}
                _ => position.column += 1,
            }
            last = character;
        }
        position
    }

    /// This place of a part, as a place of the whole in which the part begins at `origin`.
    pub(crate) fn moved_to(self, origin: Self) -> Self {
        let column = if self.line == 1 { origin.column + self.column - 1 } else { self.column };
        Self { line: origin.line + self.line - 1, column }
    }
}
