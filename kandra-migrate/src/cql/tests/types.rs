use crate::cql::{CqlErrorKind, CqlType};

fn parsed(text: &str) -> CqlType {
    CqlType::parse(text).unwrap_or_else(|error| panic!("{}", error.explain()))
}

#[test]
fn equal_types_have_one_spelling() {
    for (text, expected) in [
        ("int", "int"),
        (" INT ", "int"),
        ("varchar", "text"),
        ("VarChar", "text"),
        ("list < varchar >", "list<text>"),
        ("map<text,list<int>>", "map<text, list<int>>"),
        ("map<text, frozen<list<int>>>", "map<text, list<int>>"),
        ("frozen<map<text, frozen<list<int>>>>", "frozen<map<text, list<int>>>"),
        ("frozen<frozen<list<int>>>", "frozen<list<int>>"),
        ("tuple<int,frozen<list<text>>>", "tuple<int, list<text>>"),
        ("frozen<tuple<int, text>>", "tuple<int, text>"),
        ("vector<float,3>", "vector<float, 3>"),
        ("frozen<vector<frozen<list<int>>, 2>>", "vector<list<int>, 2>"),
        ("Address", "address"),
        ("\"Address\"", "\"Address\""),
        ("\"address\"", "address"),
        ("frozen<\"My T\">", "frozen<\"My T\">"),
        ("frozen<s.address>", "frozen<address>"),
        ("\"S\".\"A\"", "\"A\""),
        ("'Int32Type'", "int"),
        ("'org.apache.cassandra.db.marshal.BytesType'", "blob"),
        ("'org.apache.cassandra.db.marshal.DynamicCompositeType(s=>x)'", "'DynamicCompositeType(s=>x)'"),
        ("'com.example.Mine'", "'com.example.Mine'"),
        ("set<${element}>", "set<${element}>"),
    ] {
        let found = parsed(text);
        assert_eq!(found.to_string(), expected, "{text}");
        assert_eq!(parsed(&found.to_string()), found, "{text}");
    }
}

#[test]
fn frozen_counts_on_the_outside() {
    assert_ne!(parsed("frozen<list<int>>"), parsed("list<int>"));
    assert_ne!(parsed("frozen<address>"), parsed("address"));
    assert!(parsed("frozen<address>").is_same_unfrozen(&parsed("address")));
    assert_eq!(parsed("frozen<address>").thawed(), parsed("address"));
    assert_ne!(parsed("Address"), parsed("\"Address\""));
    assert_ne!(parsed("vector<int, 2>"), parsed("vector<int, 3>"));
}

#[test]
fn what_is_no_type() {
    let deep = "list<".repeat(1000);
    let kind = |text: &str| CqlType::parse(text).unwrap_err().kind().clone();
    assert_eq!(kind(&deep), CqlErrorKind::TooDeep);
    for text in [
        "",
        "list<",
        "list<int",
        "list<>",
        "int>",
        "vector<float>",
        "vector<float, x>",
        "1",
        "a.",
        "int text",
    ] {
        assert!(matches!(kind(text), CqlErrorKind::Syntax { .. }), "{text:?}");
    }
}
