//! Literals by value: how a string is quoted or escaped does not count, what it says does.

/// What a literal is; a kind has its own tag, so that `"a"`, `b"a"`, `c"a"` and `'a'` differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Number,
    Text,
    Bytes,
    CText,
    Char,
    Byte,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Literal {
    pub(crate) kind: Kind,
    /// The value's bytes; of a number, its text with underscores, base and suffix as written.
    pub(crate) value: Vec<u8>,
    /// A suffix on a literal in quotes, which only a macro can make sense of.
    pub(crate) suffix: String,
}

impl Literal {
    /// Reads the text of one literal token, as the compiler prints it.
    pub(crate) fn read(text: &str) -> Self {
        let letters = text.len() - text.trim_start_matches(['b', 'c', 'r']).len();
        let (prefix, rest) = text.split_at(letters);
        let hashes = rest.len() - rest.trim_start_matches('#').len();
        let Some(quote @ ('"' | '\'')) = rest[hashes..].chars().next() else {
            return Self::number(text);
        };
        let kind = match (prefix.trim_end_matches('r'), quote) {
            ("b", '\'') => Kind::Byte,
            (_, '\'') => Kind::Char,
            ("b", _) => Kind::Bytes,
            ("c", _) => Kind::CText,
            _ => Kind::Text,
        };
        // A suffix is an identifier, so the last quote is the closing one.
        let start = hashes + quote.len_utf8();
        let end = rest.rfind(quote).unwrap_or(start).max(start);
        let suffix = rest[end..].trim_start_matches([quote, '#']).to_owned();
        // The compiler reads a source file's CRLF as LF, also within a literal.
        let body = rest[start..end].replace("\r\n", "\n");
        let value = if prefix.ends_with('r') { body.into_bytes() } else { unescape(&body, kind) };
        Self { kind, value, suffix }
    }

    fn number(text: &str) -> Self {
        Self { kind: Kind::Number, value: text.as_bytes().to_owned(), suffix: String::new() }
    }
}

/// Resolves the escapes of a valid literal; what is no escape stays as it is.
fn unescape(body: &str, kind: Kind) -> Vec<u8> {
    let mut value = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find('\\') {
        value.extend_from_slice(&rest.as_bytes()[..at]);
        rest = escape(&rest[at + 1..], kind, &mut value);
    }
    value.extend_from_slice(rest.as_bytes());
    value
}

/// Resolves one escape, from behind its backslash, and returns what follows it.
fn escape<'a>(text: &'a str, kind: Kind, value: &mut Vec<u8>) -> &'a str {
    let mut chars = text.chars();
    match chars.next() {
        Some('n') => value.push(b'\n'),
        Some('r') => value.push(b'\r'),
        Some('t') => value.push(b'\t'),
        Some('0') => value.push(0),
        Some('x') => return hexadecimal(text, value),
        Some('u') if kind != Kind::Byte && kind != Kind::Bytes => return unicode(text, value),
        // A line that is continued: the newline and the next line's indentation are not there.
        Some('\n') => return text.trim_start_matches([' ', '\t', '\n', '\r']),
        Some(other) => value.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        None => value.push(b'\\'),
    }
    chars.as_str()
}

/// `x41`: one byte. In text it is at most `7f`, so that it is its own UTF-8.
fn hexadecimal<'a>(text: &'a str, value: &mut Vec<u8>) -> &'a str {
    let Some(byte) = text.get(1..3).and_then(|digits| u8::from_str_radix(digits, 16).ok()) else {
        value.extend_from_slice(b"\\x");
        return &text[1..];
    };
    value.push(byte);
    &text[3..]
}

/// `u{1_F600}`: one character, as UTF-8.
fn unicode<'a>(text: &'a str, value: &mut Vec<u8>) -> &'a str {
    let digits = text.strip_prefix("u{").and_then(|inner| inner.split_once('}'));
    let read = digits.and_then(|(digits, rest)| {
        let code = u32::from_str_radix(&digits.replace('_', ""), 16).ok()?;
        Some((char::from_u32(code)?, rest))
    });
    let Some((character, rest)) = read else {
        value.extend_from_slice(b"\\u");
        return &text[1..];
    };
    value.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Kind, String, String) {
        let literal = Literal::read(text);
        (literal.kind, String::from_utf8_lossy(&literal.value).into_owned(), literal.suffix)
    }

    #[test]
    fn quoting_and_escapes_are_no_part_of_the_value() {
        let same = [
            "\"a\\\"b\\n\"",
            "r#\"a\"b\n\"#",
            "\"a\\x22b\\u{0A}\"",
            "\"a\\\"\\\n      b\\n\"",
            "r##\"a\"b\r\n\"##",
        ];
        for text in same {
            assert_eq!(read(text), (Kind::Text, "a\"b\n".to_owned(), String::new()), "{text}");
        }
    }

    #[test]
    fn each_kind_is_known_by_its_prefix() {
        for (text, kind) in [
            ("\"a\"", Kind::Text),
            ("r\"a\"", Kind::Text),
            ("b\"a\"", Kind::Bytes),
            ("br#\"a\"#", Kind::Bytes),
            ("c\"a\"", Kind::CText),
            ("cr\"a\"", Kind::CText),
            ("'a'", Kind::Char),
            ("b'a'", Kind::Byte),
        ] {
            assert_eq!(read(text), (kind, "a".to_owned(), String::new()), "{text}");
        }
    }

    #[test]
    fn bytes_above_ascii_and_characters_in_quotes() {
        assert_eq!(Literal::read("b\"\\xff\"").value, [0xff]);
        assert_eq!(Literal::read("c\"\\xff\\u{e9}\"").value, [0xff, 0xc3, 0xa9]);
        assert_eq!(Literal::read(r"'\''").value, b"'");
        assert_eq!(Literal::read("'\"'").value, b"\"");
        assert_eq!(Literal::read(r"b'\\'").value, b"\\");
    }

    #[test]
    fn numbers_stay_as_written_and_text_keeps_its_suffix() {
        for text in ["1_000", "0xFFu8", "1.5e3", "0b1", "0"] {
            assert_eq!(read(text), (Kind::Number, text.to_owned(), String::new()));
        }
        assert_eq!(read("\"a\"cm"), (Kind::Text, "a".to_owned(), "cm".to_owned()));
        assert_eq!(read("r#\"a\"#cm"), (Kind::Text, "a".to_owned(), "cm".to_owned()));
    }
}
