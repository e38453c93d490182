//! Where Java 17 is on this machine.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// The one version that runs every Cassandra from 4.0 to 6.0.
const MAJOR: &str = "17";

/// A Java 17 to run nodes with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Java {
    home: PathBuf,
}

impl Java {
    /// `JAVA_HOME`, then the `PATH`, then the usual places of Linux, macOS and Homebrew.
    pub(crate) fn find() -> Option<Self> {
        let named = env::var_os("JAVA_HOME").map(PathBuf::from);
        let on_path = find_program("java").and_then(|java| home_of(&java));
        let usual =
            ["/usr/lib/jvm", "/Library/Java/JavaVirtualMachines", "/opt/homebrew/opt", "/usr/local/opt"];
        let usual = usual.iter().flat_map(|parent| children(Path::new(parent)));
        named.into_iter().chain(on_path).chain(usual).find_map(|home| Self::at(&home))
    }

    /// The Java of this folder, or of the bundle in it, if it is a 17.
    fn at(folder: &Path) -> Option<Self> {
        let inside = ["", "Contents/Home", "libexec/openjdk.jdk/Contents/Home"];
        inside.iter().map(|path| folder.join(path)).find_map(|home| {
            // Reading this file is quicker than asking `java -version`.
            let release = fs::read_to_string(home.join("release")).ok()?;
            (is_wanted(&release) && home.join("bin/java").is_file()).then_some(Self { home })
        })
    }

    /// The program that runs a node.
    pub(crate) fn program(&self) -> PathBuf {
        self.home.join("bin/java")
    }

    /// The program that makes certificates; each Java has it.
    pub(crate) fn keytool(&self) -> PathBuf {
        self.home.join("bin/keytool")
    }

    /// What `JAVA_HOME` should say.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }
}

/// A program on the `PATH`.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// `<home>/bin/java`, wherever the links of the `PATH` lead.
fn home_of(java: &Path) -> Option<PathBuf> {
    let program = fs::canonicalize(java).ok()?;
    Some(program.parent()?.parent()?.to_owned())
}

/// The folders in `parent` that name the version, in order.
fn children(parent: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    let mut folders: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.contains(MAJOR)))
        .collect();
    folders.sort();
    folders
}

/// Whether a `release` file is that of a Java 17.
fn is_wanted(release: &str) -> bool {
    let version = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="));
    version.is_some_and(|version| version.trim_matches('"').split('.').next() == Some(MAJOR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_17_is_wanted() {
        assert!(is_wanted("IMPLEMENTOR=\"Debian\"\nJAVA_VERSION=\"17.0.15\"\n"));
        assert!(is_wanted("JAVA_VERSION=\"17\"\n"));
        for release in ["JAVA_VERSION=\"21.0.1\"", "JAVA_VERSION=\"1.8.0_17\"", "JAVA_VERSION=\"170\"", ""] {
            assert!(!is_wanted(release), "{release}");
        }
    }
}
