//! The command `kandra`: a directory of CQL files, and no program around it.

use std::fs;
use std::path::PathBuf;

use crate::golden;
use crate::shop::{KANDRA, Shop};

/// Of one copy, so that a single node will do.
const REPLICATION: &str = "{'class': 'NetworkTopologyStrategy', 'replication_factor': 1}";

/// A directory `migrations`, which is gone with the value.
struct Files {
    parent: PathBuf,
    directory: String,
}

impl Files {
    fn of(shop: &Shop) -> Self {
        let parent = std::env::temp_dir().join(&shop.keyspace);
        let directory = parent.join("migrations");
        fs::create_dir_all(&directory).unwrap();
        Self { parent, directory: directory.to_str().expect("a plain path").to_owned() }
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(format!("{}/{file}", self.directory), text).unwrap();
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.parent);
    }
}

#[test]
fn files_are_linted_planned_run_and_verified() {
    let mut shop = Shop::new(KANDRA);
    let files = Files::of(&shop);
    let dir = files.directory.as_str();
    files.write(
        "V0001__create_users.cql",
        "CREATE TABLE ${keyspace}.users (id int PRIMARY KEY, name text);\n",
    );
    files.write(
        "V0002__add_ada.cql",
        "INSERT INTO ${keyspace}.users (id, name) VALUES (1, ${first}) USING TTL ${ttl};\nTRUNCATE ${keyspace}.users",
    );
    shop.expect(1, &["--dir", dir, "lint"]);
    files.write(
        "V0002__add_ada.cql",
        "INSERT INTO ${keyspace}.users (id, name) VALUES (1, ${first}) USING TTL ${ttl};",
    );
    shop.expect(0, &["--dir", dir, "lint"]);
    shop.expect(1, &["--dir", dir, "run", "--create-keyspace", REPLICATION]);
    let given = ["--dir", dir, "--var", "first=O'Hara", "--var", "ttl=3600"];
    let with = |more: &[&'static str]| given.iter().copied().chain(more.iter().copied()).collect::<Vec<_>>();
    shop.expect(0, &with(&["run", "--create-keyspace", REPLICATION, "--to", "1"]));
    shop.expect(0, &with(&["plan", "--cql"]));
    shop.expect(0, &with(&["plan"]));
    shop.expect(0, &with(&["run"]));
    shop.expect(0, &["--dir", dir, "verify", "--exit-code"]);

    files.write(
        "V0001__create_users.cql",
        "CREATE TABLE ${keyspace}.users (id int PRIMARY KEY, name ascii);\n",
    );
    let error = shop.expect(4, &["--dir", dir, "verify"]);
    shop.follow(&error, "to this one");
    shop.expect(0, &["--dir", dir, "verify"]);
    files.write("v0003__late.cql", "-- kandra: idempotant\nDROP TABLE ${keyspace}.users");
    shop.expect(1, &["--dir", dir, "verify"]);
    fs::rename(format!("{dir}/v0003__late.cql"), format!("{dir}/V0003__late.cql")).unwrap();
    shop.expect(1, &["--dir", dir, "verify"]);
    shop.assert_transcript("files.txt");
}

#[test]
fn the_help_of_the_command_names_its_directory() {
    let output = std::process::Command::new(KANDRA).arg("--help").output().expect("the binary starts");
    let help = String::from_utf8(output.stdout).unwrap();
    golden::assert("help_of_kandra.txt", &golden::normalised(&help, "KEYSPACE"));
}
