//! What a statement on roles asks for, in terms that the servers' own tables of roles can be compared with.

use std::collections::BTreeSet;

use super::name::QualifiedName;

/// What a statement on roles, users, identities or permissions changes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RoleChange {
    /// CREATE ROLE, CREATE USER.
    Create {
        /// Its name.
        role: String,
        /// What it says.
        options: RoleOptions,
    },
    /// ALTER ROLE, ALTER USER.
    Alter {
        /// Its name.
        role: String,
        /// What it says.
        options: RoleOptions,
    },
    /// DROP ROLE, DROP USER.
    Drop {
        /// Its name.
        role: String,
    },
    /// GRANT or REVOKE of a role.
    Membership {
        /// The role that gets what the other one may, or loses it.
        role: String,
        /// The other one.
        of: String,
        /// GRANT.
        granted: bool,
    },
    /// GRANT or REVOKE of permissions.
    Permissions {
        /// The role that gets or loses them.
        role: String,
        /// In upper case; empty for ALL, which is another set on each server.
        permissions: BTreeSet<String>,
        /// On what.
        resource: Resource,
        /// GRANT.
        granted: bool,
    },
    /// ADD or DROP IDENTITY.
    Identity,
}

impl RoleChange {
    /// The role whose rows show the effect.
    #[must_use]
    pub fn role(&self) -> Option<&str> {
        match self {
            Self::Create { role, .. }
            | Self::Alter { role, .. }
            | Self::Drop { role }
            | Self::Membership { role, .. }
            | Self::Permissions { role, .. } => Some(role),
            Self::Identity => None,
        }
    }
}

/// What is said of a role. Passwords are not kept: they are never compared, and never in a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleOptions {
    /// LOGIN. CREATE USER says it by its name.
    pub login: Option<bool>,
    /// SUPERUSER.
    pub superuser: Option<bool>,
    /// Something that the servers do not show so that it can be compared: a password, OPTIONS, ACCESS.
    pub unseen: bool,
}

/// What permissions are on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Resource {
    /// ALL KEYSPACES.
    AllKeyspaces,
    /// KEYSPACE.
    Keyspace(String),
    /// ALL TABLES IN KEYSPACE.
    AllTables(String),
    /// TABLE, whose keyspace may be the session's.
    Table(QualifiedName),
    /// ALL ROLES.
    AllRoles,
    /// ROLE.
    Role(String),
    /// Functions, `MBeans` and what else there is.
    Other,
}

impl Resource {
    /// As the servers store it; a table without a keyspace is one of `keyspace`.
    #[must_use]
    pub fn stored(&self, keyspace: &str) -> Option<String> {
        Some(match self {
            Self::AllKeyspaces => "data".to_owned(),
            Self::Keyspace(name) => format!("data/{name}"),
            Self::AllTables(name) => format!("data/{name}/*"),
            Self::Table(table) => {
                format!("data/{}/{}", table.keyspace.as_deref().unwrap_or(keyspace), table.name)
            }
            Self::AllRoles => "roles".to_owned(),
            Self::Role(name) => format!("roles/{name}"),
            Self::Other => return None,
        })
    }
}
