//! Processes of this machine: who is who, and signals.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{self, Command};

use rustix::process::{Pid, Signal, kill_process};

/// How far up `cargo` is looked for: cargo, rustdoc, a wrapper script or two, the test.
const ANCESTORS_MAX: usize = 8;

/// The command line of a process. A process that has ended but was not yet waited for has none.
pub(crate) fn command_line(pid: u32) -> Option<String> {
    let line = if cfg!(target_os = "linux") {
        let raw = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        String::from_utf8_lossy(&raw).replace('\0', " ")
    } else {
        ps(pid, "command=")?
    };
    (!line.is_empty()).then_some(line)
}

/// Whether the process is about to end: it has no command line any more, and may still hold its ports.
pub(crate) fn is_ending(pid: u32) -> bool {
    let waits_for_parent = |state: &str| state == "Z" || state == "X";
    let state = linux_stat(pid).map(|(_, state, _)| state);
    command_line(pid).is_none() && state.is_some_and(|state| !waits_for_parent(&state))
}

/// Whether the process was stopped by a signal, as by [`pause`](crate::Node::pause).
pub(crate) fn is_stopped(pid: u32) -> bool {
    let state =
        if cfg!(target_os = "linux") { linux_stat(pid).map(|(_, state, _)| state) } else { ps(pid, "stat=") };
    state.is_some_and(|state| state.starts_with('T'))
}

/// The `cargo` (or `cargo nextest`) that runs this process, if one does: the life of a whole test run.
pub(crate) fn cargo() -> Option<u32> {
    let mut pid = process::id();
    for _ in 0..ANCESTORS_MAX {
        let (name, parent) = name_and_parent(pid)?;
        if name == "cargo" || name == "cargo-nextest" {
            return Some(pid);
        }
        pid = parent;
    }
    None
}

/// Sends a signal to a process that is known to be ours.
pub(crate) fn signal(pid: u32, signal: Signal) -> io::Result<()> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(kill_process(pid, signal)?)
}

fn name_and_parent(pid: u32) -> Option<(String, u32)> {
    if cfg!(target_os = "linux") {
        return linux_stat(pid).map(|(name, _, parent)| (name, parent));
    }
    let path = ps(pid, "comm=")?;
    let name = Path::new(&path).file_name()?.to_string_lossy().into_owned();
    Some((name, ps(pid, "ppid=")?.parse().ok()?))
}

/// Name, state and parent. The name stands in parentheses and may hold any character.
fn linux_stat(pid: u32) -> Option<(String, String, u32)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (head, tail) = stat.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    let mut fields = tail.split_whitespace();
    let state = fields.next()?.to_owned();
    Some((name.to_owned(), state, fields.next()?.parse().ok()?))
}

fn ps(pid: u32, column: &str) -> Option<String> {
    let output = Command::new("ps").args(["-ww", "-o", column, "-p", &pid.to_string()]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_runs_and_has_a_name() {
        let (name, parent) = name_and_parent(process::id()).unwrap();
        assert!(name.starts_with("cassandra"), "{name}");
        assert_ne!(parent, 0);
        assert!(command_line(process::id()).unwrap().contains("cassandra"));
        assert!(!is_stopped(process::id()));
    }

    #[test]
    fn a_process_that_ended_has_no_command_line() {
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        assert_eq!(command_line(child.id()), None);
        assert!(!is_ending(child.id()));
        assert!(!is_ending(process::id()));
    }

    #[test]
    fn ps_agrees_with_proc() {
        assert_eq!(
            ps(process::id(), "ppid="),
            name_and_parent(process::id()).map(|(_, parent)| parent.to_string())
        );
    }
}
