//! The users, in the table that the migrations have made.

use std::sync::Arc;

use scylla::client::session::Session;
use scylla::statement::prepared::PreparedStatement;
use serde::Serialize;

use crate::Failure;

#[derive(Debug, Serialize)]
pub(crate) struct User {
    id: i64,
    name: Option<String>,
    /// Not there before the backfill has come to this user.
    first_name: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Users {
    session: Arc<Session>,
    by_id: PreparedStatement,
}

impl Users {
    /// The table has to be there.
    pub(crate) async fn new(session: Arc<Session>, keyspace: &str) -> Result<Self, Failure> {
        let by_id = session
            .prepare(format!("SELECT id, name, first_name FROM {keyspace}.users WHERE id = ?"))
            .await?;
        Ok(Self { session, by_id })
    }

    pub(crate) async fn find(&self, id: i64) -> Result<Option<User>, Failure> {
        let rows = self.session.execute_unpaged(&self.by_id, (id,)).await?.into_rows_result()?;
        let user = rows.maybe_first_row::<(i64, Option<String>, Option<String>)>()?;
        Ok(user.map(|(id, name, first_name)| User { id, name, first_name }))
    }
}
