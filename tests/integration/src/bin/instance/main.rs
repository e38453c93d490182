//! One instance of an application, which tests start and kill: `instance HOSTS KEYSPACE [brief [STEP] | backfill | copy]`.
//!
//! It is the fleet's; with `brief` it has a short lease, and hangs in the step. With `backfill` and
//! `copy` it is another one, whose migrations take long. Prints one line: `ok` and the report, or the error.

mod backfill;
mod copy;

use std::time::Duration;

use integration::{Keyspace, MIGRATIONS, connect_to, execution, log};
use kandra_migrate::{Registry, Runner};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    log();
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [hosts, name, rest @ ..] = &arguments[..] else {
        panic!("usage: instance HOSTS KEYSPACE [brief [STEP] | backfill | copy]");
    };
    if let [_, step] = rest {
        execution::hang_in(step);
    }
    let keyspace = Keyspace { session: connect_to(hosts.split(',')).await, name: name.clone() };
    let (backfill, copy) = (backfill::registry(), copy::registry());
    let runner = match rest {
        [] => keyspace.runner(&MIGRATIONS),
        [manner] if manner == "backfill" => impatient(&keyspace, &backfill),
        [manner] if manner == "copy" => impatient(&keyspace, &copy),
        _ => keyspace.brief_runner(&MIGRATIONS),
    };
    match runner.application("instance").run().await {
        Ok(report) => println!("ok {report}"),
        Err(error) => println!("{error}"),
    }
}

/// The shortest times that a busy machine bears: the tests wait for them again and again.
fn impatient<'r>(keyspace: &Keyspace, registry: &'r Registry) -> Runner<'r> {
    keyspace
        .runner(registry)
        .lease(Duration::from_secs(9))
        .heartbeat(Duration::from_secs(2))
        .statement_timeout(Duration::from_secs(4))
        .drain(Duration::from_secs(4))
}
