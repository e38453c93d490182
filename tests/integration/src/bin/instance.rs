//! One instance of the fleet's application, which tests start and kill: `instance HOSTS KEYSPACE [HANGING_STEP]`.
//!
//! Prints one line: `ok` and the report, or the error.

use integration::{Keyspace, MIGRATIONS, connect_to, execution, log};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    log();
    let mut arguments = std::env::args().skip(1);
    let (Some(hosts), Some(name)) = (arguments.next(), arguments.next()) else {
        panic!("usage: instance HOSTS KEYSPACE [HANGING_STEP]");
    };
    if let Some(step) = arguments.next() {
        execution::hang_in(&step);
    }
    let session = connect_to(hosts.split(',')).await;
    let keyspace = Keyspace { session, name };
    match keyspace.brief_runner(&MIGRATIONS).application("instance").run().await {
        Ok(report) => println!("ok {report}"),
        Err(error) => println!("{error}"),
    }
}
