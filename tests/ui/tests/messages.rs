//! What the compiler says of a wrong migration. `TRYBUILD=overwrite` writes the expected texts anew.

#[test]
fn wrong_migrations_are_refused_with_what_to_write_instead() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("fail/*.rs");
    cases.pass("pass/*.rs");
}
