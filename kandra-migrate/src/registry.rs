//! The migrations of one keyspace's history.

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

    /// The migrations by ascending version.
    ///
    /// # Errors
    /// [`KM0030`](crate::Code::RegistryEmpty) where there is none, [`KM0031`](crate::Code::DuplicateVersion) where two
    /// have one version.
    pub fn migrations(&self) -> Result<Vec<&'static Migration>, Error> {
        let mut found = self.collect();
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
        let keyspace = "keyspace".to_owned();
        let destination = Destination { session_keyspace: Some(keyspace.clone()), keyspace };
        let compiled = |migration: &'static Migration| {
            Ok::<_, Problem>((migration, Steps::compile(migration, &destination)?))
        };
        let plans = self.migrations()?.into_iter().map(compiled).collect::<Result<Vec<_>, _>>()?;
        let plans: Vec<_> = plans.iter().map(|(migration, steps)| (*migration, steps)).collect();
        Ok(LintFinding::all(&plans))
    }

    fn collect(&self) -> Vec<&'static Migration> {
        match &self.parts {
            Parts::Crate(module_path) => {
                let name = module_path.split("::").next().unwrap_or_default();
                inventory::iter::<Registered>()
                    .map(|registered| registered.0)
                    .filter(|migration| migration.crate_name() == name)
                    .collect()
            }
            Parts::Listed(migrations) => migrations.clone(),
            Parts::Merged(registries) => registries.iter().flat_map(|registry| registry.collect()).collect(),
        }
    }
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
