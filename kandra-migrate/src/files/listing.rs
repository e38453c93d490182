//! Which files of a directory are migrations, told from their names alone.
//!
//! Both crates compile this one file, `kandra-migrate-macros` by a symbolic link to it: what is an error at compile time
//! for `cql_dir!` is the same error at run time for `Registry::from_dir`.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    /// With `�` for what is not UTF-8, which no name of a migration has.
    pub(crate) name: String,
    pub(crate) is_directory: bool,
}

/// A migration: the file that applies it and, where there is one, the file that undoes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) version: i64,
    pub(crate) name: String,
    pub(crate) file: String,
    pub(crate) undo: Option<String>,
}

/// The entries of a directory, sorted by name.
pub(crate) fn list(directory: &Path) -> io::Result<Vec<Listed>> {
    let mut listed = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // Of what a link names, not of the link; one that names nothing fails when it is read.
        let is_directory = fs::metadata(entry.path()).is_ok_and(|metadata| metadata.is_dir());
        listed.push(Listed { name, is_directory });
    }
    listed.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(listed)
}

/// The migrations among the entries of a directory, by ascending version; or all that is wrong with them, each with
/// its path below `directory`.
pub(crate) fn migrations(directory: &str, listed: &[Listed]) -> Result<Vec<Found>, Vec<String>> {
    let mut faults = Vec::new();
    let mut found: BTreeMap<i64, Found> = BTreeMap::new();
    let mut undos: BTreeMap<i64, &str> = BTreeMap::new();
    for entry in listed.iter().filter(|entry| !is_ignored(entry)) {
        let file = &entry.name;
        let path = format!("{directory}/{file}");
        let name = if entry.is_directory { Err(OF_DIRECTORY.to_owned()) } else { read(file) };
        let (version, other) = match name {
            Ok(FileName { version, kind: Kind::Apply, name }) => {
                let new = Found { version, name: name.to_owned(), file: file.clone(), undo: None };
                (version, found.insert(version, new).map(|other| other.file))
            }
            Ok(FileName { version, kind: Kind::Undo, .. }) => {
                (version, undos.insert(version, file).map(str::to_owned))
            }
            Err(why) => {
                faults.push(format!("{path}: {why}"));
                continue;
            }
        };
        if let Some(other) = other {
            faults.push(format!("{path}: {other} has version {version} as well: give one of them another"));
        }
    }
    for (version, file) in undos {
        match found.get_mut(&version) {
            Some(migration) => migration.undo = Some(file.to_owned()),
            None => faults.push(format!(
                "{directory}/{file}: there is no V{version}__….cql that it could undo: correct its version, or move it out"
            )),
        }
    }
    if faults.is_empty() { Ok(found.into_values().collect()) } else { Err(faults) }
}

/// What may lie beside migrations: documentation, and what is hidden.
fn is_ignored(entry: &Listed) -> bool {
    let is_documentation =
        Path::new(&entry.name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"));
    entry.name.starts_with('.') || is_documentation && !entry.is_directory
}

const OF_DIRECTORY: &str = "this is a directory, and only files beside one another are read: move it out";
const STRAY: &str = "it is no migration: those are called V0001__name.cql, and their undo U0001__name.cql. Rename it, or move it out; only .md and hidden files may lie here";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Apply,
    Undo,
}

struct FileName<'a> {
    kind: Kind,
    version: i64,
    name: &'a str,
}

/// `V0007__add_index.cql` or `U0007__add_index.cql`, or why the name is neither.
fn read(file: &str) -> Result<FileName<'_>, String> {
    let (stem, extension) = file.rsplit_once('.').ok_or(STRAY)?;
    if extension != "cql" {
        let is_shouted = extension.eq_ignore_ascii_case("cql");
        return Err(if is_shouted { "its extension is in lower case: .cql" } else { STRAY }.to_owned());
    }
    let kind = match stem.chars().next() {
        Some('V') => Kind::Apply,
        Some('U') => Kind::Undo,
        Some('v' | 'u') => {
            let (first, rest) = stem.split_at(1);
            let first = first.to_ascii_uppercase();
            return Err(format!("it begins with a capital: rename it to {first}{rest}.cql"));
        }
        _ => return Err(STRAY.to_owned()),
    };
    let rest = &stem[1..];
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, rest) = rest.split_at(digits);
    if number.is_empty() {
        return Err(
            "it has no version: a number stands after the first letter, as in V0001__name.cql".to_owned()
        );
    }
    let version = number.parse().ok().filter(|version| *version > 0);
    let version = version.ok_or("a version is a whole number from 1 to 9223372036854775807")?;
    let name = rest
        .strip_prefix("__")
        .ok_or("two underscores stand between its version and its name, as in V0001__name.cql")?;
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')) {
        return Err("a name is of the letters a to z, digits, `_` and `-`, as in V0001__name.cql".to_owned());
    }
    Ok(FileName { kind, version, name })
}
