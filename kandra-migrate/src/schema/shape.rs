//! One keyspace as `system_schema` shows it: names and values are strings as the server prints them, columns
//! that are null are left out.

use std::collections::{BTreeMap, BTreeSet};

use crate::cql::Options;

/// The rows of one keyspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyspaceSchema {
    /// `keyspaces`: replication.
    pub replication: BTreeMap<String, String>,
    /// `keyspaces`: `durable_writes`.
    pub durable_writes: bool,
    /// `tables`, by `table_name`.
    pub tables: BTreeMap<String, TableSchema>,
    /// `views`, by `view_name`.
    pub views: BTreeMap<String, ViewSchema>,
    /// `types`, by `type_name`: `field_names` and `field_types`, in order.
    pub types: BTreeMap<String, Vec<(String, String)>>,
    /// `indexes`, by `index_name`, which is unique in a keyspace.
    pub indexes: BTreeMap<String, IndexSchema>,
    /// `functions`.
    pub functions: Vec<FunctionSchema>,
    /// `aggregates`.
    pub aggregates: Vec<AggregateSchema>,
}

/// A row of `tables` with those of `columns` and `dropped_columns`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableSchema {
    /// `columns`, by `column_name`.
    pub columns: BTreeMap<String, ColumnSchema>,
    /// `dropped_columns`, by `column_name`; a column that was added again is still here.
    pub dropped: BTreeMap<String, DroppedColumn>,
    /// `flags`.
    pub flags: BTreeSet<String>,
    /// All other columns: comment, compaction, `gc_grace_seconds` …, and `id`.
    pub options: Options,
}

/// A row of `columns`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSchema {
    /// `partition_key`, `clustering`, `static` or `regular`.
    pub kind: String,
    /// Its place among those of its kind, from 0; -1 outside of the key.
    pub position: i32,
    /// `asc`, `desc` or `none`.
    pub clustering_order: String,
    /// Its type.
    pub column_type: String,
}

/// A row of `dropped_columns`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedColumn {
    /// `static` or `regular`; servers before Cassandra 4 do not say it.
    pub kind: Option<String>,
    /// The type that it had.
    pub column_type: String,
}

/// A row of `views`, with those of `columns`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewSchema {
    /// `base_table_name`.
    pub base: String,
    /// `where_clause`.
    pub where_clause: String,
    /// `include_all_columns`.
    pub include_all_columns: bool,
    /// Its columns and options.
    pub table: TableSchema,
}

/// A row of `indexes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexSchema {
    /// `table_name`.
    pub table: String,
    /// `KEYS`, `COMPOSITES` or `CUSTOM`.
    pub kind: String,
    /// `target`, `class_name` and what it was created with.
    pub options: BTreeMap<String, String>,
}

/// A row of `functions`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionSchema {
    /// `function_name`.
    pub name: String,
    /// `argument_names` and `argument_types`, in order.
    pub arguments: Vec<(String, String)>,
    /// `body`.
    pub body: String,
    /// `called_on_null_input`.
    pub called_on_null: bool,
    /// `language`.
    pub language: String,
    /// `return_type`.
    pub return_type: String,
}

/// A row of `aggregates`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AggregateSchema {
    /// `aggregate_name`.
    pub name: String,
    /// `argument_types`, in order.
    pub argument_types: Vec<String>,
    /// `state_func`.
    pub state_function: String,
    /// `state_type`.
    pub state_type: String,
    /// `final_func`.
    pub final_function: Option<String>,
    /// `initcond`.
    pub initial: Option<String>,
}

/// A role as the servers' own tables show it, without its password.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleSchema {
    /// `can_login`.
    pub can_login: bool,
    /// `is_superuser`.
    pub is_superuser: bool,
    /// `member_of`: the roles that are granted to it.
    pub member_of: BTreeSet<String>,
    /// `role_permissions`: by `resource`, which of them.
    pub permissions: BTreeMap<String, BTreeSet<String>>,
}

/// What can be seen of a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoleSight {
    /// The session's user may not read the tables of roles, or the server has none.
    Hidden,
    /// There is no such role.
    Absent,
    /// There is one.
    There(RoleSchema),
}
