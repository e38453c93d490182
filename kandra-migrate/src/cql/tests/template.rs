use crate::cql::{CqlErrorKind, Template, Value, Variables, one};

fn render(source: &str) -> Result<String, CqlErrorKind> {
    let variables = Variables::keyspace("shop")
        .with("odd", Value::Name("a\"B c".to_owned()))
        .with("text", Value::Text("it's".to_owned()))
        .with("number", Value::Number(-5))
        .with("flag", Value::Boolean(true));
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
    let variables = Variables::new().with("a", Value::Text("secret".to_owned()));
    assert!(!format!("{variables:?}").contains("secret"));
}
