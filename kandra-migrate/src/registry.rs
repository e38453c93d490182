//! The migrations of one keyspace's history.

use std::path::Path;

use crate::directory::{self, Directory, RegisteredDirectory};
use crate::error::{Error, Problem};
use crate::migration::Migration;
use crate::plan::{Destination, Steps};
use crate::report::LintFinding;

/// A set of migrations, in the order of their versions: what a [`Runner`](crate::Runner) brings a keyspace to.
///
/// ```
/// kandra_migrate::registry!(pub static MIGRATIONS);
/// ```
///
/// declares the registry of the migrations of the crate that the line stands in. Naming it, as
/// `Runner::new(session, &my_crate::MIGRATIONS)` does, also makes the linker keep that crate: one that nothing names
/// is dropped with all its migrations, and in silence.
#[derive(Debug)]
pub struct Registry {
    parts: Parts,
}

#[derive(Debug)]
enum Parts {
    Crate(&'static str),
    Listed(Vec<&'static Migration>),
    Merged(Vec<&'static Registry>),
}

/// What the macro hands to `inventory`.
#[doc(hidden)]
#[derive(Debug)]
pub struct Registered(pub &'static Migration);

inventory::collect!(Registered);

impl Registry {
    /// For [`registry!`](crate::registry).
    #[doc(hidden)]
    #[must_use]
    pub const fn of_module(module_path: &'static str) -> Self {
        Self { parts: Parts::Crate(module_path) }
    }

    /// Just these, whatever else is compiled in: for tests.
    #[must_use]
    pub fn of(migrations: impl IntoIterator<Item = &'static Migration>) -> Self {
        Self { parts: Parts::Listed(migrations.into_iter().collect()) }
    }

    /// All migrations of several registries, as one history.
    #[must_use]
    pub fn merge(registries: impl IntoIterator<Item = &'static Registry>) -> Self {
        Self { parts: Parts::Merged(registries.into_iter().collect()) }
    }

    /// The CQL files of a directory, as it is now, for those who ship files beside the binary. The rules are those of
    /// [`cql_dir!`](crate::cql_dir), which compiles the files in.
    ///
    /// ```no_run
    /// let migrations = kandra_migrate::Registry::from_dir("/usr/share/shop/migrations")?;
    /// # Ok::<_, kandra_migrate::Error>(())
    /// ```
    ///
    /// The files are read once, and what is read stays in memory for as long as the process lives.
    ///
    /// # Errors
    /// [`KM0036`](crate::Code::DirectoryUnreadable) where something cannot be read, [`KM0034`](crate::Code::FileName)
    /// and [`KM0035`](crate::Code::FileMalformed) where a file is not as it has to be.
    pub fn from_dir(path: impl AsRef<Path>) -> Result<Self, Error> {
        let migrations = directory::read(path.as_ref())?;
        Ok(Self::of(migrations.into_iter().map(|migration| &*Box::leak(Box::new(migration)))))
    }

    /// The migrations by ascending version.
    ///
    /// # Errors
    /// [`KM0030`](crate::Code::RegistryEmpty) where there is none, [`KM0031`](crate::Code::DuplicateVersion) where two
    /// have one version, [`KM0035`](crate::Code::FileMalformed) where a file of [`cql_dir!`](crate::cql_dir) is not as
    /// it has to be.
    pub fn migrations(&self) -> Result<Vec<&'static Migration>, Error> {
        let mut found = self.collect()?;
        found.sort_by_key(|migration| migration.version());
        found.dedup_by(|a, b| a.version() == b.version() && a.is_same_item(b));
        if let Some(pair) = found.windows(2).find(|pair| pair[0].version() == pair[1].version()) {
            return Err(Problem::DuplicateVersion {
                version: pair[0].version(),
                first: format!("{} ({})", pair[0].name(), pair[0].location()),
                second: format!("{} ({})", pair[1].name(), pair[1].location()),
            }
            .into());
        }
        if found.is_empty() {
            return Err(Problem::RegistryEmpty.into());
        }
        Ok(found)
    }

    /// What is likely to go wrong with the migrations, told from their text alone, without a database: all of them, one
    /// after the other, applied or not. What each rule means is in [`lint_codes`](crate::lint_codes);
    /// [`Task::allow`](crate::Task::allow) lets one not count.
    ///
    /// # Errors
    /// Those of [`Registry::migrations`], and those of a plan that cannot be run at all, as
    /// [`KM0044`](crate::Code::CqlMalformed).
    pub fn lint(&self) -> Result<Vec<LintFinding>, Error> {
        // Names without a keyspace are found here, and not an error of the whole.
        let destination = Destination::unknown();
        let compiled = |migration: &'static Migration| {
            Ok::<_, Problem>((migration, Steps::compile(migration, &destination)?))
        };
        let plans = self.migrations()?.into_iter().map(compiled).collect::<Result<Vec<_>, _>>()?;
        let plans: Vec<_> = plans.iter().map(|(migration, steps)| (*migration, steps)).collect();
        Ok(LintFinding::all(&plans))
    }

    fn collect(&self) -> Result<Vec<&'static Migration>, Error> {
        match &self.parts {
            Parts::Crate(module_path) => {
                let name = crate_of(module_path);
                let mut found: Vec<_> = inventory::iter::<Registered>()
                    .map(|registered| registered.0)
                    .filter(|migration| migration.crate_name() == Some(name))
                    .collect();
                for directory in self.directories() {
                    found.extend(directory.migrations()?);
                }
                Ok(found)
            }
            Parts::Listed(migrations) => Ok(migrations.clone()),
            Parts::Merged(registries) => {
                let found: Result<Vec<_>, _> = registries.iter().map(|registry| registry.collect()).collect();
                Ok(found?.concat())
            }
        }
    }

    /// The directories that are compiled in.
    fn directories(&self) -> Vec<&'static Directory> {
        match &self.parts {
            Parts::Crate(module_path) => {
                let name = crate_of(module_path);
                let all = inventory::iter::<RegisteredDirectory>().map(|registered| registered.0);
                all.filter(|directory| directory.crate_name() == name).collect()
            }
            Parts::Listed(_) => Vec::new(),
            Parts::Merged(registries) => {
                registries.iter().flat_map(|registry| registry.directories()).collect()
            }
        }
    }

    /// How the directories of [`cql_dir!`](crate::cql_dir), where they are there, differ from what was compiled in.
    pub(crate) fn differences(&self) -> Vec<String> {
        self.directories().into_iter().flat_map(Directory::differences).collect()
    }
}

fn crate_of(module_path: &str) -> &str {
    module_path.split("::").next().unwrap_or_default()
}

/// Declares the registry of the crate's own migrations: `kandra_migrate::registry!(pub static MIGRATIONS);`
#[macro_export]
macro_rules! registry {
    ($(#[$meta:meta])* $visibility:vis static $name:ident) => {
        $(#[$meta])*
        #[doc = "The migrations of this crate."]
        $visibility static $name: $crate::Registry = $crate::Registry::of_module(::core::module_path!());
    };
}

/// Checks the migrations without a database, in a unit test; panics with what is wrong.
///
/// ```no_run
/// // #[test]
/// fn migrations_are_sound() {
///     kandra_migrate::check!();
/// }
/// ```
///
/// `check!()` is for the migrations of the crate that the line stands in, `check!(my_crate::MIGRATIONS)` for those of
/// another one, as in a test of `tests/`. What is checked is said at [`Registry::check`](crate::Registry::check).
#[macro_export]
macro_rules! check {
    () => {
        $crate::check!($crate::Registry::of_module(::core::module_path!()))
    };
    ($registry:expr) => {
        if let ::core::result::Result::Err(error) = $registry.check() {
            ::core::panic!("{}", error.explain());
        }
    };
}
