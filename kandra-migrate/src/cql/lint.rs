//! What is likely to go wrong with the statements of a plan, told from their text alone.

use std::collections::BTreeMap;
use std::fmt;

use super::change::{
    ColumnDefinition, CreateTable, Object, ObjectKind, OptionValue, Options, SchemaChange, TableAction,
};
use super::classify::{Classification, Kind};
use super::cqltype::CqlType;
use super::data::is_unbounded;
use super::name::QualifiedName;
use super::position::Position;
use super::rule::Rule;
use super::statement::Statement;

/// A statement of a plan, with what its author said of it.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "marks, each of which may be there or not")]
pub struct LintStep<'a> {
    /// The statement; its variables may be rendered or not.
    pub statement: &'a Statement,
    /// Nothing before it can be undone once it is done.
    pub point_of_no_return: bool,
    /// It must not be sent again after an unknown outcome.
    pub once: bool,
    /// It may be sent again.
    pub idempotent: bool,
    /// Rules that do not count for it.
    pub allowed: &'a [Rule],
    /// It stands in a file, where comments say what the methods of a task say in code.
    pub in_file: bool,
}

impl LintStep<'_> {
    fn say<'s>(&self, in_code: &'s str, in_file: &'s str) -> &'s str {
        if self.in_file { in_file } else { in_code }
    }
}

/// One thing that a rule found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The step, counted from 0.
    pub step: usize,
    /// Where the statement begins.
    pub position: Position,
    /// What is wrong and what to do.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} line {}: {}", self.rule.code(), self.position.line, self.message)
    }
}

/// Checks the steps of a plan, or of several in a row: columns are remembered from step to step. Statements
/// that are refused have no findings, they are errors.
#[must_use]
pub fn lint(steps: &[LintStep<'_>]) -> Vec<Finding> {
    let mut columns = Columns::default();
    let mut shapes = Shapes::default();
    let mut findings = Vec::new();
    for (step, marked) in steps.iter().enumerate() {
        let found = marked.statement.classify();
        if found.refused.is_some() {
            continue;
        }
        let mut messages = Vec::new();
        data_rules(marked, &found, &mut messages);
        if let Some(change) = &found.change {
            schema_rules(change, &mut messages);
            columns.read(change, &mut messages);
            shapes.read(change, found.idempotent(), &mut messages);
        }
        let position = marked.statement.origin();
        messages.retain(|(rule, _)| !marked.allowed.contains(rule));
        findings.extend(messages.into_iter().map(|(rule, message)| Finding {
            rule,
            step,
            position,
            message,
        }));
    }
    findings
}

type Messages = Vec<(Rule, String)>;

fn data_rules(step: &LintStep<'_>, found: &Classification, messages: &mut Messages) {
    if found.destructive && !step.point_of_no_return {
        messages.push((
            Rule::Destructive,
            format!(
                "this removes what no undo brings back; say {}",
                step.say(".point_of_no_return()", "`-- kandra: point-of-no-return`")
            ),
        ));
    }
    if found.kind == Kind::Counter {
        let message = "a count whose outcome is unknown cannot be sent again, and cannot be told from one that was lost; \
                       fill a plain column from a code task";
        messages.push((Rule::Counter, message.to_owned()));
    }
    let is_data = matches!(found.kind, Kind::Data | Kind::Conditional);
    if let (true, Some(why)) = (is_data && !step.once && !step.idempotent, &found.not_idempotent) {
        messages.push((
            Rule::Unmarked,
            format!(
                "this cannot be sent twice: {why}; say {}, or {} if you know better",
                step.say(".once()", "`-- kandra: once`"),
                step.say(".idempotent()", "`-- kandra: idempotent`")
            ),
        ));
    }
    if is_unbounded(step.statement) {
        messages
            .push((Rule::Unbounded, "this removes rows without a bound; remove them in ranges".to_owned()));
    }
    if !found.unqualified.is_empty() {
        let names = found.unqualified.join(", ");
        messages.push((Rule::Unqualified, format!("{names}: write ${{keyspace}}. before the name")));
    }
}

fn schema_rules(change: &SchemaChange, messages: &mut Messages) {
    match change {
        SchemaChange::CreateKeyspace { options, .. } => replication(options, messages),
        SchemaChange::AlterKeyspace { options, .. } => {
            replication(options, messages);
            if options.contains_key("replication") {
                let message =
                    "another replication needs a repair or rebuild on the nodes; it is an operator's work";
                messages.push((Rule::AlteredReplication, message.to_owned()));
            }
        }
        _ => {}
    }
    if options_of(change).is_some_and(has_no_grace) {
        let message = "without gc_grace_seconds a deleted row comes back from a node that was down";
        messages.push((Rule::NoGrace, message.to_owned()));
    }
    for unreadable in types_of(change).iter().filter(|cql_type| !cql_type.is_readable_by_driver()) {
        messages.push((
            Rule::UnreadableType,
            format!(
                "{unreadable}: the scylla driver cannot read a type that is a class or whose name needs quotes; \
                 from then on each schema statement in the cluster ends in a metadata error"
            ),
        ));
    }
}

fn replication(options: &Options, messages: &mut Messages) {
    let Some(OptionValue::Map(replication)) = options.get("replication") else { return };
    let class = replication.get("class").map_or("", String::as_str);
    if class.ends_with("SimpleStrategy") {
        messages.push((Rule::Replication, "SimpleStrategy ignores racks and data centres".to_owned()));
    }
    if replication.iter().any(|(key, value)| key != "class" && value == "1") {
        messages.push((
            Rule::Replication,
            "with one replica, a node that is down is data that is gone".to_owned(),
        ));
    }
}

fn has_no_grace(options: &Options) -> bool {
    let Some(OptionValue::Scalar(seconds)) = options.get("gc_grace_seconds") else { return false };
    seconds.parse() == Ok(0)
}

fn options_of(change: &SchemaChange) -> Option<&Options> {
    match change {
        SchemaChange::CreateTable(table) => Some(&table.options),
        SchemaChange::CreateView(view) => Some(&view.options),
        SchemaChange::AlterTable { action: TableAction::With(options), .. }
        | SchemaChange::AlterView { options, .. } => Some(options),
        _ => None,
    }
}

fn types_of(change: &SchemaChange) -> Vec<&CqlType> {
    match change {
        SchemaChange::CreateTable(CreateTable { columns, .. })
        | SchemaChange::AlterTable { action: TableAction::Add(columns), .. } => {
            columns.iter().map(|column| &column.column_type).collect()
        }
        SchemaChange::CreateType { fields, .. } => fields.iter().map(|(_, field_type)| field_type).collect(),
        SchemaChange::AddField { field_type, .. } => vec![field_type],
        _ => Vec::new(),
    }
}

/// What the steps so far say of columns.
#[derive(Default)]
struct Columns {
    known: BTreeMap<(QualifiedName, String), Definition>,
    /// With the definition that it had, if a step said it.
    dropped: BTreeMap<(QualifiedName, String), Option<Definition>>,
}

#[derive(Clone, PartialEq)]
struct Definition {
    column_type: CqlType,
    is_static: bool,
}

impl From<&ColumnDefinition> for Definition {
    fn from(column: &ColumnDefinition) -> Self {
        Self { column_type: column.column_type.clone(), is_static: column.is_static }
    }
}

impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.column_type, if self.is_static { " static" } else { "" })
    }
}

impl Columns {
    fn read(&mut self, change: &SchemaChange, messages: &mut Messages) {
        match change {
            SchemaChange::CreateTable(table) => {
                for column in &table.columns {
                    self.add(&table.name, column);
                }
            }
            SchemaChange::DropTable { name } => {
                self.known.retain(|(table, _), _| table != name);
                self.dropped.retain(|(table, _), _| table != name);
            }
            SchemaChange::AlterTable { name, action: TableAction::Add(columns) } => {
                for column in columns {
                    messages.extend(self.readded(name, column));
                    self.add(name, column);
                }
            }
            SchemaChange::AlterTable { name, action: TableAction::Drop(columns) } => {
                for column in columns {
                    let key = (name.clone(), column.clone());
                    let definition = self.known.remove(&key);
                    self.dropped.insert(key, definition);
                }
            }
            SchemaChange::AlterTable { name, action: TableAction::Rename(renames) } => {
                for (from, to) in renames {
                    if let Some(definition) = self.known.remove(&(name.clone(), from.clone())) {
                        self.known.insert((name.clone(), to.clone()), definition);
                    }
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, table: &QualifiedName, column: &ColumnDefinition) {
        self.known.insert((table.clone(), column.name.clone()), column.into());
    }

    fn readded(&self, table: &QualifiedName, column: &ColumnDefinition) -> Option<(Rule, String)> {
        let dropped = self.dropped.get(&(table.clone(), column.name.clone()))?;
        let name = &column.name;
        let is = Definition::from(column);
        let message = match dropped {
            Some(was) if *was == is => return None,
            Some(was) => {
                format!(
                    "{name} was dropped as {was} and comes back as {is}, which the server refuses; take another name"
                )
            }
            None => format!("{name} was dropped; the server refuses it with another type than it had"),
        };
        Some((Rule::Readded, message))
    }
}

/// What the steps so far create: a later IF NOT EXISTS over another shape does nothing.
#[derive(Default)]
struct Shapes {
    created: BTreeMap<(ObjectKind, QualifiedName), SchemaChange>,
}

impl Shapes {
    fn read(&mut self, change: &SchemaChange, guarded: bool, messages: &mut Messages) {
        // An index without a name has no object of its own.
        let Some(object) = change.object().filter(|object| !is_unnamed_index(change, object)) else { return };
        let key = (object.kind, object.name.clone());
        if !change.creates()
            || matches!(change, SchemaChange::AlterTable { .. } | SchemaChange::AddField { .. })
        {
            // What it looks like from here on is not followed.
            self.created.remove(&key);
        } else if self.created.get(&key).is_some_and(|earlier| guarded && earlier != change) {
            let message = format!(
                "an earlier step creates {object} in another shape, and IF NOT EXISTS does nothing then"
            );
            messages.push((Rule::OtherShape, message));
        } else {
            self.created.insert(key, change.clone());
        }
    }
}

fn is_unnamed_index(change: &SchemaChange, object: &Object) -> bool {
    matches!(change, SchemaChange::CreateIndex(_)) && object.kind == ObjectKind::Table
}
