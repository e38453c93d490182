//! kandra-migrate in a minute, on a real node: `cargo run -p quickstart`.
//!
//! Read [`migrations`] first, then [`instance`]: that is all that a service has to write. The rest tells the story: it
//! starts instances, kills one of them, and checks that what it prints is so.

mod fleet;
mod instance;
mod migrations;
mod story;

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use cassandra::fresh_keyspace_name;
use fleet::{INSTANCE, Site};
use instance::Arguments;
use scylla::client::session::Session;
use tokio::task::spawn_blocking;

/// Whatever stops this program.
type Failure = Box<dyn Error + Send + Sync>;

/// More replicas show nothing that three do not.
const REPLICAS_MAX: usize = 3;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ended = match arguments.as_slice() {
        [] => quickstart().await,
        [first, name, release, keyspace, hosts] if first == INSTANCE => {
            instance::run(Arguments {
                name: name.clone(),
                release: release.clone(),
                keyspace: keyspace.clone(),
                hosts: hosts.split(',').map(str::to_owned).collect(),
            })
            .await
        }
        _ => Err("usage: cargo run -p quickstart".into()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("FAILED: {error}");
            ExitCode::FAILURE
        }
    }
}

/// On a fresh keyspace of `KANDRA_TEST_HOSTS`, or of a node that is started for it and ends with it.
async fn quickstart() -> Result<(), Failure> {
    let database = spawn_blocking(|| cassandra::database(1)).await??;
    let hosts = database.contact_points().to_vec();
    let session = Arc::new(instance::connect(&hosts).await?);
    let keyspace = fresh_keyspace_name("quickstart");
    create_keyspace(&session, &keyspace).await?;
    println!("Cassandra at {}, keyspace {keyspace}", hosts.join(", "));

    let site = Site { keyspace, hosts };
    let told = story::tell(&session, &site).await;
    session.query_unpaged(format!("DROP KEYSPACE {}", site.keyspace), ()).await?;
    told
}

async fn create_keyspace(session: &Session, keyspace: &str) -> Result<(), Failure> {
    let replicas = session.get_cluster_state().get_nodes_info().len().min(REPLICAS_MAX);
    let replication = format!("{{'class': 'NetworkTopologyStrategy', 'replication_factor': {replicas}}}");
    session.query_unpaged(format!("CREATE KEYSPACE {keyspace} WITH replication = {replication}"), ()).await?;
    session.await_schema_agreement().await?;
    Ok(())
}
