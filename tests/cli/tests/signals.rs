//! Ctrl-C and SIGTERM during a run.

use rustix::process::Signal;

use crate::shop::{AtWork, Shop};

#[test]
fn the_first_ctrl_c_gives_the_lease_back() {
    let mut shop = Shop::open("first");
    shop.deploy("count");
    let at_work = AtWork::start(&shop, &["run"]);
    at_work.signal(Signal::INT);
    let printed = at_work.wait();
    assert_eq!(printed.exit, 130, "{}", printed.stderr);
    assert!(printed.stderr.contains("error: KM0062 "), "{}", printed.stderr);
    let status = shop.expect(0, &["status"]);
    assert!(status.stdout.starts_with("lease: free\n"), "{}", status.stdout);
    // What the error says next, at work again and let to its end.
    let at_work = AtWork::start(&shop, &["run", "--wait", "0"]);
    at_work.open_gate();
    assert_eq!(at_work.wait().exit, 0);
    shop.expect(0, &["verify", "--exit-code"]);
}

#[test]
fn sigterm_is_as_graceful_and_exits_with_143() {
    let mut shop = Shop::open("first");
    shop.deploy("count");
    let at_work = AtWork::start(&shop, &["run"]);
    at_work.signal(Signal::TERM);
    assert_eq!(at_work.wait().exit, 143);
    let status = shop.expect(0, &["status"]);
    assert!(status.stdout.starts_with("lease: free\n"), "{}", status.stdout);
}

#[test]
fn the_second_ctrl_c_stops_at_once_even_a_task_that_blocks() {
    let mut shop = Shop::open("first");
    shop.deploy("block");
    let at_work = AtWork::start(&shop, &["run"]);
    at_work.signal(Signal::INT);
    at_work.await_stderr("stopping once");
    at_work.signal(Signal::INT);
    assert_eq!(at_work.wait().exit, 130);
    let status = shop.expect(0, &["status"]);
    assert!(status.stdout.starts_with("lease: held by host pid "), "{}", status.stdout);
}

#[test]
fn other_verbs_end_at_the_first_signal() {
    let mut shop = Shop::open("first");
    shop.deploy("count");
    let waiting = AtWork::spawn(&shop, &["wait"]);
    waiting.await_stderr("waiting for a run");
    waiting.signal(Signal::TERM);
    assert_eq!(waiting.wait().exit, 143);
}
