//! CQL into tokens, one pass, no allocation.
//!
//! The rules are those of the servers' own lexers, except that a comment may end with the text instead of
//! a line end (the splitter does not send it then), that a sign is never part of a number, and that
//! `${name}` is a token.

use super::error::{CqlErrorKind, Fault};
use super::token::{Span, Token, TokenKind};

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Yields the tokens of a text; ends after the first error.
#[derive(Clone, Debug)]
pub(crate) struct Lexer<'a> {
    source: &'a str,
    at: usize,
    failed: bool,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(source: &'a str) -> Self {
        let at = if source.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        Self { source, at, failed: false }
    }

    fn bytes(&self) -> &'a [u8] {
        self.source.as_bytes()
    }

    fn rest(&self) -> &'a [u8] {
        &self.bytes()[self.at..]
    }

    fn fault<T>(kind: CqlErrorKind, at: usize) -> Result<T, Fault> {
        Err(Fault { kind, at })
    }

    fn skip_blanks_and_comments(&mut self) -> Result<(), Fault> {
        loop {
            match self.rest() {
                [b' ' | b'\t' | b'\n' | b'\r', ..] => self.at += 1,
                [b'-', b'-', ..] | [b'/', b'/', ..] => self.skip_line_comment()?,
                [b'/', b'*', ..] => self.skip_block_comment()?,
                _ => return Ok(()),
            }
        }
    }

    fn skip_line_comment(&mut self) -> Result<(), Fault> {
        let length = self.rest().iter().position(|b| matches!(b, b'\n' | b'\r'));
        let end = length.map_or(self.source.len(), |length| self.at + length);
        self.refuse_nul(self.at, end)?;
        self.at = end;
        Ok(())
    }

    fn skip_block_comment(&mut self) -> Result<(), Fault> {
        let body = self.at + 2;
        let Some(length) = find(&self.bytes()[body..], b"*/") else {
            return Self::fault(CqlErrorKind::UnterminatedComment, self.at);
        };
        self.refuse_nul(body, body + length)?;
        self.at = body + length + 2;
        Ok(())
    }

    /// No server takes it in a statement, and a file that has it is seldom the text it was meant to be.
    fn refuse_nul(&self, start: usize, end: usize) -> Result<(), Fault> {
        match self.bytes()[start..end].iter().position(|b| *b == 0) {
            Some(offset) => Self::fault(CqlErrorKind::Nul, start + offset),
            None => Ok(()),
        }
    }

    fn token(&mut self) -> Result<Option<Token>, Fault> {
        self.skip_blanks_and_comments()?;
        let start = self.at;
        let Some(first) = self.rest().first() else { return Ok(None) };
        let (kind, end) = match first {
            b'\'' => (TokenKind::Text, self.quoted(CqlErrorKind::UnterminatedText)?),
            b'"' => (TokenKind::QuotedName, self.quoted_name()?),
            b'$' => self.dollar()?,
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => self.word_or_number(),
            _ => (TokenKind::Punctuation, start + self.punctuation()?),
        };
        self.at = end;
        Ok(Some(Token { kind, span: Span { start, end } }))
    }

    /// The end of `'…'` or `"…"`; the quote is escaped by doubling it.
    fn quoted(&self, unterminated: CqlErrorKind) -> Result<usize, Fault> {
        let (bytes, quote) = (self.bytes(), self.bytes()[self.at]);
        let mut at = self.at + 1;
        loop {
            match bytes.get(at) {
                None => return Self::fault(unterminated, self.at),
                Some(0) => return Self::fault(CqlErrorKind::Nul, at),
                Some(byte) if *byte != quote => at += 1,
                Some(_) if bytes.get(at + 1) == Some(&quote) => at += 2,
                Some(_) => return Ok(at + 1),
            }
        }
    }

    fn quoted_name(&self) -> Result<usize, Fault> {
        let end = self.quoted(CqlErrorKind::UnterminatedName)?;
        match variables_in(&self.source[self.at..end]).next() {
            Some((offset, _)) => Self::fault(CqlErrorKind::VariableInName, self.at + offset),
            None => Ok(end),
        }
    }

    fn dollar(&self) -> Result<(TokenKind, usize), Fault> {
        match self.rest() {
            [b'$', b'$', body @ ..] => {
                let Some(length) = find(body, b"$$") else {
                    return Self::fault(CqlErrorKind::UnterminatedText, self.at);
                };
                let start = self.at + 2;
                self.refuse_nul(start, start + length)?;
                Ok((TokenKind::DollarText, start + length + 2))
            }
            [b'$', b'{', ..] => self.variable(),
            _ => Self::fault(CqlErrorKind::UnexpectedCharacter('$'), self.at),
        }
    }

    fn variable(&self) -> Result<(TokenKind, usize), Fault> {
        let Some(length) = variable_length(self.rest()) else {
            return Self::fault(CqlErrorKind::MalformedVariable, self.at);
        };
        let end = self.at + length;
        let before = self.at.checked_sub(1).and_then(|at| self.bytes().get(at));
        let touches = |b: &u8| b.is_ascii_alphanumeric() || b"_'\"$}".contains(b);
        let in_name =
            before.is_some_and(touches) || self.bytes().get(end).is_some_and(|b| *b != b'}' && touches(b));
        if in_name {
            return Self::fault(CqlErrorKind::VariableInName, self.at);
        }
        Ok((TokenKind::Variable, end))
    }

    fn word_or_number(&self) -> (TokenKind, usize) {
        let rest = self.rest();
        let (kind, length) = if is_uuid(rest) {
            (TokenKind::Uuid, UUID_LENGTH)
        } else if let [b'0', b'x' | b'X', digits @ ..] = rest {
            (TokenKind::Blob, 2 + leading(digits, u8::is_ascii_hexdigit))
        } else if rest[0].is_ascii_digit() {
            (TokenKind::Number, number_length(rest))
        } else if let Some(length) = iso_duration_length(rest) {
            (TokenKind::Number, length)
        } else {
            (TokenKind::Word, leading(rest, |b| b.is_ascii_alphanumeric() || *b == b'_'))
        };
        (kind, self.at + length)
    }

    fn punctuation(&self) -> Result<usize, Fault> {
        match self.rest() {
            [b'<' | b'>' | b'!' | b'+' | b'-', b'=', ..] | [b'.', b'.', ..] => Ok(2),
            [sign, ..] if is_sign(*sign) => Ok(1),
            [0, ..] => Self::fault(CqlErrorKind::Nul, self.at),
            _ => {
                let character = self.source[self.at..].chars().next().unwrap_or_default();
                Self::fault(CqlErrorKind::UnexpectedCharacter(character), self.at)
            }
        }
    }
}

impl Iterator for Lexer<'_> {
    type Item = Result<Token, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let item = self.token().transpose();
        self.failed = matches!(item, Some(Err(_)));
        item
    }
}

fn is_sign(byte: u8) -> bool {
    matches!(
        byte,
        b'(' | b')'
            | b'['
            | b']'
            | b'{'
            | b'}'
            | b'<'
            | b'>'
            | b'='
            | b'+'
            | b'-'
            | b'*'
            | b'/'
            | b'%'
            | b','
            | b'.'
            | b';'
            | b':'
            | b'?'
    )
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

fn leading(bytes: &[u8], accept: impl Fn(&u8) -> bool) -> usize {
    bytes.iter().take_while(|b| accept(b)).count()
}

/// Offsets and names of what would be variables, were they not quoted.
pub(crate) fn variables_in(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices("${").filter_map(|(at, _)| {
        let length = variable_length(&text.as_bytes()[at..])?;
        Some((at, variable_name(&text[at..at + length])))
    })
}

/// The name in `${name}`.
pub(crate) fn variable_name(variable: &str) -> &str {
    &variable[2..variable.len() - 1]
}

/// Length of `${name}` at the start, if it is well-formed.
pub(crate) fn variable_length(bytes: &[u8]) -> Option<usize> {
    let name = bytes.strip_prefix(b"${")?;
    let length = leading(name, |b| b.is_ascii_alphanumeric() || *b == b'_');
    let well_formed = name.first()?.is_ascii_alphabetic() && name.get(length) == Some(&b'}');
    well_formed.then_some(length + 3)
}

const UUID_LENGTH: usize = 36;

fn is_uuid(bytes: &[u8]) -> bool {
    bytes.len() >= UUID_LENGTH
        && bytes[..UUID_LENGTH].iter().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => *b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

/// An integer, a decimal (`1.`, `1.5e-3`) or a duration in units (`1h30m`). What follows may touch it, as
/// in `1AND`.
fn number_length(bytes: &[u8]) -> usize {
    let mut duration = 0;
    while let Some(part) = duration_part_length(&bytes[duration..]) {
        duration += part;
    }
    if duration > 0 {
        return duration;
    }
    let mut length = leading(bytes, u8::is_ascii_digit);
    if let [b'.', after @ ..] = &bytes[length..]
        && after.first() != Some(&b'.')
    {
        length += 1 + leading(after, u8::is_ascii_digit);
    }
    length + exponent_length(&bytes[length..])
}

fn exponent_length(bytes: &[u8]) -> usize {
    let sign = match bytes {
        [b'e' | b'E', b'+' | b'-', ..] => 2,
        [b'e' | b'E', ..] => 1,
        _ => return 0,
    };
    match leading(&bytes[sign..], u8::is_ascii_digit) {
        0 => 0,
        digits => sign + digits,
    }
}

fn duration_part_length(bytes: &[u8]) -> Option<usize> {
    const UNITS: [&str; 11] = ["mo", "ms", "us", "\u{b5}s", "ns", "y", "w", "d", "h", "m", "s"];
    let digits = leading(bytes, u8::is_ascii_digit);
    let after = &bytes[digits..];
    let is_next =
        |unit: &&&str| after.get(..unit.len()).is_some_and(|b| b.eq_ignore_ascii_case(unit.as_bytes()));
    let unit = UNITS.iter().find(is_next)?;
    (digits > 0).then_some(digits + unit.len())
}

/// `P1Y2M`, `PT5S`, `P2W`, `P0001-02-03T04:05:06`; the `P` is a capital, else it is a name.
fn iso_duration_length(bytes: &[u8]) -> Option<usize> {
    const ALTERNATIVE: &[u8] = b"P0000-00-00T00:00:00";
    let after = bytes.strip_prefix(b"P")?;
    if bytes.len() >= ALTERNATIVE.len()
        && ALTERNATIVE
            .iter()
            .zip(bytes)
            .all(|(form, b)| if *form == b'0' { b.is_ascii_digit() } else { form == b })
    {
        return Some(ALTERNATIVE.len());
    }
    let word = &after[..leading(after, |b| b.is_ascii_alphanumeric() || *b == b'_')];
    let mut rest = word;
    loop {
        let part = rest.strip_prefix(b"T").unwrap_or(rest);
        let digits = leading(part, u8::is_ascii_digit);
        match &part[digits..] {
            [b'Y' | b'M' | b'W' | b'D' | b'H' | b'S', after @ ..] if digits > 0 => rest = after,
            _ => break,
        }
    }
    (rest.is_empty() && !word.is_empty()).then_some(1 + word.len())
}
