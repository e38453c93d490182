//! One instance of an application, which tests start and kill: `instance HOSTS KEYSPACE [brief [STEP] | backfill |
//! start | deferred [STEP]]`.
//!
//! It is the fleet's; with `brief` it has a short lease, and hangs in the step. With `backfill` it is another one, whose
//! migrations take long; with `start` and `deferred` a third one, of which a part is deferred. Prints one line: `ok` and the report, or the error.

mod backfill;
mod deferred;

use std::time::Duration;

use integration::{Keyspace, MIGRATIONS, connect_to, execution, log};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    log();
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [hosts, name, rest @ ..] = &arguments[..] else {
        panic!("usage: instance HOSTS KEYSPACE [brief [STEP] | backfill | start | deferred [STEP]]");
    };
    if let [_, step] = rest {
        execution::hang_in(step);
    }
    let keyspace = Keyspace { session: connect_to(hosts.split(',')).await, name: name.clone() };
    let deferred = deferred::registry();
    let manner = rest.first().map_or("", String::as_str);
    let runner = match manner {
        "" => keyspace.runner(&MIGRATIONS),
        // The shortest that a busy machine bears: the tests wait for it again and again.
        "backfill" => keyspace
            .runner(&backfill::BACKFILL)
            .lease(Duration::from_secs(9))
            .heartbeat(Duration::from_secs(2))
            .statement_timeout(Duration::from_secs(4))
            .drain(Duration::from_secs(4)),
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
