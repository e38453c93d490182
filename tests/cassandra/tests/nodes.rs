//! Real nodes: that they serve, keep their data, and end with the process that asked for them.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{self, Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cassandra::{Cluster, Error, Settings, State, fresh_keyspace_name};

const GONE_SECS_MAX: u64 = 30;
const HOLD_SECS_MAX: u64 = 300;

/// What a holder is to hold: `private`, `shared`, or the port of a private cluster.
const HOLD: &str = "KANDRA_TEST_HOLD";

#[test]
fn a_node_serves_and_keeps_its_data_through_pause_kill_and_stop() {
    let cluster = Cluster::start(Settings::nodes(1)).unwrap();
    let node = cluster.node(1).unwrap();
    assert_eq!(node.state(), State::Serving);
    let keyspace = fresh_keyspace_name("restart");
    let run = |statement: &str| node.cql(&statement.replace("ks.", &format!("{keyspace}."))).unwrap();
    run(&format!(
        "CREATE KEYSPACE {keyspace} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}"
    ));
    run("CREATE TABLE ks.t (id int PRIMARY KEY, names set<text>)");
    run("INSERT INTO ks.t (id, names) VALUES (7, {'a', 'b'})");
    let row = || run("SELECT id, names FROM ks.t").to_string();
    assert_eq!(row(), "id  names\n7   {a, b}\n");

    node.pause().unwrap();
    assert_eq!(node.state(), State::Paused);
    TcpStream::connect(node.address()).expect("a paused node still accepts connections");
    node.resume().unwrap();
    assert_eq!(row(), "id  names\n7   {a, b}\n");

    let before = node.pid();
    node.kill().unwrap();
    assert_eq!((node.pid(), node.state()), (None, State::Down));
    assert!(matches!(node.kill(), Err(Error::NotRunning { number: 1, .. })));
    node.start().unwrap();
    assert_ne!(node.pid(), before);
    assert_eq!(row(), "id  names\n7   {a, b}\n");

    node.stop().unwrap();
    assert!(fs::read_to_string(node.log_path()).unwrap().contains("Announcing shutdown"), "in good order");
    node.start().unwrap();
    assert_eq!(row(), "id  names\n7   {a, b}\n");

    let (pid, folder) = (node.pid().unwrap(), cluster.folder().to_owned());
    drop(cluster);
    assert!(!is_alive(pid) && !folder.exists(), "a cluster ends when it is dropped");
}

#[test]
fn nodes_end_when_their_user_is_killed() {
    let mut holder = Holder::start("private");
    let held = holder.held();
    assert!(is_alive(held.node));
    holder.kill();
    await_gone(held.node);
    await_that("its folder is removed", || !held.folder.exists());
}

#[test]
fn nodes_that_an_earlier_crash_left_behind_are_replaced() {
    let port = 19_200 + u16::try_from(process::id() % 500).unwrap();
    let mut holder = Holder::start(&port.to_string());
    let left = holder.held();
    kill(parent(left.node));
    holder.kill();
    assert!(is_alive(left.node), "without its keeper nothing ends a node");

    let settings = Settings { cql_port: Some(port), ..Settings::nodes(1) };
    let cluster = Cluster::start(settings.clone()).unwrap();
    assert!(!is_alive(left.node));
    assert_eq!(cluster.folder(), left.folder);
    assert_eq!(cluster.node(1).unwrap().state(), State::Serving);

    let error = Cluster::start(settings).unwrap_err();
    assert!(matches!(error, Error::ClusterRuns { nodes: 1, port: found, .. } if found == port), "{error}");
}

#[test]
fn another_programs_port_is_left_alone() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let settings = Settings { cql_port: Some(address.port()), ..Settings::nodes(1) };
    let error = Cluster::start(settings).unwrap_err();
    assert!(error.to_string().starts_with(&format!("{address} is in use by another program")), "{error}");
    TcpStream::connect(address).expect("the other program still listens");
}

#[test]
fn the_tests_of_one_cargo_share_a_cluster_that_ends_with_it() {
    let mut cargo = Cargo::start();
    cargo.run_holder();
    cargo.run_holder();
    let (first, second) = (cargo.held(), cargo.held());
    assert_ne!(first.holder, second.holder);
    assert_eq!((first.node, &first.folder), (second.node, &second.folder), "two that start at once share");

    for holder in [first.holder, second.holder] {
        kill(holder);
        await_gone(holder);
    }
    cargo.run_holder();
    let third = cargo.held();
    assert_eq!(third.node, first.node, "it waits for the next test binary");

    kill(third.holder);
    cargo.kill();
    await_gone(first.node);
    await_that("its folder is removed", || !first.folder.exists());
}

/// Not a test: the process that other tests start and kill.
#[test]
#[ignore = "run by the other tests"]
fn holder() {
    let Ok(what) = env::var(HOLD) else { return };
    let report = |pid: u32, folder: &Path| println!("\nheld {} {pid} {}", process::id(), folder.display());
    let cluster;
    if what == "shared" {
        let shared = Cluster::shared(1).unwrap();
        let found = Cluster::find(shared.contact_points()[0].port()).unwrap();
        report(found.node(1).unwrap().pid().unwrap(), found.folder());
    } else {
        cluster = Cluster::start(Settings { cql_port: what.parse().ok(), ..Settings::nodes(1) }).unwrap();
        report(cluster.node(1).unwrap().pid().unwrap(), cluster.folder());
    }
    // Killed long before that, unless the test that started it was.
    thread::sleep(Duration::from_secs(HOLD_SECS_MAX));
}

/// What a holder has.
struct Held {
    holder: u32,
    node: u32,
    folder: PathBuf,
}

/// Reads what the next holder has, which it says once its cluster serves.
fn read_held(lines: &mut Lines<BufReader<ChildStdout>>) -> Held {
    let line =
        lines.map(Result::unwrap).find(|line| line.starts_with("held ")).expect("a holder holds a cluster");
    let mut words = line.splitn(4, ' ').skip(1);
    let mut word = || words.next().unwrap();
    Held { holder: word().parse().unwrap(), node: word().parse().unwrap(), folder: word().into() }
}

/// A process that has a cluster.
struct Holder {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Holder {
    fn start(what: &str) -> Self {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "holder", "--ignored", "--nocapture"])
            .env(HOLD, what)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn held(&mut self) -> Held {
        read_held(&mut self.lines)
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// A shell by the name of `cargo`, which runs holders as the real one runs test binaries.
struct Cargo {
    child: Child,
    commands: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    folder: PathBuf,
}

impl Cargo {
    fn start() -> Self {
        let folder = env::temp_dir().join(fresh_keyspace_name("cargo"));
        fs::create_dir(&folder).unwrap();
        let program = folder.join("cargo");
        symlink("/bin/sh", &program).unwrap();
        let mut child = Command::new(program)
            .env("HOLDER", env::current_exe().unwrap())
            .env(HOLD, "shared")
            // Nobody else has such a heap, so nobody else shares this cluster.
            .env("KANDRA_CASSANDRA_HEAP_MIB", (480 + process::id() % 32).to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let commands = child.stdin.take().unwrap();
        Self { child, commands, lines, folder }
    }

    fn run_holder(&mut self) {
        writeln!(self.commands, r#""$HOLDER" --exact holder --ignored --nocapture &"#).unwrap();
    }

    fn held(&mut self) -> Held {
        read_held(&mut self.lines)
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Cargo {
    fn drop(&mut self) {
        let _ = self.child.kill().and_then(|()| self.child.wait());
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn kill(pid: u32) {
    let killed = Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    assert!(killed.success());
}

fn parent(pid: u32) -> u32 {
    ps("ppid=", pid).unwrap().parse().unwrap()
}

/// One that has ended but was not waited for yet is not alive.
fn is_alive(pid: u32) -> bool {
    ps("stat=", pid).is_some_and(|state| !state.starts_with('Z'))
}

fn ps(column: &str, pid: u32) -> Option<String> {
    let output = Command::new("ps").args(["-o", column, "-p", &pid.to_string()]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    (!text.is_empty()).then_some(text)
}

fn await_gone(pid: u32) {
    await_that(&format!("process {pid} is gone"), || !is_alive(pid));
}

fn await_that(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(GONE_SECS_MAX);
    while !holds() {
        assert!(Instant::now() < deadline, "not within {GONE_SECS_MAX} s: {what}");
        thread::sleep(Duration::from_millis(50));
    }
}
