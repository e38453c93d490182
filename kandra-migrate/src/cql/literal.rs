//! Texts as literals.

/// A text in single quotes.
#[must_use]
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::literal;

    #[test]
    fn quotes_are_doubled_and_nothing_else_is_changed() {
        assert_eq!(literal("it's"), "'it''s'");
        assert_eq!(literal("''"), "''''''");
        assert_eq!(literal(r#"a\n"$$--/*"#), r#"'a\n"$$--/*'"#);
        assert_eq!(literal("two\nlines \u{1F980}"), "'two\nlines \u{1F980}'");
    }
}
