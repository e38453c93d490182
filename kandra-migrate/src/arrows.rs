//! Which module may name which: the picture in `DESIGN.md`, held against the source.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// From the bottom up: modules, and which modules below they name. Modules of one row name one another too.
const ROWS: &[(&[&str], &[&str])] = &[
    (&["boxed"], &[]),
    (&["clock"], &[]),
    (&["cql"], &[]),
    (&["duration"], &[]),
    (&["human"], &[]),
    (&["mutant"], &[]),
    (&["files"], &["cql", "duration"]),
    (&["port"], &["human"]),
    (&["ledger"], &["mutant"]),
    (&["driver"], &["boxed", "cql", "port"]),
    (&["schema"], &["cql", "driver", "ledger", "port"]),
    (&["store"], &["cql", "driver", "human", "ledger", "port"]),
    (&["task"], &["boxed", "clock", "cql", "driver", "human", "mutant"]),
    (
        &["error", "migration", "plan", "report"],
        &["boxed", "cql", "driver", "files", "human", "ledger", "port", "schema", "task"],
    ),
    (&["directory"], &["cql", "error", "files", "migration"]),
    (&["registry"], &["directory", "error", "migration", "plan", "report"]),
    (&["offline"], &["error", "registry"]),
    (
        &["engine"],
        &[
            "clock",
            "cql",
            "error",
            "human",
            "ledger",
            "migration",
            "mutant",
            "plan",
            "port",
            "report",
            "schema",
            "store",
            "task",
        ],
    ),
    (&["executor"], &["clock", "cql", "driver", "engine", "ledger", "port", "schema", "task"]),
    (
        &["control", "runner"],
        &[
            "boxed", "clock", "cql", "engine", "error", "executor", "ledger", "plan", "registry", "report",
            "store",
        ],
    ),
    (&["cli"], &["cql", "duration", "engine", "error", "human", "registry", "report", "runner"]),
    (
        &["testing"],
        &[
            "boxed",
            "cql",
            "engine",
            "error",
            "executor",
            "ledger",
            "migration",
            "plan",
            "port",
            "registry",
            "report",
            "runner",
            "schema",
            "task",
        ],
    ),
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The Rust files below a path, without those of tests.
fn files(path: &Path) -> Vec<PathBuf> {
    if path.extension().is_some_and(|extension| extension == "rs") {
        return vec![path.to_owned()];
    }
    if !path.is_dir() || path.ends_with("tests") {
        return Vec::new();
    }
    let entries = path.read_dir().expect("a directory");
    entries.flat_map(|entry| files(&entry.expect("an entry").path())).collect()
}

/// The modules at the top.
fn modules() -> BTreeSet<String> {
    let entries = source().read_dir().expect("the source").map(|entry| entry.expect("an entry").path());
    let with_code = entries.filter(|path| !files(path).is_empty());
    let stem = |path: PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
    with_code.map(stem).filter(|name| !["lib", "arrows", "bin"].contains(&name.as_str())).collect()
}

/// What a module's code names after `crate::`, with the file.
fn named_by(module: &str) -> Vec<(String, PathBuf)> {
    let places = [source().join(module), source().join(module).with_extension("rs")];
    let files = places.iter().filter(|place| place.exists()).flat_map(|place| files(place));
    files.flat_map(|file| named_in(&file).into_iter().map(move |name| (name, file.clone()))).collect()
}

fn named_in(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).expect("a file of the source");
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let after = code.flat_map(|line| line.split("crate::").skip(1));
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    after.map(|rest| rest.split(|c| !is_word(c)).next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn each_module_names_only_what_is_below_it() {
    let all = modules();
    for (module, may_name) in
        ROWS.iter().flat_map(|(row, below)| row.iter().map(move |module| (module, (row, below))))
    {
        for (name, file) in named_by(module) {
            let (row, below) = may_name;
            let is_allowed = row.contains(&name.as_str()) || below.contains(&name.as_str());
            assert!(is_allowed || !all.contains(&name), "{} names `{name}`", file.display());
        }
    }
}

#[test]
fn each_module_has_a_place_and_no_arrow_goes_up() {
    let mut below = BTreeSet::new();
    for (row, names) in ROWS {
        assert!(names.iter().all(|name| below.contains(name)), "{row:?} may name what is above it");
        below.extend(row.iter().copied());
    }
    assert_eq!(modules(), below.into_iter().map(str::to_owned).collect());
}

#[test]
fn no_arrow_is_left_over() {
    for (row, below) in ROWS {
        let named: BTreeSet<_> =
            row.iter().flat_map(|module| named_by(module)).map(|(name, _)| name).collect();
        for name in *below {
            assert!(named.contains(*name), "{row:?} names `{name}` no more");
        }
    }
}
