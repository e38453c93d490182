//! Migrations that are files of CQL.

use std::fs;
use std::path::{Path, PathBuf};

use integration::{Keyspace, connect};
use kandra_migrate::{Code, Outcome, Registry, Value, migration};

const OF_EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/cql-files/migrations");

/// Of one copy, so that a single node will do.
async fn keyspace() -> Keyspace {
    Keyspace::through(connect().await, "files", 1).await
}

/// A directory of files, which is gone with the value.
struct Directory(PathBuf);

impl Directory {
    fn of(keyspace: &Keyspace) -> Self {
        let directory = std::env::temp_dir().join(&keyspace.name);
        fs::create_dir_all(&directory).unwrap();
        Self(directory)
    }

    fn write(&self, file: &str, text: &str) -> Registry {
        fs::write(self.0.join(file), text).unwrap();
        Registry::from_dir(&self.0).unwrap()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_compiled_in_and_files_read_are_the_same_migrations() {
    let keyspace = keyspace().await;
    let compiled_in = &cql_files::MIGRATIONS;
    let report = keyspace.runner(compiled_in).variable("seen_ttl", 60).run().await.unwrap();
    assert_eq!(report.outcome, Outcome::Migrated, "{report}");
    assert_eq!(keyspace.rows::<(String,)>("SELECT first_name FROM ks.users").await, [("Ada".to_owned(),)]);

    let read = Registry::from_dir(OF_EXAMPLE).unwrap();
    let checksums = |registry: &Registry| -> Vec<_> {
        let migrations = registry.migrations().unwrap();
        migrations.iter().map(|m| (m.version().get(), m.name().to_owned(), m.checksum().to_owned())).collect()
    };
    assert_eq!(checksums(&read), checksums(compiled_in)[..2]);
    // The third one is code, which the directory has not.
    let report = keyspace.runner(&read).variable("seen_ttl", 90).verify().await.unwrap();
    assert!(report.pending.is_empty(), "{report}");
    assert_eq!(report.warnings.len(), 1, "{:?}", report.warnings);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_variable_without_a_value_is_found_before_anything_is_sent() {
    let keyspace = keyspace().await;
    let directory = Directory::of(&keyspace);
    directory.write("V1__a.cql", "CREATE TABLE ${keyspace}.a (id int PRIMARY KEY)");
    let registry = directory.write("V2__b.cql", "\nCREATE TABLE ${keyspace}.b (${column} int PRIMARY KEY)");
    let error = keyspace.runner(&registry).run().await.unwrap_err();
    assert_eq!(error.code(), Code::VariableMissing, "{error}");
    assert!(error.to_string().contains("V2__b.cql:2") && error.to_string().contains("${column}"), "{error}");
    let tables = "SELECT table_name FROM system_schema.tables WHERE keyspace_name = '";
    let tables = keyspace.rows::<(String,)>(&format!("{tables}{}'", keyspace.name)).await;
    assert!(tables.iter().all(|(table,)| table != "a"), "{tables:?}");

    let error =
        keyspace.runner(&registry).variable("column", Value::literal("id int, x")).run().await.unwrap_err();
    assert_eq!(error.code(), Code::Config, "{error}");
    let error = keyspace.runner(&registry).variable("keyspace", "other").run().await.unwrap_err();
    assert_eq!(error.code(), Code::Config, "{error}");
    keyspace.runner(&registry).variable("column", "My id").run().await.unwrap();
    assert!(keyspace.rows::<(i32,)>("SELECT \"My id\" FROM ks.b").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_of_a_file_is_refused_and_a_change_of_its_layout_is_none() {
    let keyspace = keyspace().await;
    let directory = Directory::of(&keyspace);
    let registry = directory.write("V1__a.cql", "CREATE TABLE ${keyspace}.a (id int PRIMARY KEY)");
    keyspace.runner(&registry).run().await.unwrap();
    let layout = "-- Why.\r\ncreate table ${keyspace}.a (\r\n  id int primary key\r\n);\r\n";
    keyspace.runner(&directory.write("V1__a.cql", layout)).verify().await.unwrap();

    let edited = "CREATE TABLE ${keyspace}.a (id int PRIMARY KEY, name text)";
    let error = keyspace.runner(&directory.write("V1__a.cql", edited)).verify().await.unwrap_err();
    assert_eq!(error.code(), Code::ChecksumMismatch, "{error}");
    // What the error says to write does it.
    let explained = error.explain();
    let accept = explained.split(['\n', ',']).find(|part| part.contains("-- kandra: accept")).unwrap().trim();
    let accepted = format!("{accept}\n{edited}");
    keyspace.runner(&directory.write("V1__a.cql", &accepted)).verify().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_late_says_so_in_its_file() {
    let keyspace = keyspace().await;
    let directory = Directory::of(&keyspace);
    let registry = directory.write("V2__b.cql", "CREATE TABLE ${keyspace}.b (id int PRIMARY KEY)");
    keyspace.runner(&registry).run().await.unwrap();
    let late = "CREATE TABLE ${keyspace}.a (id int PRIMARY KEY)";
    let error = keyspace.runner(&directory.write("V1__a.cql", late)).run().await.unwrap_err();
    assert_eq!(error.code(), Code::BelowFrontier, "{error}");
    assert!(error.explain().contains("-- kandra: out-of-order"), "{}", error.explain());
    let marked = format!("-- kandra: out-of-order\n{late}");
    keyspace.runner(&directory.write("V1__a.cql", &marked)).run().await.unwrap();
}

#[migration(version = 1)]
mod unheard_of {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql("FROBNICATE ${keyspace}.a")
    }
}

#[migration(version = 1)]
mod unheard_of_and_sent {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql("FROBNICATE ${keyspace}.a").unclassified()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_classified_is_sent_only_where_that_is_said() {
    let keyspace = keyspace().await;
    let registry = Registry::of([&unheard_of::MIGRATION]);
    let error = keyspace.runner(&registry).run().await.unwrap_err();
    assert_eq!(error.code(), Code::CqlUnclassified, "{error}");
    let registry = Registry::of([&unheard_of_and_sent::MIGRATION]);
    let plan = keyspace.runner(&registry).plan().await.unwrap();
    assert_eq!((plan[0].steps[0].kind, plan[0].steps[0].repeat), ("schema", "once"));
    // The server has the last word.
    let error = keyspace.runner(&registry).run().await.unwrap_err();
    assert_eq!(error.code(), Code::StepFailed, "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_that_is_not_there_is_named() {
    let error = Registry::from_dir(Path::new("nowhere")).unwrap_err();
    assert_eq!(error.code(), Code::DirectoryUnreadable);
    assert!(error.to_string().contains("nowhere cannot be read"), "{error}");
}
