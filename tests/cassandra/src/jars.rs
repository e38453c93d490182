//! The jar files of a Cassandra, fetched once from Maven Central.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Doing as _, Error};
use crate::java::Java;
use crate::settings::Version;
use crate::terminal::say;
use crate::wait::{Lock, poll};

const POM: &str = include_str!("../templates/pom.xml");

/// A slow line needs minutes for the 70 MB.
const FETCH_SECS_MAX: u64 = 1200;

/// How many jars Cassandra 5.0.9 and Maven's plugin have together; the others have about as many.
const JARS_ABOUT: usize = 150;

/// How many downloads go by between two lines of progress.
const PROGRESS_STEP: usize = 20;

/// Where the jars of this version are, or are to be.
pub(crate) fn folder(cache: &Path, version: &Version) -> PathBuf {
    cache.join(format!("lib-{version}"))
}

/// The jars of a version, in order.
pub(crate) fn list(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(folder).doing(|| format!("read {}", folder.display()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut jars: Vec<_> = paths.filter(|path| path.extension() == Some(OsStr::new("jar"))).collect();
    jars.sort();
    Ok(jars)
}

/// Fetches the jars unless they are there.
///
/// A folder gets its name when all is in it, so that half a fetch is never taken for a whole one.
pub(crate) fn ensure(cache: &Path, version: &Version, java: &Java) -> Result<PathBuf, Error> {
    let folder = folder(cache, version);
    if folder.is_dir() {
        return Ok(folder);
    }
    let _lock = Lock::acquire(&cache.join("fetch.lock"), Duration::from_secs(FETCH_SECS_MAX))?;
    if folder.is_dir() {
        return Ok(folder);
    }
    let partial = cache.join(format!("lib-{version}.partial"));
    // Maven would keep a jar that it was killed over while writing.
    if partial.is_dir() {
        fs::remove_dir_all(&partial).doing(|| format!("remove {}", partial.display()))?;
    }
    let pom = cache.join("pom.xml");
    fs::write(&pom, POM).doing(|| format!("write {}", pom.display()))?;
    say(&format!("fetching Cassandra {version} from Maven Central, once, to {}", folder.display()));
    let mut maven = start_maven(&pom, &partial, version, java)?;
    let fetched = follow(&mut maven, version, &cache.join(format!("fetch-{version}.log")));
    // It has ended unless the time was up.
    let _ = maven.kill().and_then(|()| maven.wait());
    fetched?;
    if !partial.join(format!("cassandra-all-{version}.jar")).is_file() {
        return Err(failed(format!("there is no cassandra-all-{version}.jar in {}", partial.display())));
    }
    fs::rename(&partial, &folder).doing(|| format!("rename {}", partial.display()))?;
    say(&format!("Cassandra {version} is fetched: {} jars", list(&folder)?.len()));
    Ok(folder)
}

fn start_maven(pom: &Path, folder: &Path, version: &Version, java: &Java) -> Result<Child, Error> {
    let mut lib = std::ffi::OsString::from("-Dlib=");
    lib.push(folder);
    Command::new("mvn")
        .args(["--batch-mode", "-f"])
        .arg(pom)
        .arg(format!("-Dcassandra.version={version}"))
        .arg(lib)
        .arg("dependency:copy-dependencies")
        .env("JAVA_HOME", java.home())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .doing(|| "run `mvn`".to_owned())
}

/// Follows Maven to its end: progress to the terminal, everything to the log.
fn follow(maven: &mut Child, version: &Version, log: &Path) -> Result<(), Error> {
    let mut log_file = File::create(log).doing(|| format!("write {}", log.display()))?;
    let deadline = Instant::now() + Duration::from_secs(FETCH_SECS_MAX);
    let lines = maven.stdout.take().map(read_lines);
    let (mut jars, mut problem) = (0, None);
    while let Some(lines) = &lines {
        let line = match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => line,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                return Err(failed(format!(
                    "not done within {FETCH_SECS_MAX} s; its log: {}",
                    log.display()
                )));
            }
        };
        writeln!(log_file, "{line}").doing(|| format!("write {}", log.display()))?;
        if line.contains("Downloaded from") && line.contains(".jar ") {
            jars += 1;
            if jars % PROGRESS_STEP == 0 {
                say(&format!("fetching Cassandra {version}: {jars} of about {JARS_ABOUT} jars"));
            }
        }
        if problem.is_none() && line.contains("[ERROR]") {
            problem = Some(line);
        }
    }
    let remaining = deadline.saturating_duration_since(Instant::now());
    let status = poll(remaining, || maven.try_wait().transpose());
    match status.transpose().doing(|| "wait for `mvn`".to_owned())? {
        Some(status) if status.success() => Ok(()),
        _ => {
            let problem = problem.unwrap_or_else(|| "no reason given".to_owned());
            Err(failed(format!("{problem}; its log: {}; run it again to retry", log.display())))
        }
    }
}

/// The lines as they come. A read has no time limit, a channel has.
fn read_lines(stdout: ChildStdout) -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

fn failed(reason: String) -> Error {
    Error::Program { program: "mvn dependency:copy-dependencies".to_owned(), reason }
}
