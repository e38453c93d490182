//! One instance of the fleet's application, which tests start and kill: `instance HOSTS KEYSPACE [brief [STEP]]`.
//!
//! With `brief` it has a short lease; it hangs in the step. Prints one line: `ok` and the report, or the error.

use integration::{Keyspace, MIGRATIONS, connect_to, execution, log};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    log();
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [hosts, name, rest @ ..] = &arguments[..] else {
        panic!("usage: instance HOSTS KEYSPACE [brief [STEP]]");
    };
    if let [_, step] = rest {
        execution::hang_in(step);
    }
    let keyspace = Keyspace { session: connect_to(hosts.split(',')).await, name: name.clone() };
    let runner = match rest {
        [] => keyspace.runner(&MIGRATIONS),
        _ => keyspace.brief_runner(&MIGRATIONS),
    };
    match runner.application("instance").run().await {
        Ok(report) => println!("ok {report}"),
        Err(error) => println!("{error}"),
    }
}
