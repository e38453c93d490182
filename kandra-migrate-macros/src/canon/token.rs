//! Tokens as the checksum sees them: operators in one piece, literals by value, no spacing, no spans.

use proc_macro2::Delimiter;

use super::literal::Literal;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// An identifier or keyword as written, `r#` included.
    Word(String),
    /// A lifetime or label, without its `'`.
    Lifetime(String),
    /// A whole operator: `&&` is one token, `& &` are two.
    Op(String),
    Literal(Literal),
    Group(Delimiter, Vec<Token>),
    /// One flattened path of a `use` declaration, with its attributes and its visibility.
    Import(Vec<Token>),
}

impl Token {
    pub(crate) fn op(text: &str) -> Self {
        Self::Op(text.to_owned())
    }

    pub(crate) fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(crate) fn is_op(&self, text: &str) -> bool {
        matches!(self, Self::Op(op) if op == text)
    }

    pub(crate) fn is_word(&self, text: &str) -> bool {
        self.word() == Some(text)
    }

    /// An identifier that is no keyword: it can name a function or a macro.
    pub(crate) fn name(&self) -> Option<&str> {
        self.word().filter(|word| !is_keyword(word))
    }

    /// What is inside of a pair of braces.
    pub(crate) fn braced(&self) -> Option<&[Token]> {
        match self {
            Self::Group(Delimiter::Brace, inner) => Some(inner),
            _ => None,
        }
    }

    pub(crate) fn is_group(&self, delimiter: Delimiter) -> bool {
        matches!(self, Self::Group(own, _) if *own == delimiter)
    }
}

/// Keywords of all editions, strict and reserved; `union`, `default`, `raw` and their like can be names.
pub(crate) fn is_keyword(word: &str) -> bool {
    const KEYWORDS: [&str; 51] = [
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do",
        "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "if", "impl", "in", "let", "loop",
        "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "Self",
        "static", "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
        "virtual", "where", "while", "yield",
    ];
    KEYWORDS.contains(&word)
}
