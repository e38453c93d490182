//! Directories of CQL files: compiled in, or read beside the binary.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use crate::cql;
use crate::error::Problem;
use crate::files::{self, Fault, FileMigration, Found};
use crate::migration::Migration;

/// Makes each CQL file of a directory a migration of this crate's [`registry!`](crate::registry), compiled in.
///
/// First a `build.rs` beside `Cargo.toml`, so that cargo looks for new files:
///
/// ```ignore
/// fn main() {
///     println!("cargo::rerun-if-changed=migrations");
/// }
/// ```
///
/// Then, in the crate:
///
/// ```ignore
/// kandra_migrate::registry!(pub static MIGRATIONS);
/// kandra_migrate::cql_dir!("migrations"); // beside Cargo.toml: migrations/V0001__create_users.cql, …
/// ```
///
/// A file that changes is compiled in anew without the `build.rs`; a new one is not. A test with
/// [`check!`](crate::check) and [`Runner::verify`](crate::Runner::verify) say so where one is missing.
///
/// # Files
///
/// The path is that of a directory, relative to the package's own. In it are files called `V0007__add_index.cql`: the
/// version, two underscores, the name. Zeros before the version do not count. Documentation (`.md`) and hidden files may
/// lie beside them; anything else is an error of the compiler, with the file's path: two files of one version, a name
/// of another form, an editor's backup, a directory.
///
/// A file has statements, with `;` between them, and each is a step of the migration. `${keyspace}` stands for the
/// keyspace, other variables for what [`Runner::variable`](crate::Runner::variable) says.
///
/// # What comments say
///
/// A comment that begins with `-- kandra:`, on a line of its own, is about the statement that follows it. Keys are
/// separated by commas; one that is unknown is an error.
///
/// | key | what it says |
/// |---|---|
/// | `undo` | the statement that follows takes back the one before it: [`Task::undo`](crate::Task::undo) |
/// | `idempotent` | [`Task::idempotent`](crate::Task::idempotent) |
/// | `once` | [`Task::once`](crate::Task::once) |
/// | `point-of-no-return` | [`Task::point_of_no_return`](crate::Task::point_of_no_return) |
/// | `timeout 5m` | [`Task::timeout`](crate::Task::timeout) |
/// | `unclassified` | [`Task::unclassified`](crate::Task::unclassified) |
/// | `wait-built` | [`Task::wait_built`](crate::Task::wait_built) |
/// | `allow KL04` | [`Task::allow`](crate::Task::allow) |
/// | `out-of-order` | before the first statement: the migration may be applied although a higher version already is |
/// | `after-start` | before the first statement: [`Runner::run`](crate::Runner::run) stops before it, [`Runner::run_deferred`](crate::Runner::run_deferred) applies it |
/// | `accept k1:…` | before the first statement: the checksum of an earlier text that had the same effect |
///
/// ```sql
/// -- Readers look users up by their address.
/// -- kandra: out-of-order
/// CREATE INDEX users_by_email ON ${keyspace}.users (email);
/// -- kandra: undo
/// DROP INDEX ${keyspace}.users_by_email;
///
/// -- kandra: idempotent, timeout 5m
/// INSERT INTO ${keyspace}.settings (id, name) VALUES (1, 'email') IF NOT EXISTS;
/// ```
///
/// The undo can be a file of its own instead, `U0007__add_index.cql`, with a statement for each one of the migration,
/// that of the last one first.
///
/// # Checksum
///
/// It is over the tokens of the statements and of their undos, and over what is said of them: white space, other
/// comments and line ends do not count, nor do `out-of-order`, `after-start`, `accept` and
/// `allow`.
///
/// Content that is no CQL, or a key that is unknown, is an error of whatever asks for the migrations, before anything is
/// sent: [`check!`](crate::check) in a test finds it.
#[macro_export]
macro_rules! cql_dir {
    ($directory:literal) => {
        $crate::__private::embed_directory! { $crate, $directory }
    };
}

/// A CQL file as one task of a plan: each of its statements is a step.
///
/// ```ignore
/// fn up() -> impl IntoPlan {
///     [cql_file!("cql/tables.cql"), code("fill them", fill).idempotent()]
/// }
/// ```
///
/// The path is relative to the package's directory. What the file's comments say of its statements is as in
/// [`cql_dir!`](crate::cql_dir); what methods of the [`Task`](crate::Task) say is of each of them that does not say
/// otherwise. The tokens of the file are part of the migration's checksum.
#[macro_export]
macro_rules! cql_file {
    ($path:literal) => {
        $crate::__private::cql_file(
            $path,
            ::core::include_str!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", $path)),
        )
    };
}

/// A directory that is compiled in.
#[doc(hidden)]
#[derive(Debug)]
pub struct Directory {
    path: &'static str,
    /// The package's own, where it was compiled.
    package: &'static str,
    module_path: &'static str,
    files: &'static [Embedded],
    migrations: OnceLock<Result<Vec<Migration>, Fault>>,
}

/// A migration of a directory that is compiled in, as its files' names tell it.
#[doc(hidden)]
#[derive(Debug)]
pub struct Embedded {
    pub version: i64,
    pub name: &'static str,
    pub file: &'static str,
    pub text: &'static str,
    /// Name and text.
    pub undo: Option<(&'static str, &'static str)>,
}

/// What [`cql_dir!`](crate::cql_dir) hands to `inventory`.
#[doc(hidden)]
#[derive(Debug)]
pub struct RegisteredDirectory(pub &'static Directory);

inventory::collect!(RegisteredDirectory);

impl Directory {
    #[must_use]
    pub const fn new(
        path: &'static str,
        package: &'static str,
        module_path: &'static str,
        files: &'static [Embedded],
    ) -> Self {
        Self { path, package, module_path, files, migrations: OnceLock::new() }
    }

    pub(crate) fn crate_name(&self) -> &'static str {
        self.module_path.split("::").next().unwrap_or_default()
    }

    pub(crate) fn migrations(&self) -> Result<&[Migration], Problem> {
        let migrations =
            self.migrations.get_or_init(|| self.files.iter().map(|file| self.read(file)).collect());
        migrations.as_deref().map_err(|fault| Problem::File(fault.clone()))
    }

    fn read(&self, embedded: &Embedded) -> Result<Migration, Fault> {
        let found = Found {
            version: embedded.version,
            name: embedded.name.to_owned(),
            file: embedded.file.to_owned(),
            undo: embedded.undo.map(|(file, _)| file.to_owned()),
        };
        let undo = embedded.undo.map(|(_, text)| text);
        FileMigration::read(self.path, &found, embedded.text, undo).map(Migration::of_file)
    }

    /// How the directory, where it is there, differs from what was compiled in.
    pub(crate) fn differences(&self) -> Vec<String> {
        let directory = Path::new(self.package).join(self.path);
        let Ok(listed) = files::list(&directory) else { return Vec::new() };
        let found = match files::migrations(self.path, &listed) {
            Ok(found) => found,
            Err(faults) => return faults,
        };
        let on_disk: BTreeSet<String> =
            found.into_iter().flat_map(|found| [Some(found.file), found.undo]).flatten().collect();
        let compiled_in: BTreeMap<&str, &str> =
            self.files.iter().flat_map(|file| [Some((file.file, file.text)), file.undo]).flatten().collect();
        let is_edited = |file: &str, text: &str| {
            fs::read_to_string(directory.join(file)).is_ok_and(|on_disk| on_disk != text)
        };
        let missing = on_disk.iter().filter_map(|file| match compiled_in.get(file.as_str()) {
            None => Some((file.as_str(), "is on disk but not in this binary")),
            Some(text) if is_edited(file, text) => Some((file, "is not on disk as it is in this binary")),
            Some(_) => None,
        });
        let gone = compiled_in.keys().filter(|file| !on_disk.contains(**file));
        let gone = gone.map(|file| (*file, "is in this binary but not on disk"));
        missing.chain(gone).map(|(file, how)| format!("{}/{file} {how}: rebuild", self.path)).collect()
    }
}

/// The migrations of a directory as it is now.
pub(crate) fn read(directory: &Path) -> Result<Vec<Migration>, Problem> {
    let unreadable =
        |path: &Path, source| Problem::DirectoryUnreadable { path: path.display().to_string(), source };
    let listed = files::list(directory).map_err(|error| unreadable(directory, error))?;
    let shown = directory.display().to_string();
    let shown = shown.strip_suffix('/').unwrap_or(&shown);
    let text = |file: &str| {
        let path = directory.join(file);
        let bytes = fs::read(&path).map_err(|error| unreadable(&path, error))?;
        let text = cql::utf8(&bytes)
            .map_err(|error| Problem::File(Fault::of_cql(&format!("{shown}/{file}"), &error)))?;
        Ok::<_, Problem>(text.to_owned())
    };
    let found = files::migrations(shown, &listed).map_err(|faults| Problem::FileNames { faults })?;
    let read = |found: Found| {
        let undo = found.undo.as_deref().map(text).transpose()?;
        let migration = FileMigration::read(shown, &found, &text(&found.file)?, undo.as_deref());
        migration.map(Migration::of_file).map_err(Problem::File)
    };
    found.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    static FILES: [Embedded; 2] = [
        Embedded { version: 1, name: "a", file: "V1__a.cql", text: "DROP TABLE ${keyspace}.a", undo: None },
        Embedded {
            version: 2,
            name: "b",
            file: "V2__b.cql",
            text: "DROP TABLE ${keyspace}.b;",
            undo: Some(("U2__b.cql", "CREATE TABLE ${keyspace}.b (id int PRIMARY KEY)")),
        },
    ];

    /// A package with these files in `migrations`; it is removed with the value.
    struct Package(std::path::PathBuf);

    impl Package {
        fn with(test: &str, files: &[(&str, &str)]) -> Self {
            let package =
                std::env::temp_dir().join(format!("kandra-directory-{}-{test}", std::process::id()));
            fs::create_dir_all(package.join("migrations")).unwrap();
            for (file, text) in files {
                fs::write(package.join("migrations").join(file), text).unwrap();
            }
            Self(package)
        }

        fn differences(&self) -> Vec<String> {
            let package = Box::leak(self.0.to_str().unwrap().to_owned().into_boxed_str());
            Directory::new("migrations", package, "tests::m", &FILES).differences()
        }
    }

    impl Drop for Package {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn what_is_on_disk_as_it_is_in_the_binary_is_no_difference() {
        let files = [
            (FILES[0].file, FILES[0].text),
            (FILES[1].file, FILES[1].text),
            FILES[1].undo.unwrap(),
            ("README.md", ""),
        ];
        assert!(Package::with("same", &files).differences().is_empty());
        let elsewhere = Directory::new("nowhere", "/nowhere", "tests::m", &FILES);
        assert!(elsewhere.differences().is_empty(), "a machine without the sources has nothing to compare");
    }

    #[test]
    fn each_difference_is_named_with_its_path() {
        let files =
            [("V1__a.cql", "DROP TABLE ${keyspace}.other"), ("V2__b.cql", FILES[1].text), ("V9__c.cql", "A")];
        assert_eq!(
            Package::with("other", &files).differences(),
            [
                "migrations/V1__a.cql is not on disk as it is in this binary: rebuild",
                "migrations/V9__c.cql is on disk but not in this binary: rebuild",
                "migrations/U2__b.cql is in this binary but not on disk: rebuild",
            ]
        );
        let stray = Package::with("stray", &[("V9__c.cql~", "")]).differences();
        assert!(stray[0].starts_with("migrations/V9__c.cql~: it is no migration"), "{stray:?}");
    }

    #[test]
    fn what_is_compiled_in_and_what_is_read_are_the_same_migrations() {
        let files = [(FILES[0].file, FILES[0].text), (FILES[1].file, FILES[1].text), FILES[1].undo.unwrap()];
        let package = Package::with("both", &files);
        let read = read(&package.0.join("migrations")).map_err(crate::Error::from).unwrap();
        let compiled_in = Directory::new("migrations", "/nowhere", "tests::m", &FILES);
        let of = |migrations: &[Migration]| {
            let one = |m: &Migration| (m.version(), m.name().to_owned(), m.checksum().to_owned());
            migrations.iter().map(one).collect::<Vec<_>>()
        };
        assert_eq!(of(&read), of(compiled_in.migrations().map_err(crate::Error::from).unwrap()));
    }

    #[test]
    fn a_file_that_is_not_utf8_is_named() {
        let package = Package::with("utf8", &[]);
        fs::write(package.0.join("migrations/V1__a.cql"), b"-- x\nSELECT '\xff'").unwrap();
        let error = crate::Error::from(read(&package.0.join("migrations")).unwrap_err());
        assert!(error.to_string().contains("V1__a.cql:2: column 9: this is not UTF-8"), "{error}");
    }
}
