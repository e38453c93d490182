//! A shop with a keyspace of its own, whose operator types commands.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use scylla::client::session_builder::SessionBuilder;

use crate::golden;

pub(crate) const SHOP: &str = env!("CARGO_BIN_EXE_shop");
pub(crate) const EXAMPLE: &str = env!("CARGO_BIN_EXE_embedded-cli");
pub(crate) const KANDRA: &str = env!("CARGO_BIN_EXE_kandra-under-test");

pub(crate) const REPLICATION: &str = "{'class': 'NetworkTopologyStrategy', 'replication_factor': 3}";

/// Longer than anything that a test waits for takes.
const WAIT_SECS_MAX: u64 = 120;

/// A shop, and what was typed and printed.
pub(crate) struct Shop {
    pub(crate) keyspace: String,
    binary: &'static str,
    url: String,
    migrations: &'static str,
    fails: bool,
    transcript: String,
}

/// What a command printed and returned.
pub(crate) struct Printed {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) exit: i32,
}

impl Shop {
    /// Without a keyspace: nothing was run.
    pub(crate) fn new(binary: &'static str) -> Self {
        let hosts = cassandra::database(3).expect("a database to test with").contact_points().join(",");
        let keyspace = cassandra::fresh_keyspace_name("cli");
        Self {
            url: format!("cassandra://{hosts}/{keyspace}"),
            keyspace,
            binary,
            migrations: "seed",
            fails: false,
            transcript: String::new(),
        }
    }

    /// With these migrations applied.
    pub(crate) fn open(migrations: &'static str) -> Self {
        let mut shop = Self::new(SHOP);
        shop.deploy(migrations);
        shop.expect(0, &["run", "--create-keyspace", REPLICATION]);
        shop
    }

    /// Sends a statement past all migrations, with `ks.` for the keyspace, as a person with another tool would.
    pub(crate) fn tinker(&self, cql: &str) {
        let hosts = self.url.trim_start_matches("cassandra://").split('/').next().unwrap_or_default();
        let cql = cql.replace("ks.", &format!("{}.", self.keyspace));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let session =
                SessionBuilder::new().known_nodes(hosts.split(',')).build().await.expect("a session");
            session.query_unpaged(cql, ()).await.expect("the statement is taken");
        });
    }

    /// From now on, the binary has these migrations.
    pub(crate) fn deploy(&mut self, migrations: &'static str) {
        self.migrations = migrations;
    }

    /// Whether code tasks fail from now on.
    pub(crate) fn fails(&mut self, fails: bool) {
        self.fails = fails;
    }

    /// A command that is not started yet.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("KANDRA_")) {
            command.env_remove(name);
        }
        command.env("KANDRA_URL", &self.url).env("SHOP", self.migrations);
        command.env("HOSTNAME", "host").env("USER", "alice").stdin(Stdio::null());
        if self.fails {
            command.env("SHOP_FAILS", "1");
        }
        command
    }

    /// Types a command.
    pub(crate) fn run(&mut self, arguments: &[&str]) -> Printed {
        let output = self.command(self.binary).args(arguments).output().expect("the binary starts");
        let name = match self.binary {
            SHOP => "shop",
            KANDRA => "kandra",
            _ => "embedded-cli",
        };
        let quoted = |argument: &&str| {
            if argument.contains(' ') { format!("\"{argument}\"") } else { (*argument).to_owned() }
        };
        let typed = arguments.iter().map(quoted).collect::<Vec<_>>().join(" ");
        self.note(&format!("{name} {typed}"), &output)
    }

    /// Types a command that an error has named, in a shell.
    pub(crate) fn run_line(&mut self, line: &str) -> Printed {
        let output = self.command("sh").args(["-c", line]).output().expect("sh starts");
        self.note(line, &output)
    }

    /// Types a command and expects this exit code.
    pub(crate) fn expect(&mut self, exit: i32, arguments: &[&str]) -> Printed {
        let printed = self.run(arguments);
        assert_eq!(printed.exit, exit, "{arguments:?}\n{}", self.transcript);
        printed
    }

    /// Follows the next step that an error names for this case, and expects that command to work.
    pub(crate) fn follow(&mut self, error: &Printed, case: &str) -> Printed {
        let line = error.way(case);
        let printed = self.run_line(&line);
        assert_eq!(printed.exit, 0, "{line}\n{}", self.transcript);
        printed
    }

    /// Compares everything that was typed and printed so far.
    pub(crate) fn assert_transcript(&self, name: &str) {
        golden::assert(name, &golden::normalised(&self.transcript, &self.keyspace));
    }

    fn note(&mut self, typed: &str, output: &Output) -> Printed {
        let printed = Printed::of(output);
        write!(self.transcript, "$ {typed}\n{}", printed.stdout).unwrap();
        if !printed.stderr.is_empty() {
            write!(self.transcript, "-- stderr\n{}", printed.stderr).unwrap();
        }
        writeln!(self.transcript, "-- exit {}\n", printed.exit).unwrap();
        printed
    }
}

impl Printed {
    pub(crate) fn of(output: &Output) -> Self {
        Self {
            stdout: String::from_utf8(output.stdout.clone()).unwrap(),
            stderr: String::from_utf8(output.stderr.clone()).unwrap(),
            exit: output.status.code().expect("an exit code"),
        }
    }

    /// The command that the error names for this case.
    pub(crate) fn way(&self, case: &str) -> String {
        let start = format!("  {case}:");
        let line = self.stderr.lines().find_map(|line| line.strip_prefix(&start));
        line.unwrap_or_else(|| panic!("no way for `{case}` in:\n{}", self.stderr)).trim().to_owned()
    }
}

/// A process that takes its time, with the files by which its task is watched and let go on.
pub(crate) struct AtWork {
    child: Child,
    stdout: Reading,
    stderr: Reading,
    folder: PathBuf,
}

/// What a process prints, as it prints it.
struct Reading {
    text: Arc<Mutex<String>>,
    thread: JoinHandle<()>,
}

impl AtWork {
    /// Starts a run, and waits until its task is at work.
    pub(crate) fn start(shop: &Shop, arguments: &[&str]) -> Self {
        let at_work = Self::spawn(shop, arguments);
        wait_until("the task is at work", || at_work.folder.join("started").exists());
        at_work
    }

    /// Starts a command.
    pub(crate) fn spawn(shop: &Shop, arguments: &[&str]) -> Self {
        let folder = std::env::temp_dir().join(&shop.keyspace);
        std::fs::create_dir_all(&folder).unwrap();
        let mut command = shop.command(SHOP);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("SHOP_STARTED", folder.join("started")).env("SHOP_GATE", folder.join("gate"));
        let mut child = command.spawn().expect("the binary starts");
        let stdout = Reading::of(child.stdout.take().unwrap());
        let stderr = Reading::of(child.stderr.take().unwrap());
        Self { child, stdout, stderr, folder }
    }

    /// Lets the task end.
    pub(crate) fn open_gate(&self) {
        std::fs::write(self.folder.join("gate"), "").unwrap();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("the process is there");
    }

    /// Waits until it has said this.
    pub(crate) fn await_stderr(&self, text: &str) {
        wait_until(text, || self.stderr.text.lock().unwrap().contains(text));
    }

    /// What it printed and returned, once it has ended.
    pub(crate) fn wait(mut self) -> Printed {
        wait_until("the process ends", || self.child.try_wait().unwrap().is_some());
        std::fs::remove_dir_all(&self.folder).unwrap();
        let exit = self.child.wait().unwrap().code().expect("an exit code");
        Printed { stdout: self.stdout.end(), stderr: self.stderr.end(), exit }
    }
}

impl Reading {
    fn of(mut pipe: impl Read + Send + 'static) -> Self {
        let text = Arc::new(Mutex::new(String::new()));
        let written = Arc::clone(&text);
        let thread = thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(bytes @ 1..) = pipe.read(&mut buffer) {
                written.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..bytes]));
            }
        });
        Self { text, thread }
    }

    fn end(self) -> String {
        self.thread.join().unwrap();
        self.text.lock().unwrap().clone()
    }
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(WAIT_SECS_MAX);
    while !is_so() {
        assert!(Instant::now() < deadline, "waited {WAIT_SECS_MAX} s until {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
