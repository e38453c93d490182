//! `WITH ID`: the same CREATE, sent twice or by several coordinators, makes the same table.

use super::change::{Options, SchemaChange};
use super::statement::Statement;
use super::token::{Token, TokenKind};

impl Statement {
    /// CREATE TABLE or CREATE MATERIALIZED VIEW with `ID = <id>` in its WITH clause; `None` for another
    /// statement, and for one that names an id itself.
    #[must_use]
    pub fn with_id(&self, id: &str) -> Option<Self> {
        let options: Options = match self.classify().change? {
            SchemaChange::CreateTable(table) => table.options,
            SchemaChange::CreateView(view) => view.options,
            _ => return None,
        };
        if options.contains_key("id") {
            return None;
        }
        // The clause is the last one of both statements, and its options have no order.
        let joint = if has_with_clause(self.text(), &self.tokens()) { "AND" } else { "WITH" };
        Some(self.with_text(format!("{} {joint} ID = {id}", self.text())))
    }
}

/// A WITH outside of the brackets, in which masks of columns have theirs.
fn has_with_clause(source: &str, tokens: &[Token]) -> bool {
    let mut depth = 0_usize;
    tokens.iter().any(|token| {
        if token.kind == TokenKind::Punctuation {
            match token.text(source) {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        depth == 0 && token.is_word(source, "with")
    })
}
