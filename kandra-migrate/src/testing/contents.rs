//! The rows of all tables, as text.

use scylla::value::{CqlValue, Row};

use super::TestKeyspace;
use crate::cql::quote;
use crate::schema::script;

/// The rows of a table, each as JSON.
pub(super) struct Content {
    table: String,
    is_counter: bool,
    rows: Vec<String>,
    columns: Vec<String>,
    /// Of each row, the columns as JSON, where there is a value.
    values: Vec<Vec<Option<String>>>,
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
            let columns: Vec<_> = definition.columns.keys().map(|name| quote(name)).collect();
            let values = self.values(table, &columns).await;
            contents.push(Content { table: table.clone(), is_counter, rows, columns, values });
        }
        contents
    }

    /// Writes these rows.
    pub(super) async fn fill(&self, contents: &[Content]) {
        for Content { table, is_counter, columns, values, .. } in contents {
            assert!(
                !is_counter || values.is_empty(),
                "the counters of table {table} cannot be copied: begin without rows in it"
            );
            for row in values {
                // A partition that is there for its static columns alone has nothing for the rest of the key.
                let cells = columns
                    .iter()
                    .zip(row)
                    .filter_map(|(name, value)| Some((name.as_str(), value.as_deref()?)));
                let (names, values): (Vec<_>, Vec<_>) = cells.unzip();
                let marks = vec!["fromJson(?)"; names.len()].join(", ");
                let cql = format!(
                    "INSERT INTO ${{keyspace}}.{} ({}) VALUES ({marks})",
                    quote(table),
                    names.join(", ")
                );
                self.execute_with(&cql, values).await;
            }
        }
    }

    async fn values(&self, table: &str, columns: &[String]) -> Vec<Vec<Option<String>>> {
        let columns: Vec<_> = columns.iter().map(|name| format!("toJson({name})")).collect();
        let cql = format!("SELECT {} FROM ${{keyspace}}.{}", columns.join(", "), quote(table));
        let rows = self.rows::<Row>(&cql, ()).await;
        // A text of these four letters is in quotes.
        let text = |value: Option<CqlValue>| value?.into_string().filter(|json| json != "null");
        rows.into_iter().map(|row| row.columns.into_iter().map(text).collect()).collect()
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
