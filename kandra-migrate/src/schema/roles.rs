//! Reads a role's rows of the servers' own tables.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use scylla::cluster::Node;
use scylla::value::CqlValue;

use super::shape::{RoleSchema, RoleSight};
use crate::cql::literal;
use crate::driver::{Database, Grid, Outcome, Record, Request, pin};
use crate::port::SendError;

/// `ScyllaDB` has them in `system` since 6.0, and may keep older ones in `system_auth` that count no more.
const KEYSPACES: [&str; 2] = ["system", "system_auth"];

/// A role, asked of `node`, or of any, at a quorum: on Cassandra roles are data, and not each node has them.
pub(crate) async fn role(
    database: &Database,
    role: &str,
    node: Option<Arc<Node>>,
    timeout: Duration,
) -> Result<RoleSight, SendError> {
    let tables = Tables { database, node, timeout };
    for keyspace in KEYSPACES {
        // Any role: none at all means that these tables are not in use.
        if tables.read(keyspace, "roles", "LIMIT 1").await?.is_none_or(|roles| roles.first().is_none()) {
            continue;
        }
        let key = format!("WHERE role = {}", literal(role));
        let Some(roles) = tables.read(keyspace, "roles", &key).await? else { break };
        let Some(row) = roles.first() else { return Ok(RoleSight::Absent) };
        let Some(permissions) = tables.read(keyspace, "role_permissions", &key).await? else { break };
        return Ok(RoleSight::There(RoleSchema {
            can_login: row.bool("can_login").unwrap_or_default(),
            is_superuser: row.bool("is_superuser").unwrap_or_default(),
            member_of: names(&row, "member_of"),
            permissions: permissions.rows().map(|row| of_resource(&row)).collect::<BTreeMap<_, _>>(),
        }));
    }
    Ok(RoleSight::Hidden)
}

struct Tables<'a> {
    database: &'a Database,
    node: Option<Arc<Node>>,
    timeout: Duration,
}

impl Tables<'_> {
    /// `None` where the user may not, or there is no such table.
    async fn read(&self, keyspace: &str, table: &str, rest: &str) -> Result<Option<Grid>, SendError> {
        // Named one by one: the hash of the password is not asked for.
        let columns = match table {
            "roles" => "role, can_login, is_superuser, member_of",
            _ => "resource, permissions",
        };
        let text = format!("SELECT {columns} FROM {keyspace}.{table} {rest}");
        let mut statement = self.database.statement(text, self.database.quorum(), self.timeout);
        if let Some(node) = &self.node {
            pin(&mut statement, node);
        }
        let result = match self.database.send(statement).await {
            Ok(result) => result,
            Err(error) => {
                return match Outcome::of(&error, Request::Read) {
                    Outcome::Invalid | Outcome::Unauthorized => Ok(None),
                    outcome => {
                        Err(outcome.into_send_result(error).expect_err("a read that failed has no effect"))
                    }
                };
            }
        };
        Grid::from_result(result).map(Some).map_err(|error| SendError::Passing(Arc::new(error)))
    }
}

fn of_resource(row: &Record<'_>) -> (String, BTreeSet<String>) {
    (row.text("resource").unwrap_or_default().to_owned(), names(row, "permissions"))
}

fn names(row: &Record<'_>, column: &str) -> BTreeSet<String> {
    let Some(CqlValue::Set(values)) = row.get(column) else { return BTreeSet::new() };
    values.iter().filter_map(CqlValue::as_text).cloned().collect()
}
