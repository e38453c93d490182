//! One instance of an application, which tests start and kill: `instance HOSTS KEYSPACE [brief [STEP] | backfill | copy |
//! start | deferred [STEP]]`.
//!
//! It is the fleet's; with `brief` it has a short lease, and hangs in the step. With `backfill` and `copy` it is another
//! one, whose migrations take long; with `start` and `deferred` a third one, of which a part is deferred. Prints one line:
//! `ok` and the report, or the error.

mod backfill;
mod copy;
mod deferred;

use std::time::Duration;

use integration::{Keyspace, MIGRATIONS, connect_to, execution, log};
use kandra_migrate::{Registry, Runner};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    log();
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [hosts, name, rest @ ..] = &arguments[..] else {
        panic!("usage: instance HOSTS KEYSPACE [brief [STEP] | backfill | copy | start | deferred [STEP]]");
    };
    if let [_, step] = rest {
        execution::hang_in(step);
    }
    let keyspace = Keyspace { session: connect_to(hosts.split(',')).await, name: name.clone() };
    let (backfill, copy, deferred) = (backfill::registry(), copy::registry(), deferred::registry());
    let manner = rest.first().map_or("", String::as_str);
    let runner = match manner {
        "" => keyspace.runner(&MIGRATIONS),
        "backfill" => impatient(&keyspace, &backfill),
        "copy" => impatient(&keyspace, &copy),
        "start" | "deferred" => keyspace.brief_runner(&deferred),
        _ => keyspace.brief_runner(&MIGRATIONS),
    };
    let runner = runner.application("instance");
    let ended = if manner == "deferred" { runner.run_deferred().await } else { runner.run().await };
    match ended {
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
