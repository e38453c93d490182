use crate::cql::{CqlErrorKind, Template, Value, Variables, one};

fn render(source: &str) -> Result<String, CqlErrorKind> {
    let variables = Variables::keyspace("shop")
        .with("odd", "a\"B c")
        .with("text", "it's")
        .with("number", -5)
        .with("flag", true)
        .with("map", Value::literal("{'class': 'SimpleStrategy'}"));
    let template = Template::parse(source).map_err(|error| error.kind().clone())?;
    template.render(&variables).map_err(|error| error.kind().clone())
}

#[test]
fn variables_are_whole_names_or_values() {
    for (source, expected) in [
        ("", ""),
        ("no variable $$ ${other} $$", "no variable $$ ${other} $$"),
        ("${keyspace}.t", "\"shop\".t"),
        ("a ${keyspace}.\"T\" b", "a \"shop\".\"T\" b"),
        ("${odd}", "\"a\"\"B c\""),
        ("{'class': ${text}, 'n': ${number}}", "{'class': 'it''s', 'n': -5}"),
        ("(${flag},${flag})", "(true,true)"),
        ("a = a -${number} AND b = -${map}", "a = a - -5 AND b = -{'class': 'SimpleStrategy'}"),
        ("-- ${keyspace} ${nothing}\na /* ${keyspace} */", "-- ${keyspace} ${nothing}\na /* ${keyspace} */"),
        ("'${other} ${'", "'${other} ${'"),
    ] {
        assert_eq!(render(source).as_deref(), Ok(expected), "{source:?}");
    }
}

#[test]
fn a_variable_in_a_string_or_without_a_value_is_an_error() {
    assert_eq!(render("a ${nothing}"), Err(CqlErrorKind::UnknownVariable("nothing".to_owned())));
    assert_eq!(render("'x ${keyspace}.t'"), Err(CqlErrorKind::VariableInText("keyspace".to_owned())));
    assert_eq!(render("$$ ${keyspace} $$"), Err(CqlErrorKind::VariableInText("keyspace".to_owned())));
    assert_eq!(render("\"${keyspace}\".t"), Err(CqlErrorKind::VariableInName));
    assert_eq!(render("${keyspace}_old.t"), Err(CqlErrorKind::VariableInName));
}

#[test]
fn errors_of_a_statement_are_at_their_place_in_the_script() {
    let statement = one("-- x\n  SELECT a\n FROM ${nothing}.t").unwrap();
    let error = statement.render(&Variables::keyspace("shop")).unwrap_err();
    assert_eq!((error.line(), error.column()), (3, 7));
    let statement = one("-- x\n  DROP TABLE ${nothing}.t").unwrap();
    let error = statement.render(&Variables::keyspace("shop")).unwrap_err();
    assert_eq!((error.line(), error.column()), (2, 14));
    assert_eq!(error.to_string(), "CQL line 2, column 14: ${nothing} has no value");
}

#[test]
fn a_value_that_is_no_cql_is_an_error() {
    let statement = one("DROP TABLE ${keyspace}.t").unwrap();
    for (name, kind) in [("a\0b", CqlErrorKind::Nul), ("a${b}", CqlErrorKind::VariableInName)] {
        assert_eq!(*statement.render(&Variables::keyspace(name)).unwrap_err().kind(), kind);
    }
    assert_eq!(statement.render(&Variables::keyspace("a\";b")).unwrap().text(), "DROP TABLE \"a\"\";b\".t");
}

#[test]
fn variables_are_named_once_in_order() {
    let template = Template::parse("${b} ${a} ${b} '${c}' -- ${d}").unwrap();
    assert_eq!(template.variables(), ["b", "a"]);
}

#[test]
fn values_of_variables_are_not_in_debug() {
    let variables = Variables::new().with("a", "secret");
    assert!(!format!("{variables:?}").contains("secret"));
}

/// Each `${w}` is the same text: at the places marked N it is a name, at those marked V a value.
#[test]
fn a_text_is_quoted_as_its_place_needs() {
    for (source, expected) in [
        ("SELECT ${w}, a FROM ${w}.${w} WHERE ${w} = ${w}", "NNNNV"),
        ("SELECT a AS ${w} FROM t WHERE token(${w}) > ${w} AND ${w} IN (${w}, ${w})", "NNVNVV"),
        ("SELECT a FROM t WHERE (a, ${w}) > (1, ${w}) LIMIT ${w}", "NVV"),
        ("SELECT a FROM t WHERE ${w} CONTAINS KEY ${w} AND a CONTAINS ${w} AND b LIKE ${w}", "NVVV"),
        ("INSERT INTO ${w}.t (a, ${w}) VALUES (${w}, f(${w})) USING TTL ${w}", "NNVVV"),
        (
            "UPDATE t SET ${w} = ${w}, m[${w}] = f(${w}), s = s + {${w}} WHERE a = ${w} IF ${w} = ${w}",
            "NVVVVVNV",
        ),
        (
            "CREATE TABLE ${w}.t (${w} text, b frozen<${w}>, c map<text, frozen<${w}.u>>, PRIMARY KEY (${w}))",
            "NNNNN",
        ),
        ("CREATE TABLE t (a int PRIMARY KEY) WITH comment = ${w} AND caching = {'keys': ${w}}", "VV"),
        ("CREATE TABLE t (a int, b int, PRIMARY KEY (a, b)) WITH CLUSTERING ORDER BY (${w} DESC)", "N"),
        ("CREATE KEYSPACE ${w} WITH replication = {'class': ${w}, ${w}: 3}", "NVV"),
        ("CREATE CUSTOM INDEX ${w} ON t (${w}) USING ${w}", "NNV"),
        ("INSERT INTO t JSON ${w}; SELECT JSON ${w} FROM t", "VN"),
        ("GRANT SELECT ON KEYSPACE ${w} TO ${w}; ALTER TABLE ${w}.t ADD ${w} text", "NNNN"),
        ("CREATE ROLE ${w} WITH PASSWORD = ${w} AND LOGIN = true", "NV"),
        ("UPDATE t SET a = 1 WHERE b < ${w} AND ${w} >= -${w}; DROP TABLE ${w}", "VNVN"),
    ] {
        let rendered = Template::parse(source).unwrap().render(&Variables::new().with("w", "x y")).unwrap();
        let places: String = rendered
            .match_indices("x y")
            .map(|(at, _)| if rendered[..at].ends_with('\'') { 'V' } else { 'N' })
            .collect();
        assert_eq!(places, expected, "{rendered}");
    }
}

#[test]
fn a_keyspaces_name_is_a_value_where_tables_of_the_system_are_asked_for_it() {
    let source = "SELECT * FROM system_schema.tables WHERE keyspace_name = ${keyspace}";
    assert_eq!(
        render(source).as_deref(),
        Ok("SELECT * FROM system_schema.tables WHERE keyspace_name = 'shop'")
    );
}

#[test]
fn a_literal_is_one_literal() {
    for text in [
        "5",
        "-5",
        "1.5e3",
        "'it''s'",
        "$$a$$",
        "true",
        "0xab",
        "1h30m",
        "{'a': 1, 'b': {1, 2}}",
        "[]",
        "(1, -2)",
    ] {
        assert_eq!(Variables::new().with("a", Value::literal(text)).check(), Ok(()), "{text}");
    }
    for text in [
        "",
        "5;",
        "5 6",
        "users",
        "5 -- x",
        " 5",
        "{1} + {2}",
        "{",
        "}{",
        "(1))((2)",
        "{;}",
        "'a' --",
        "{${b}}",
        "'",
    ] {
        assert!(Variables::new().with("a", Value::literal(text)).check().is_err(), "{text}");
    }
    assert_eq!(Variables::new().with("a", Value::parse("it's")).check(), Ok(()));
    for name in ["", "a b", "1", "a}", "_a"] {
        assert!(Variables::new().with(name, 1).check().is_err(), "{name}");
    }
}

#[test]
fn what_reads_as_a_literal_is_one() {
    let render = |value| {
        Template::parse("a = ${a}").unwrap().render(&Variables::new().with("a", Value::parse(value))).unwrap()
    };
    for (value, expected) in
        [("3600", "a = 3600"), ("shop", "a = 'shop'"), ("'3600'", "a = '3600'"), ("{1}", "a = {1}")]
    {
        assert_eq!(render(value), expected);
    }
}
