//! Reads the ledger and the effects.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use scylla::DeserializeRow;
use scylla::deserialize::row::DeserializeRow as FromRow;
use scylla::policies::load_balancing::{NodeIdentifier, SingleTargetLoadBalancingPolicy};
use scylla::statement::Consistency;
use scylla::statement::unprepared::Statement;
use uuid::Uuid;

use crate::check::{Ended, Event, Head, Record};
use crate::trouble::{Result, Trouble};
use crate::world::World;

/// What all rows of the ledger are read by, the head's, the versions', the steps' and the events'.
#[derive(DeserializeRow)]
struct LedgerRow {
    kind: i8,
    version: i64,
    n: i64,
    epoch: Option<i64>,
    rev: Option<i64>,
    owner: Option<Uuid>,
    owner_info: Option<String>,
    state: Option<String>,
    actor: Option<String>,
    event: Option<String>,
    error: Option<String>,
}

/// The ledger and the effects of a keyspace.
pub(crate) async fn read(world: &World, keyspace: &str) -> Result<Record> {
    let mut record = Record::default();
    let ledger = kandra_migrate::LEDGER_TABLE;
    let text = format!(
        "SELECT kind, version, n, epoch, rev, owner, owner_info, state, actor, event, error FROM {keyspace}.{ledger} \
         WHERE keyspace_name = '{keyspace}'"
    );
    schema(world, keyspace, &mut record).await?;
    if record.tables.contains_key(ledger) {
        for row in rows::<LedgerRow>(world, text, Consistency::Serial).await? {
            note(&mut record, row);
        }
    }
    if record.tables.contains_key("items") {
        let text = format!("SELECT id, name FROM {keyspace}.items");
        record.items =
            rows::<(i32, Option<String>)>(world, text, Consistency::Quorum).await?.into_iter().collect();
    }
    let text = format!("SELECT task, execution FROM faults.effects WHERE scene = '{keyspace}'");
    for (task, execution) in rows::<(String, Uuid)>(world, text, Consistency::Quorum).await? {
        record.executions.entry(task).or_default().insert(execution);
    }
    Ok(record)
}

fn note(record: &mut Record, row: LedgerRow) {
    match row.kind {
        0 => {
            let owner = row.owner.map(|_| row.owner_info.unwrap_or_default());
            let (epoch, rev) = (row.epoch.unwrap_or_default(), row.rev.unwrap_or_default());
            record.head = Some(Head { epoch, rev, owner });
        }
        1 => {
            record.versions.insert(row.version, row.state.unwrap_or_default());
        }
        2 => {
            record.steps.insert((row.version, row.n), row.state.unwrap_or_default());
        }
        3 => {
            let (actor, text) = (row.actor.unwrap_or_default(), row.event.unwrap_or_default());
            record.events.push(Event { rev: row.n, actor, text, error: row.error });
        }
        _ => {}
    }
}

/// What each node that answers has in its schema.
async fn schema(world: &World, keyspace: &str, record: &mut Record) -> Result<()> {
    let state = world.session.get_cluster_state();
    let mut views = 0;
    let (mut columns, mut indexes) = (BTreeMap::new(), BTreeMap::new());
    for node in state.get_nodes_info().iter().filter(|node| node.is_connected()) {
        let of = |table: &str, names: &str| {
            let text =
                format!("SELECT {names} FROM system_schema.{table} WHERE keyspace_name = '{keyspace}'");
            let mut statement = Statement::new(text);
            let target = NodeIdentifier::Node(node.clone());
            statement.set_load_balancing_policy(Some(SingleTargetLoadBalancingPolicy::new(target, None)));
            statement
        };
        for (table, id) in
            rows::<(String, Uuid)>(world, of("tables", "table_name, id"), Consistency::One).await?
        {
            record.tables.entry(table).or_default().insert(id);
        }
        let names = of("columns", "table_name, column_name");
        for column in rows::<(String, String)>(world, names, Consistency::One).await? {
            *columns.entry(column).or_insert(0) += 1;
        }
        for (index,) in rows::<(String,)>(world, of("indexes", "index_name"), Consistency::One).await? {
            *indexes.entry(index).or_insert(0) += 1;
        }
        views += 1;
    }
    record.columns = on_all(columns, views);
    record.indexes = on_all(indexes, views);
    Ok(())
}

fn on_all<T: Ord>(found: BTreeMap<T, usize>, views: usize) -> BTreeSet<T> {
    found.into_iter().filter(|(_, count)| *count == views).map(|(name, _)| name).collect()
}

async fn rows<T>(world: &World, statement: impl Into<Statement>, level: Consistency) -> Result<Vec<T>>
where
    T: for<'frame, 'metadata> FromRow<'frame, 'metadata>,
{
    let mut statement = statement.into();
    let what = statement.contents.clone();
    let failed = |error: String| Trouble::database(what.clone(), error);
    statement.set_consistency(level);
    let answer =
        world.session.query_unpaged(statement, ()).await.map_err(|error| failed(error.to_string()))?;
    let answer = answer.into_rows_result().map_err(|error| failed(error.to_string()))?;
    let rows = answer.rows::<T>().map_err(|error| failed(error.to_string()))?;
    rows.collect::<std::result::Result<_, _>>().map_err(|error| failed(error.to_string()))
}

/// For a person who looks at a violation.
pub(crate) fn describe(record: &Record, ended: &[Ended]) -> String {
    let mut text = String::new();
    for event in &record.events {
        let error = event.error.as_deref().map(|error| format!("  ({error})")).unwrap_or_default();
        // Writing into a String does not fail.
        let _ = write!(
            text,
            "\n    {:>4}  {}  {}{error}",
            event.rev,
            event.text.replace('\n', ", "),
            event.actor
        );
    }
    for ended in ended {
        let _ = write!(text, "\n    {}: {}", ended.run, ended.text.replace('\n', " "));
    }
    let _ = write!(
        text,
        "\n    effects {:?}, items {:?}, head {:?}",
        record.executions, record.items, record.head
    );
    text
}

/// The ids that a table has, on the nodes that answer.
pub(crate) async fn table_ids(world: &World, keyspace: &str, table: &str) -> Result<BTreeSet<Uuid>> {
    let mut record = Record::default();
    schema(world, keyspace, &mut record).await?;
    Ok(record.tables.remove(table).unwrap_or_default())
}
