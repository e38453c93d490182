//! The schema as a file that is committed.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;

use super::TestKeyspace;
use super::diff::diff;
use super::keyspace::ok;
use crate::cql::{SchemaChange, TableAction};
use crate::error::Error;
use crate::plan::Steps;
use crate::schema::script;
use crate::schema::shape::{KeyspaceSchema, TableSchema};

const UPDATE: &str = "KANDRA_UPDATE_SNAPSHOTS";
const HEADER: &str =
    "-- What the migrations leave, for people and diffs; written by a test with KANDRA_UPDATE_SNAPSHOTS=1.";

impl TestKeyspace {
    /// Compares the schema with the CQL in a file that is committed, whose path is relative to the package's directory.
    ///
    /// With `KANDRA_UPDATE_SNAPSHOTS=1` the file is written instead. It has each object as the statement that creates
    /// it, with the options that a migration sets; not the keyspace's replication or other options of tables, which
    /// depend on the server, so that the file is the same for all of them.
    ///
    /// # Panics
    /// With the lines that differ, where the schema is another one.
    pub async fn assert_schema(&self, file: impl AsRef<Path>) {
        let (file, path) = (file.as_ref().display(), Path::new(&self.setup().package).join(file.as_ref()));
        let mut schema = self.schema().await;
        self.keep_options_that_are_set(&mut schema);
        let now = format!("{HEADER}\n\n{}", text(&schema));
        if std::env::var(UPDATE).is_ok_and(|value| value == "1") {
            return std::fs::write(&path, now)
                .unwrap_or_else(|error| panic!("{file} cannot be written: {error}"));
        }
        let stored = match std::fs::read_to_string(&path) {
            Ok(stored) => stored,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                panic!("there is no {file} yet: run the test with {UPDATE}=1, and commit the file")
            }
            Err(error) => panic!("{file} cannot be read: {error}"),
        };
        let differs = diff(&stored, &now);
        assert!(
            differs.is_empty(),
            "the schema differs from {file} (-):\n\n{differs}\nIf it should, run the test with {UPDATE}=1, and commit the file"
        );
    }

    fn keep_options_that_are_set(&self, schema: &mut KeyspaceSchema) {
        let set = self.options_set();
        let keep = |name: &String, table: &mut TableSchema| {
            table.options.retain(|option, _| set.contains(&(name.clone(), option.clone())));
        };
        schema.tables.iter_mut().for_each(|(name, table)| keep(name, table));
        schema.views.iter_mut().for_each(|(name, view)| keep(name, &mut view.table));
    }

    /// Tables and views, each with the options that a migration sets.
    fn options_set(&self) -> BTreeSet<(String, String)> {
        let destination = ok(self.runner().parts()).destination;
        let mut set = BTreeSet::new();
        for migration in ok(self.setup().registry.migrations()) {
            let steps = ok(Steps::compile(migration, &destination).map_err(Error::from));
            for change in steps.iter().filter_map(|step| step.change()) {
                let (name, options) = match change {
                    SchemaChange::CreateTable(table) => (&table.name.name, &table.options),
                    SchemaChange::CreateView(view) => (&view.name.name, &view.options),
                    SchemaChange::AlterTable { name, action: TableAction::With(options) }
                    | SchemaChange::AlterView { name, options } => (&name.name, options),
                    _ => continue,
                };
                set.extend(options.keys().map(|option| (name.clone(), option.clone())));
            }
        }
        set
    }
}

/// The statements that create a schema, for people: a column a line, and an option a line.
pub(super) fn text(schema: &KeyspaceSchema) -> String {
    let statements: Vec<_> = script::statements(schema).iter().map(|cql| laid_out(cql) + ";\n").collect();
    statements.join("\n")
}

/// A table or type with a line for each column, and for each option.
fn laid_out(statement: &str) -> String {
    let is_long = ["CREATE TABLE", "CREATE TYPE"].iter().any(|start| statement.starts_with(start));
    let mut top = outside_of_quotes(statement).filter(|(_, _, depth)| *depth == 0);
    let open = top.find(|(_, c, _)| *c == '(');
    let close = top.find(|(_, c, _)| *c == ')');
    let (true, Some((open, ..)), Some((close, ..))) = (is_long, open, close) else {
        return statement.to_owned();
    };
    let (head, columns, options) = (&statement[..open], &statement[open + 1..close], &statement[close + 1..]);
    let columns = split(columns, ", ").join(",\n    ");
    let options = split(options, " AND ").join("\n    AND ");
    format!("{head}(\n    {columns}\n){options}")
}

/// The parts between separators that are in no brackets and no quotes.
fn split<'a>(text: &'a str, separator: &str) -> Vec<&'a str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    for (at, _, depth) in outside_of_quotes(text) {
        if depth == 0 && text[at..].starts_with(separator) {
            parts.push(&text[start..at]);
            start = at + separator.len();
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Each character outside of quotes with its place, and how many brackets are around it.
fn outside_of_quotes(text: &str) -> impl Iterator<Item = (usize, char, usize)> {
    let (mut depth, mut quote) = (0_usize, None);
    text.char_indices().filter_map(move |(at, c)| {
        if let Some(open) = quote {
            quote = Some(open).filter(|open| *open != c);
            return None;
        }
        let around = match c {
            ')' | '>' | '}' => depth.saturating_sub(1),
            _ => depth,
        };
        depth = around + usize::from(matches!(c, '(' | '<' | '{'));
        quote = Some(c).filter(|c| matches!(c, '"' | '\''));
        Some((at, c, around))
    })
}

#[cfg(test)]
mod tests {
    use super::laid_out;

    #[test]
    fn a_column_and_an_option_have_a_line_each() {
        let table = r#"CREATE TABLE ${keyspace}."a, (b" ("c" map<text, int>, "d" int, PRIMARY KEY (("c", "d"))) WITH CLUSTERING ORDER BY ("d" DESC) AND comment = 'x, (y) AND z' AND caching = {'a': 'b', 'c': 'd'}"#;
        let lines = [
            r#"CREATE TABLE ${keyspace}."a, (b" ("#,
            r#"    "c" map<text, int>,"#,
            r#"    "d" int,"#,
            r#"    PRIMARY KEY (("c", "d"))"#,
            r#") WITH CLUSTERING ORDER BY ("d" DESC)"#,
            r"    AND comment = 'x, (y) AND z'",
            r"    AND caching = {'a': 'b', 'c': 'd'}",
        ];
        assert_eq!(laid_out(table), lines.join("\n"));
        let index = r#"CREATE INDEX "i" ON ${keyspace}."t" ("c")"#;
        assert_eq!(laid_out(index), index);
    }
}
