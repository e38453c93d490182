//! The functions of some published crates, through cargo.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::Visit;

use crate::Result;

/// Crates of services and of libraries, asynchronous and plain, by many authors.
const CRATES: [(&str, &str); 10] = [
    ("axum", "0.8.9"),
    ("chrono", "0.4.45"),
    ("clap_builder", "4.6.7"),
    ("criterion", "0.8.2"),
    ("futures-util", "0.3.34"),
    ("rustls", "0.23.46"),
    ("scylla", "1.9.0"),
    ("serde_json", "1.0.154"),
    ("tokio", "1.54.1"),
    ("tracing-core", "0.1.36"),
];

pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) edition: String,
    /// Each as the source of an item: a function, or an `impl` with one method.
    pub(crate) functions: Vec<String>,
}

/// Brings the crates here, and reads their functions.
pub(crate) fn fetch() -> Result<Vec<Source>> {
    let scratch = Scratch::new()?;
    let dependency =
        |(name, version)| format!("{name} = {{ version = \"={version}\", default-features = false }}\n");
    let dependencies: String = CRATES.into_iter().map(dependency).collect();
    let package = "[package]\nname = \"corpus\"\nversion = \"0.0.0\"\nedition = \"2024\"\n";
    fs::create_dir(scratch.0.join("src"))?;
    fs::write(scratch.0.join("src/lib.rs"), "")?;
    fs::write(scratch.0.join("Cargo.toml"), format!("{package}\n[dependencies]\n{dependencies}"))?;
    let vendored = Command::new("cargo")
        .args(["vendor", "--quiet", "--versioned-dirs"])
        .current_dir(&scratch.0)
        .output()?;
    if !vendored.status.success() {
        return Err(format!("cargo vendor: {}", String::from_utf8_lossy(&vendored.stderr)).into());
    }
    CRATES
        .iter()
        .map(|(name, version)| read(name, &scratch.0.join(format!("vendor/{name}-{version}"))))
        .collect()
}

/// A folder for the crates, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("reformat-{}", std::process::id()));
        fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left is in the system's folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn read(name: &str, root: &Path) -> Result<Source> {
    let manifest = fs::read_to_string(root.join("Cargo.toml"))?;
    let edition = manifest.lines().find_map(|line| line.strip_prefix("edition = \"")?.strip_suffix('"'));
    let edition = edition.ok_or_else(|| format!("{name}: its manifest has no edition"))?.to_owned();
    let mut functions = Vec::new();
    let mut folders = vec![root.join("src")];
    while let Some(folder) = folders.pop() {
        let mut entries = fs::read_dir(&folder)?.collect::<std::io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::path);
        for entry in entries {
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if entry.path().extension().is_some_and(|extension| extension == "rs") {
                functions.extend(functions_of(&fs::read_to_string(entry.path())?));
            }
        }
    }
    Ok(Source { name: name.to_owned(), edition, functions })
}

/// The functions of a file; none if it is in a form of Rust that is not known here.
fn functions_of(text: &str) -> Vec<String> {
    let Ok(file) = syn::parse_file(text) else {
        return Vec::new();
    };
    let mut finder = Finder { text, functions: Vec::new() };
    finder.visit_file(&file);
    finder.functions
}

struct Finder<'a> {
    text: &'a str,
    functions: Vec<String>,
}

impl Finder<'_> {
    fn text_of(&self, span: Span) -> &str {
        self.text.get(span.byte_range()).unwrap_or_default()
    }
}

impl Visit<'_> for Finder<'_> {
    fn visit_item_fn(&mut self, function: &syn::ItemFn) {
        let text = self.text_of(function.span()).to_owned();
        self.functions.push(text);
    }

    fn visit_impl_item_fn(&mut self, function: &syn::ImplItemFn) {
        let text = format!("impl Subject {{\n{}\n}}", self.text_of(function.span()));
        self.functions.push(text);
    }
}
