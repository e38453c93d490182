//! The rows of all tables, as text.

use super::TestKeyspace;
use crate::cql::quote;
use crate::schema::script;

/// The rows of a table, each as JSON.
pub(super) struct Content {
    table: String,
    is_counter: bool,
    rows: Vec<String>,
}

impl TestKeyspace {
    /// The rows of all tables but those of the ledger and of views.
    pub(super) async fn contents(&self) -> Vec<Content> {
        let schema = self.schema().await;
        let mut contents = Vec::new();
        for (table, definition) in script::tables(&schema) {
            let cql = format!("SELECT JSON * FROM ${{keyspace}}.{}", quote(table));
            let rows = self.rows::<(String,)>(&cql, ()).await;
            let mut rows: Vec<_> = rows.into_iter().map(|(row,)| row).collect();
            rows.sort_unstable();
            let is_counter = definition.columns.values().any(|column| column.column_type == "counter");
            contents.push(Content { table: table.clone(), is_counter, rows });
        }
        contents
    }

    /// Writes these rows.
    pub(super) async fn fill(&self, contents: &[Content]) {
        for Content { table, is_counter, rows } in contents {
            assert!(
                !is_counter || rows.is_empty(),
                "the counters of table {table} cannot be copied: begin without rows in it"
            );
            let cql = format!("INSERT INTO ${{keyspace}}.{} JSON ?", quote(table));
            for row in rows {
                self.execute_with(&cql, (row,)).await;
            }
        }
    }
}

/// A row a line, with its table.
pub(super) fn lines(contents: &[Content]) -> String {
    let mut text = String::new();
    for Content { table, rows, .. } in contents {
        for row in rows {
            text.extend([table.as_str(), ": ", row.as_str(), "\n"]);
        }
    }
    text
}
