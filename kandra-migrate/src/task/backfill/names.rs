//! Names as they are given.

use crate::cql::{fold, quote};

/// What a name in a statement stands for.
pub(super) fn identifier(given: &str) -> String {
    let given = given.trim();
    let quoted = given.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    quoted.map_or_else(|| fold(given), |name| name.replace("\"\"", "\""))
}

/// What the names in a list stand for: those between its commas, but for commas in quotes.
pub(super) fn identifiers(given: &str) -> Vec<String> {
    let mut is_quoted = false;
    let is_comma = |c: char| {
        is_quoted ^= c == '"';
        c == ',' && !is_quoted
    };
    given.split(is_comma).filter(|name| !name.trim().is_empty()).map(identifier).collect()
}

/// As a statement has them.
pub(super) fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(quote).collect::<Vec<_>>().join(", ")
}

/// What is read to know when a column was written and when it is gone.
pub(super) fn time_of(column: &str) -> String {
    let name = quote(column);
    format!("WRITETIME({name}), TTL({name})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_folded_unless_they_are_quoted() {
        assert_eq!(identifier("Users"), "users");
        assert_eq!(identifier("\"Users\""), "Users");
    }

    #[test]
    fn a_list_of_names() {
        assert_eq!(identifiers("Id, \"Full, \"\"Name\"\"\" ,b"), ["id", "Full, \"Name\"", "b"]);
        assert!(identifiers(" ").is_empty());
        assert_eq!(quoted(["id", "Full \"Name\""]), "\"id\", \"Full \"\"Name\"\"\"");
    }
}
