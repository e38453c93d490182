//! What the ledger says, read without the crate under test.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::keyspace::Keyspace;

/// All of a keyspace that a run could change: its tables, and the rows of its ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// `table.column type` of each.
    pub columns: Vec<String>,
    /// The ledger's rows, as JSON.
    pub ledger: Vec<String>,
}

/// The ledger's head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// How often the lease was taken.
    pub epoch: i64,
    /// The run that has it.
    pub owner: Option<Uuid>,
    /// What the last write was about.
    pub active_state: Option<String>,
}

/// One entry of the audit trail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEvent {
    /// Who wrote it.
    pub actor: String,
    /// What, a line for each transition.
    pub lines: Vec<String>,
    /// With which error.
    pub error: Option<String>,
}

/// The journal of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepState {
    /// `DONE`, …
    pub state: String,
    /// Ambiguous starts.
    pub attempts: i64,
    /// The node that had the statement: host id and address.
    pub coordinator: Option<String>,
}

const LEDGER: &str = "ks.kandra_migrations WHERE keyspace_name = '@' AND scope = 'main'";

impl Keyspace {
    /// What a run could change, as it is now, on all nodes.
    ///
    /// # Panics
    /// Where the nodes do not agree on it.
    pub async fn snapshot(&self) -> Snapshot {
        self.session.await_schema_agreement().await.expect("schema agreement");
        let columns =
            "SELECT table_name, column_name, type FROM system_schema.columns WHERE keyspace_name = '@'";
        let columns = self.rows::<(String, String, String)>(&self.of(columns)).await;
        let columns: Vec<_> =
            columns.into_iter().map(|(table, column, kind)| format!("{table}.{column} {kind}")).collect();
        let mut ledger = Vec::new();
        if columns.iter().any(|column| column.starts_with("kandra_migrations.")) {
            let rows = self.rows::<(String,)>("SELECT JSON * FROM ks.kandra_migrations").await;
            ledger.extend(rows.into_iter().map(|(row,)| row));
        }
        Snapshot { columns, ledger }
    }

    /// The head; `None` where there is none.
    pub async fn head(&self) -> Option<Head> {
        let text = format!("SELECT epoch, owner, active_state FROM {LEDGER} AND kind = 0");
        let row = self.rows::<(i64, Option<Uuid>, Option<String>)>(&self.of(&text)).await.pop();
        row.map(|(epoch, owner, active_state)| Head { epoch, owner, active_state })
    }

    /// The state of each version that has a row.
    pub async fn versions(&self) -> BTreeMap<i64, String> {
        let text = format!("SELECT version, state FROM {LEDGER} AND kind = 1");
        self.rows::<(i64, String)>(&self.of(&text)).await.into_iter().collect()
    }

    /// The journal of a version.
    pub async fn steps(&self, version: i64) -> Vec<StepState> {
        let text =
            format!("SELECT state, attempts, coordinator FROM {LEDGER} AND kind = 2 AND version = {version}");
        let rows = self.rows::<(String, i64, Option<String>)>(&self.of(&text)).await;
        rows.into_iter()
            .map(|(state, attempts, coordinator)| StepState { state, attempts, coordinator })
            .collect()
    }

    /// The audit trail, oldest first.
    pub async fn events(&self) -> Vec<LedgerEvent> {
        let text = format!("SELECT actor, event, error FROM {LEDGER} AND kind = 3");
        let rows = self.rows::<(String, String, Option<String>)>(&self.of(&text)).await;
        rows.into_iter()
            .map(|(actor, text, error)| LedgerEvent {
                actor,
                lines: text.lines().map(str::to_owned).collect(),
                error,
            })
            .collect()
    }

    /// All lines of the audit trail that begin so.
    pub async fn lines(&self, prefix: &str) -> Vec<String> {
        let lines = self.events().await.into_iter().flat_map(|event| event.lines);
        lines.filter(|line| line.starts_with(prefix)).collect()
    }

    fn of(&self, cql: &str) -> String {
        cql.replace('@', &self.name)
    }
}
