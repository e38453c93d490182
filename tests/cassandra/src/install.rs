//! Getting Java 17 and Maven onto this machine, with consent.

use std::io::{self, IsTerminal as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::geteuid;

use crate::error::{Doing as _, Error};
use crate::java::{Java, find_program};
use crate::terminal::{agrees, say};
use crate::wait::poll;

/// A slow line needs minutes for the packages.
const INSTALL_SECS_MAX: u64 = 1200;

const DOCKER: &str = "\
or, with Docker, one node of Cassandra 5.0:
    docker compose -f docker/cassandra-5.0.yml up -d --wait
    export KANDRA_TEST_HOSTS=127.0.0.1:9042";

/// What is known of the machine.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a machine, not a state machine")]
struct Machine {
    has_java: bool,
    has_maven: bool,
    /// Somebody can be asked.
    is_terminal: bool,
    is_root: bool,
    has_sudo: bool,
    has_apt: bool,
    is_macos: bool,
}

/// What to do about it.
#[derive(Debug, PartialEq, Eq)]
enum Action {
    /// Nothing is missing.
    Go,
    /// Ask, and run these commands after a `y`.
    Ask { question: String, commands: Vec<String> },
    /// Say so, and run these commands.
    Install { notice: String, commands: Vec<String> },
    /// Say what to type.
    Stop { text: String },
}

/// Makes sure that Java 17 is there, and Maven if jars must be fetched; asks before it installs them.
pub(crate) fn ensure(maven_wanted: bool) -> Result<Java, Error> {
    let machine = Machine::look(maven_wanted);
    let commands = match decide(machine) {
        Action::Go => Vec::new(),
        Action::Stop { text } => return Err(Error::Missing(text)),
        Action::Install { notice, commands } => {
            say(&notice);
            commands
        }
        Action::Ask { question, commands } if agrees(&question) => commands,
        Action::Ask { .. } => return Err(Error::Missing(stop_text(machine))),
    };
    for command in &commands {
        run(command, machine)?;
    }
    match Java::find() {
        Some(java) if Machine::look(maven_wanted).has_maven => Ok(java),
        _ => Err(Error::Missing(stop_text(Machine::look(maven_wanted)))),
    }
}

impl Machine {
    fn look(maven_wanted: bool) -> Self {
        Self {
            has_java: Java::find().is_some(),
            has_maven: !maven_wanted || find_program("mvn").is_some(),
            is_terminal: io::stdin().is_terminal() && io::stderr().is_terminal(),
            is_root: geteuid().is_root(),
            has_sudo: find_program("sudo").is_some(),
            has_apt: find_program("apt-get").is_some(),
            is_macos: cfg!(target_os = "macos"),
        }
    }

    /// Such as "Java 17 and Maven".
    fn missing(self) -> &'static str {
        match (self.has_java, self.has_maven) {
            (false, false) => "Java 17 and Maven are",
            (false, true) => "Java 17 is",
            (true, _) => "Maven is",
        }
    }

    fn packages(self, java: &'static str) -> String {
        let java = (!self.has_java).then_some(java);
        let maven = (!self.has_maven).then_some("maven");
        java.into_iter().chain(maven).collect::<Vec<_>>().join(" ")
    }

    fn apt_commands(self) -> Vec<String> {
        let sudo = if self.is_root { "" } else { "sudo " };
        let packages = self.packages("openjdk-17-jre-headless");
        vec![
            format!("{sudo}apt-get update"),
            format!("{sudo}apt-get install -y --no-install-recommends {packages}"),
        ]
    }
}

fn decide(machine: Machine) -> Action {
    let missing = machine.missing();
    let can_install = machine.has_apt && (machine.is_root || machine.has_sudo);
    match machine {
        Machine { has_java: true, has_maven: true, .. } => Action::Go,
        Machine { is_terminal: true, .. } if can_install => {
            let commands = machine.apt_commands();
            let question = format!(
                "{missing} needed to run Cassandra and not installed. To install:\n    {}\nInstall now? [y/N] ",
                commands.join("\n    ")
            );
            Action::Ask { question, commands }
        }
        Machine { is_root: true, .. } if can_install => {
            let commands = machine.apt_commands();
            let notice = format!("{missing} needed to run Cassandra: running {}", commands.join(" && "));
            Action::Install { notice, commands }
        }
        _ => Action::Stop { text: stop_text(machine) },
    }
}

/// What is missing, and the lines to type on this system.
fn stop_text(machine: Machine) -> String {
    let missing = machine.missing();
    let commands = if machine.has_apt {
        machine.apt_commands().join("\n    ")
    } else if machine.is_macos {
        format!("brew install {}", machine.packages("openjdk@17"))
    } else {
        return format!(
            "{missing} needed to run Cassandra and not installed. Install them with this system's package manager \
             (JAVA_HOME may name the Java),\n{DOCKER}"
        );
    };
    format!("{missing} needed to run Cassandra and not installed. Type\n    {commands}\n{DOCKER}")
}

fn run(command: &str, machine: Machine) -> Result<(), Error> {
    let mut words = command.split(' ');
    let program = words.next().unwrap_or_default();
    // sudo may ask for a password.
    let stdin = if machine.is_terminal { Stdio::inherit() } else { Stdio::null() };
    let mut child = Command::new(program)
        .args(words)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(stdin)
        // The standard output of a test is the test's.
        .stdout(io::stderr())
        .spawn()
        .doing(|| format!("run `{command}`"))?;
    let ended = poll(Duration::from_secs(INSTALL_SECS_MAX), || child.try_wait().transpose());
    let reason = match ended.transpose().doing(|| format!("wait for `{command}`"))? {
        Some(status) if status.success() => return Ok(()),
        Some(status) => status.to_string(),
        None => {
            let _ = child.kill().and_then(|()| child.wait());
            format!("not done within {INSTALL_SECS_MAX} s")
        }
    };
    Err(Error::Missing(format!("`{command}` failed: {reason}.\n{}", stop_text(machine))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARE: Machine = Machine {
        has_java: false,
        has_maven: false,
        is_terminal: false,
        is_root: false,
        has_sudo: false,
        has_apt: false,
        is_macos: false,
    };

    fn stop(machine: Machine) -> String {
        match decide(machine) {
            Action::Stop { text } => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn nothing_is_done_where_nothing_is_missing() {
        let machine = Machine { has_java: true, has_maven: true, ..BARE };
        assert_eq!(decide(machine), Action::Go);
        assert_eq!(
            decide(Machine { is_root: true, has_apt: true, is_terminal: true, ..machine }),
            Action::Go
        );
    }

    #[test]
    fn a_person_is_asked_first() {
        let machine = Machine { is_terminal: true, has_apt: true, has_sudo: true, ..BARE };
        let Action::Ask { question, commands } = decide(machine) else { panic!("no question") };
        assert!(question.starts_with("Java 17 and Maven are needed"), "{question}");
        assert!(question.ends_with("Install now? [y/N] "), "{question}");
        assert_eq!(
            commands,
            [
                "sudo apt-get update",
                "sudo apt-get install -y --no-install-recommends openjdk-17-jre-headless maven"
            ]
        );
        assert!(commands.iter().all(|command| question.contains(command)));
    }

    #[test]
    fn root_on_a_terminal_is_asked_too_and_needs_no_sudo() {
        let machine = Machine { is_terminal: true, has_apt: true, is_root: true, ..BARE };
        let Action::Ask { commands, .. } = decide(machine) else { panic!("no question") };
        assert_eq!(commands[0], "apt-get update");
    }

    #[test]
    fn root_without_a_terminal_installs_and_says_so() {
        let machine = Machine { is_root: true, has_apt: true, has_java: true, ..BARE };
        let Action::Install { notice, commands } = decide(machine) else { panic!("not installed") };
        assert!(notice.contains("Maven is needed") && notice.contains(&commands[1]), "{notice}");
        assert_eq!(commands[1], "apt-get install -y --no-install-recommends maven");
    }

    #[test]
    fn a_user_without_a_terminal_is_told_what_to_type() {
        let text = stop(Machine { has_apt: true, has_sudo: true, has_maven: true, ..BARE });
        assert!(text.starts_with("Java 17 is needed"), "{text}");
        assert!(
            text.contains("    sudo apt-get install -y --no-install-recommends openjdk-17-jre-headless\n")
        );
        assert!(text.contains("docker compose -f docker/cassandra-5.0.yml up -d --wait"));
        assert!(text.contains("KANDRA_TEST_HOSTS=127.0.0.1:9042"));
    }

    #[test]
    fn a_user_who_cannot_become_root_is_not_asked() {
        assert!(stop(Machine { is_terminal: true, has_apt: true, ..BARE }).contains("sudo apt-get install"));
    }

    #[test]
    fn a_mac_gets_the_line_for_brew() {
        let text = stop(Machine { is_macos: true, is_terminal: true, has_sudo: true, ..BARE });
        assert!(text.contains("    brew install openjdk@17 maven\n"), "{text}");
        assert!(text.contains("docker compose"));
    }

    #[test]
    fn another_system_gets_the_names_and_docker() {
        let text = stop(Machine { is_root: true, ..BARE });
        assert!(text.contains("package manager") && text.contains("docker compose"), "{text}");
    }
}
