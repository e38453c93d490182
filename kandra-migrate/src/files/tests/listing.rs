use crate::files::listing::{Listed, migrations};

fn listed(names: &[&str]) -> Vec<Listed> {
    let entry = |name: &&str| Listed {
        name: name.trim_end_matches('/').to_owned(),
        is_directory: name.ends_with('/'),
    };
    names.iter().map(entry).collect()
}

/// All that is said of the files.
fn faults(names: &[&str]) -> String {
    migrations("migrations", &listed(names)).expect_err("something is wrong").join("\n")
}

#[test]
fn migrations_come_in_the_order_of_their_versions_with_their_undo() {
    let names =
        ["U7__b.cql", "V0007__add_index-2.cql", "V10__c.cql", "V9__A.cql", "V9223372036854775807__z.cql"];
    let found = migrations("migrations", &listed(&names)).unwrap();
    let found: Vec<_> = found.iter().map(|m| (m.version, m.name.as_str(), m.undo.as_deref())).collect();
    assert_eq!(
        found,
        [(7, "add_index-2", Some("U7__b.cql")), (9, "A", None), (10, "c", None), (i64::MAX, "z", None)]
    );
}

#[test]
fn documentation_and_hidden_files_may_lie_there() {
    let names = ["README.md", "notes.MD", ".gitkeep", ".V1__a.cql.swp", ".git/", "V1__a.cql"];
    assert_eq!(migrations("migrations", &listed(&names)).unwrap().len(), 1);
    assert_eq!(migrations("migrations", &[]).unwrap(), []);
}

#[test]
fn each_other_name_is_refused_with_its_path_and_what_to_do() {
    for (name, why) in [
        ("v1__a.cql", "it begins with a capital: rename it to V1__a.cql"),
        ("u1__a.cql", "it begins with a capital: rename it to U1__a.cql"),
        ("V1__a.CQL", "its extension is in lower case"),
        ("V1__a.cql~", "it is no migration"),
        ("V1__a.cql.orig", "it is no migration"),
        ("#V1__a.cql#", "it is no migration"),
        ("V1__a.sql", "it is no migration"),
        ("V1__a", "it is no migration"),
        ("R__a.cql", "it is no migration"),
        ("1__a.cql", "it is no migration"),
        ("é.cql", "it is no migration"),
        ("V__a.cql", "it has no version"),
        ("V.cql", "it has no version"),
        ("V-1__a.cql", "it has no version"),
        ("V0__a.cql", "a version is a whole number from 1"),
        ("V9223372036854775808__a.cql", "a version is a whole number from 1"),
        ("V1.2__a.cql", "two underscores"),
        ("V1_a.cql", "two underscores"),
        ("V1.cql", "two underscores"),
        ("V1__.cql", "a name is of the letters"),
        ("V1__a b.cql", "a name is of the letters"),
        ("V1__é.cql", "a name is of the letters"),
        ("V1__a.b.cql", "a name is of the letters"),
        ("old/", "this is a directory"),
        ("old.md/", "this is a directory"),
        ("V1__a.cql/", "this is a directory"),
    ] {
        let faults = faults(&[name]);
        let start = format!("migrations/{}: {why}", name.trim_end_matches('/'));
        assert!(faults.starts_with(&start), "{name}: {faults}");
    }
}

#[test]
fn two_files_of_one_version_and_an_undo_of_none_are_refused() {
    let text = faults(&["V001__b.cql", "V1__a.cql", "U2__c.cql", "U3__d.cql", "U03__e.cql", "V3__d.cql"]);
    let expected = [
        "migrations/V1__a.cql: V001__b.cql has version 1 as well: give one of them another",
        "migrations/U03__e.cql: U3__d.cql has version 3 as well: give one of them another",
        "migrations/U2__c.cql: there is no V2__….cql that it could undo: correct its version, or move it out",
    ];
    assert_eq!(text, expected.join("\n"));
}
