//! What a schema statement asks for, in terms that `system_schema` can be compared with.

use std::collections::BTreeMap;
use std::fmt;

use super::cqltype::CqlType;
use super::name::QualifiedName;
use super::role::RoleChange;

/// The kind of a named object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObjectKind {
    /// A keyspace.
    Keyspace,
    /// A table.
    Table,
    /// A user-defined type.
    Type,
    /// An index of a table.
    Index,
    /// A materialized view.
    View,
    /// A user-defined function.
    Function,
    /// A user-defined aggregate.
    Aggregate,
    /// A trigger of a table.
    Trigger,
    /// A role or user.
    Role,
}

impl fmt::Display for ObjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keyspace => "keyspace",
            Self::Table => "table",
            Self::Type => "type",
            Self::Index => "index",
            Self::View => "materialized view",
            Self::Function => "function",
            Self::Aggregate => "aggregate",
            Self::Trigger => "trigger",
            Self::Role => "role",
        })
    }
}

/// A named object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Object {
    /// What it is.
    pub kind: ObjectKind,
    /// Its name; a keyspace or role has no other keyspace.
    pub name: QualifiedName,
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.name)
    }
}

/// A value of an option in a WITH clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// A string, number, boolean, uuid or word, without quotes.
    Scalar(String),
    /// `{'key': 'value', …}`, without quotes.
    Map(BTreeMap<String, String>),
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(value) => f.write_str(value),
            Self::Map(entries) => f.debug_map().entries(entries).finish(),
        }
    }
}

/// The options of a WITH clause, names in lower case.
pub type Options = BTreeMap<String, OptionValue>;

/// What a schema or role statement changes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaChange {
    /// CREATE KEYSPACE.
    CreateKeyspace {
        /// Its name.
        name: String,
        /// `replication`, `durable_writes` and what else is named.
        options: Options,
    },
    /// ALTER KEYSPACE.
    AlterKeyspace {
        /// Its name.
        name: String,
        /// What is named.
        options: Options,
    },
    /// DROP KEYSPACE.
    DropKeyspace {
        /// Its name.
        name: String,
    },
    /// CREATE TABLE with its columns.
    CreateTable(CreateTable),
    /// CREATE TABLE … LIKE.
    CopyTable {
        /// The new table.
        name: QualifiedName,
        /// The one whose columns it gets.
        source: QualifiedName,
    },
    /// ALTER TABLE.
    AlterTable {
        /// The table.
        name: QualifiedName,
        /// What is done to it.
        action: TableAction,
    },
    /// DROP TABLE.
    DropTable {
        /// The table.
        name: QualifiedName,
    },
    /// CREATE TYPE.
    CreateType {
        /// The type.
        name: QualifiedName,
        /// Its fields, in order.
        fields: Vec<(String, CqlType)>,
    },
    /// ALTER TYPE … ADD.
    AddField {
        /// The type.
        name: QualifiedName,
        /// The field.
        field: String,
        /// Its type.
        field_type: CqlType,
    },
    /// ALTER TYPE … ALTER, which no server of today takes.
    AlterFieldType {
        /// The type.
        name: QualifiedName,
        /// The field.
        field: String,
    },
    /// ALTER TYPE … RENAME.
    RenameFields {
        /// The type.
        name: QualifiedName,
        /// Old and new names.
        renames: Vec<(String, String)>,
    },
    /// DROP TYPE.
    DropType {
        /// The type.
        name: QualifiedName,
    },
    /// CREATE INDEX.
    CreateIndex(CreateIndex),
    /// DROP INDEX.
    DropIndex {
        /// The index, with its table's keyspace.
        name: QualifiedName,
    },
    /// CREATE MATERIALIZED VIEW.
    CreateView(CreateView),
    /// ALTER MATERIALIZED VIEW.
    AlterView {
        /// The view.
        name: QualifiedName,
        /// What is named.
        options: Options,
    },
    /// DROP MATERIALIZED VIEW.
    DropView {
        /// The view.
        name: QualifiedName,
    },
    /// CREATE FUNCTION.
    CreateFunction(CreateFunction),
    /// DROP FUNCTION.
    DropFunction {
        /// The function.
        name: QualifiedName,
        /// Its argument types; `None` if the only function of that name is meant.
        argument_types: Option<Vec<CqlType>>,
    },
    /// CREATE AGGREGATE.
    CreateAggregate(CreateAggregate),
    /// DROP AGGREGATE.
    DropAggregate {
        /// The aggregate.
        name: QualifiedName,
        /// Its argument types; `None` if the only aggregate of that name is meant.
        argument_types: Option<Vec<CqlType>>,
    },
    /// CREATE or DROP TRIGGER.
    Trigger {
        /// The table.
        table: QualifiedName,
        /// The trigger.
        name: String,
    },
    /// Roles, users, identities and permissions, which `system_schema` does not show.
    Role(RoleChange),
}

/// CREATE TABLE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateTable {
    /// The table.
    pub name: QualifiedName,
    /// All columns, in the order of the text.
    pub columns: Vec<ColumnDefinition>,
    /// Names of the partition key's columns, in order.
    pub partition_key: Vec<String>,
    /// Names of the clustering columns, in order.
    pub clustering: Vec<String>,
    /// Clustering columns whose order is descending.
    pub descending: Vec<String>,
    /// `WITH COMPACT STORAGE`: the servers add columns of their own.
    pub compact_storage: bool,
    /// The other options, perhaps `id`.
    pub options: Options,
}

/// One column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDefinition {
    /// Its name.
    pub name: String,
    /// Its type.
    pub column_type: CqlType,
    /// One value a partition.
    pub is_static: bool,
}

/// What an ALTER TABLE does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableAction {
    /// ADD of one or several columns.
    Add(Vec<ColumnDefinition>),
    /// DROP of one or several columns.
    Drop(Vec<String>),
    /// RENAME of key columns: old and new names.
    Rename(Vec<(String, String)>),
    /// ALTER of a column's type, which no server of today takes.
    AlterType(String),
    /// WITH options.
    With(Options),
    /// DROP COMPACT STORAGE.
    DropCompactStorage,
    /// Masks and constraints of a column.
    AlterColumn(String),
}

/// CREATE INDEX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateIndex {
    /// Its name, if one is given; else the server makes one, see [`CreateIndex::default_name`].
    pub name: Option<String>,
    /// The table.
    pub table: QualifiedName,
    /// What is indexed, as `options['target']` of `system_schema.indexes` has it: `c`, `keys(c)`,
    /// `values(c)`, `entries(c)` or `full(c)`, names quoted where they need it. For several columns, which
    /// some servers take, the text between the brackets.
    pub target: String,
    /// `USING '…'`.
    pub class: Option<String>,
    /// `WITH OPTIONS = {…}`.
    pub options: BTreeMap<String, String>,
}

impl CreateIndex {
    /// The name that the servers make up: table and column without characters that are no word's, and `_1`,
    /// `_2` … behind it if it is taken.
    #[must_use]
    pub fn default_name(&self) -> String {
        let column = self.target.rsplit_once('(').map_or(&*self.target, |(_, column)| column);
        let is_word = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
        format!("{}_{}_idx", self.table.name, column).chars().filter(is_word).collect()
    }
}

/// CREATE MATERIALIZED VIEW.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateView {
    /// The view.
    pub name: QualifiedName,
    /// The table that it is of.
    pub base: QualifiedName,
    /// The selected columns; `None` for `*`.
    pub columns: Option<Vec<String>>,
    /// The conditions of WHERE, each normalised by `normalise`.
    pub conditions: Vec<String>,
    /// Names of the partition key's columns, in order.
    pub partition_key: Vec<String>,
    /// Names of the clustering columns, in order.
    pub clustering: Vec<String>,
    /// Clustering columns whose order is descending.
    pub descending: Vec<String>,
    /// The other options, perhaps `id`.
    pub options: Options,
}

/// CREATE FUNCTION.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateFunction {
    /// The function.
    pub name: QualifiedName,
    /// OR REPLACE.
    pub replace: bool,
    /// Names and types of its arguments.
    pub arguments: Vec<(String, CqlType)>,
    /// CALLED ON NULL INPUT.
    pub called_on_null: bool,
    /// What it returns.
    pub return_type: CqlType,
    /// In lower case.
    pub language: String,
    /// The body, without quotes.
    pub body: String,
}

/// CREATE AGGREGATE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateAggregate {
    /// The aggregate.
    pub name: QualifiedName,
    /// OR REPLACE.
    pub replace: bool,
    /// Types of its arguments.
    pub argument_types: Vec<CqlType>,
    /// SFUNC.
    pub state_function: String,
    /// STYPE.
    pub state_type: CqlType,
    /// FINALFUNC.
    pub final_function: Option<String>,
    /// INITCOND, normalised by `normalise`.
    pub initial: Option<String>,
}

impl SchemaChange {
    /// The object whose rows of `system_schema` show the effect. An index without a name stands for its
    /// table; a role, which is not in `system_schema`, for what is granted to it.
    #[must_use]
    pub fn object(&self) -> Option<Object> {
        let global = |name: &str| QualifiedName::unqualified(name);
        let (kind, name) = match self {
            Self::CreateKeyspace { name, .. }
            | Self::AlterKeyspace { name, .. }
            | Self::DropKeyspace { name } => (ObjectKind::Keyspace, global(name)),
            Self::CreateTable(CreateTable { name, .. })
            | Self::CopyTable { name, .. }
            | Self::AlterTable { name, .. }
            | Self::DropTable { name } => (ObjectKind::Table, name.clone()),
            Self::CreateType { name, .. }
            | Self::AddField { name, .. }
            | Self::AlterFieldType { name, .. }
            | Self::RenameFields { name, .. }
            | Self::DropType { name } => (ObjectKind::Type, name.clone()),
            Self::CreateIndex(CreateIndex { name: Some(name), table, .. }) => {
                (ObjectKind::Index, QualifiedName { keyspace: table.keyspace.clone(), name: name.clone() })
            }
            Self::CreateIndex(CreateIndex { table, .. }) => (ObjectKind::Table, table.clone()),
            Self::DropIndex { name } => (ObjectKind::Index, name.clone()),
            Self::CreateView(CreateView { name, .. })
            | Self::AlterView { name, .. }
            | Self::DropView { name } => (ObjectKind::View, name.clone()),
            Self::CreateFunction(CreateFunction { name, .. }) | Self::DropFunction { name, .. } => {
                (ObjectKind::Function, name.clone())
            }
            Self::CreateAggregate(CreateAggregate { name, .. }) | Self::DropAggregate { name, .. } => {
                (ObjectKind::Aggregate, name.clone())
            }
            Self::Trigger { table, name } => {
                (ObjectKind::Trigger, QualifiedName { keyspace: table.keyspace.clone(), name: name.clone() })
            }
            Self::Role(role) => (ObjectKind::Role, global(role.role()?)),
        };
        Some(Object { kind, name })
    }

    /// The keyspace whose rows of `system_schema` show the effect, if the statement says it.
    #[must_use]
    pub fn keyspace(&self) -> Option<String> {
        let object = self.object()?;
        match object.kind {
            ObjectKind::Keyspace => Some(object.name.name),
            _ => object.name.keyspace,
        }
    }

    /// Whether it makes something new; with IF NOT EXISTS it does nothing where something of that name is, whatever its
    /// shape.
    #[must_use]
    pub fn creates(&self) -> bool {
        match self {
            Self::CreateFunction(CreateFunction { replace, .. })
            | Self::CreateAggregate(CreateAggregate { replace, .. }) => !replace,
            Self::CreateKeyspace { .. }
            | Self::CreateTable(_)
            | Self::CopyTable { .. }
            | Self::CreateType { .. }
            | Self::CreateIndex(_)
            | Self::CreateView(_)
            | Self::Role(RoleChange::Create { .. })
            | Self::AddField { .. }
            | Self::AlterTable { action: TableAction::Add(_), .. } => true,
            _ => false,
        }
    }
}
