//! What `#[migration]` leaves in a module.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

#[path = "../../../kandra-migrate-macros/src/canon/mod.rs"]
mod canon;

/// The checksum of the module of this name, by its source text alone.
fn checksum_of_text(name: &str) -> String {
    let source: TokenStream = include_str!("../src/lib.rs").parse().expect("the crate is Rust");
    let content = content_of(name, source).unwrap_or_else(|| panic!("there is no module {name}"));
    canon::checksum(TokenStream::new(), content)
}

fn content_of(name: &str, source: TokenStream) -> Option<TokenStream> {
    let mut before = [String::new(), String::new()];
    for tree in source {
        if let TokenTree::Group(group) = &tree
            && group.delimiter() == Delimiter::Brace
        {
            if before == ["mod", name] {
                return Some(group.stream());
            }
            if let Some(content) = content_of(name, group.stream()) {
                return Some(content);
            }
        }
        before = [std::mem::take(&mut before[1]), tree.to_string()];
    }
    None
}

#[test]
fn a_migration_knows_what_it_is() {
    let [create, shared, above, email, split] = ui::migrations();
    let versions = [create, shared, above, email, split].map(|migration| migration.version().get());
    assert_eq!(versions, [1, 3, 4, 5, 20_260_102]);
    assert_eq!(create.name(), "create_users");
    assert_eq!(shared.name(), "match");
    assert_eq!(shared.accept().len(), 1);
    assert_eq!(shared.reaches_outside(), Some("the table's name is the same everywhere"));
    assert_eq!(create.reaches_outside(), None);
    assert!(split.is_out_of_order() && !create.is_out_of_order());
    assert!(split.is_after_start() && !create.is_after_start());
    let line = 1 + include_str!("../src/lib.rs")
        .lines()
        .position(|line| line == "#[migration(version = 1)]")
        .unwrap();
    assert!(create.location().ends_with(&format!("src/lib.rs:{line}")), "{}", create.location());
}

#[test]
fn the_compilers_tokens_and_the_texts_have_one_checksum() {
    let [create, shared, above, _, split] = ui::migrations();
    for (migration, module) in
        [(create, "create_users"), (shared, "r#match"), (above, "seen_above"), (split, "split_user_name")]
    {
        assert_eq!(migration.checksum(), checksum_of_text(module), "{module}");
    }
}

#[test]
fn a_migration_that_a_macro_writes_has_the_checksum_of_what_it_writes() {
    let [.., email, _] = ui::migrations();
    let written = r#"use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan { cql("ALTER TABLE ${keyspace}.users ADD email text") }"#;
    assert_eq!(email.checksum(), canon::checksum(TokenStream::new(), written.parse().unwrap()));
}

#[test]
fn a_renamed_and_a_reexported_library_serve_as_well() {
    assert_eq!(renamed::by_another_name::MIGRATION.version().get(), 1);
    assert_eq!(renamed::through_a_facade::MIGRATION.version().get(), 2);
}

#[test]
fn a_migration_of_files_has_a_checksum_of_them_as_well() {
    let migration = &ui::from_files::MIGRATION;
    assert!(migration.checksum().starts_with("k1:"));
    assert_ne!(migration.checksum(), checksum_of_text("from_files"));
    kandra_migrate::Registry::of([migration]).check().expect("the files are part of it");
}

/// A registry of a crate has the files of its directories, and a crate that is renamed has them too.
#[test]
fn the_files_of_a_directory_are_migrations_of_the_crates_registry() {
    let migrations = renamed::MIGRATIONS.migrations().expect("migrations");
    let named =
        |version| migrations.iter().find(|migration| migration.version().get() == version).map(|m| m.name());
    assert_eq!(named(7), Some("add_index"));
    let of_file = migrations.iter().find(|migration| migration.version().get() == 7).expect("the file");
    assert_eq!(of_file.location(), "migrations/V0007__add_index.cql:1");
    renamed::MIGRATIONS.check().expect("they are sound");
}
