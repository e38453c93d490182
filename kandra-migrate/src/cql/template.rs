//! Statements with `${name}` in them.
//!
//! A variable stands where a whole name or a value stands: `${keyspace}.users`, `LIMIT ${limit}`. In a
//! comment it is a part of the comment. In a string it is text, and only an error if a variable of that name
//! is defined, since then it was meant to be replaced. As a part of a name it is an error.

use std::collections::BTreeMap;
use std::fmt;

use super::error::{CqlError, CqlErrorKind};
use super::lexer::{Lexer, variable_name, variables_in};
use super::name::quote;
use super::statement::Statement;
use super::token::{Span, TokenKind};

/// What a variable stands for.
#[derive(Clone, PartialEq, Eq)]
pub enum Value {
    /// The name of a keyspace, table, column, role…; rendered in double quotes.
    Name(String),
    /// A string; rendered in single quotes.
    Text(String),
    /// A number.
    Number(i64),
    /// `true` or `false`.
    Boolean(bool),
}

impl Value {
    fn render(&self) -> String {
        match self {
            Self::Name(name) => quote(name),
            Self::Text(text) => format!("'{}'", text.replace('\'', "''")),
            Self::Number(number) => number.to_string(),
            Self::Boolean(boolean) => boolean.to_string(),
        }
    }
}

/// Hides strings, which may be secret.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(_) => f.write_str("'…'"),
            _ => f.write_str(&self.render()),
        }
    }
}

/// The variables that are defined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables(BTreeMap<String, Value>);

impl Variables {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One more, or another value for one.
    #[must_use]
    pub fn with(mut self, variable: &str, value: Value) -> Self {
        self.0.insert(variable.to_owned(), value);
        self
    }

    /// `${keyspace}`.
    #[must_use]
    pub fn keyspace(name: &str) -> Self {
        Self::new().with("keyspace", Value::Name(name.to_owned()))
    }
}

/// A statement or script with its variables found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    text: String,
    variables: Vec<Place>,
    /// What looks like a variable inside of strings.
    in_text: Vec<Place>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    name: String,
    span: Span,
}

impl Template {
    /// Finds the variables of a text.
    pub fn parse(text: &str) -> Result<Self, CqlError> {
        let mut template = Self { text: text.to_owned(), variables: Vec::new(), in_text: Vec::new() };
        for token in Lexer::new(text) {
            let token = token.map_err(|fault| fault.within(text))?;
            let start = token.span.start;
            let content = token.text(text);
            match token.kind {
                TokenKind::Variable => {
                    let name = variable_name(content).to_owned();
                    template.variables.push(Place { name, span: token.span });
                }
                TokenKind::Text | TokenKind::DollarText => {
                    template.in_text.extend(variables_in(content).map(|(at, name)| {
                        let at = start + at;
                        Place { name: name.to_owned(), span: Span { start: at, end: at + name.len() + 3 } }
                    }));
                }
                _ => {}
            }
        }
        Ok(template)
    }

    /// The text before anything is replaced.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names of the variables, in the order of the text, each once.
    #[must_use]
    pub fn variables(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for place in &self.variables {
            if !names.contains(&place.name.as_str()) {
                names.push(&place.name);
            }
        }
        names
    }

    /// The text with the variables replaced.
    pub fn render(&self, variables: &Variables) -> Result<String, CqlError> {
        let error = |kind, place: &Place| CqlError::new(kind, &self.text, place.span.start);
        if let Some(place) = self.in_text.iter().find(|place| variables.0.contains_key(&place.name)) {
            return Err(error(CqlErrorKind::VariableInText(place.name.clone()), place));
        }
        let mut out = String::with_capacity(self.text.len());
        let mut copied = 0;
        for place in &self.variables {
            let Some(value) = variables.0.get(&place.name) else {
                return Err(error(CqlErrorKind::UnknownVariable(place.name.clone()), place));
            };
            out.push_str(&self.text[copied..place.span.start]);
            out.push_str(&value.render());
            copied = place.span.end;
        }
        out.push_str(&self.text[copied..]);
        Ok(out)
    }
}

impl Statement {
    /// The statement with its variables replaced.
    pub fn render(&self, variables: &Variables) -> Result<Self, CqlError> {
        let rendered = Template::parse(self.text()).and_then(|template| {
            let text = template.render(variables)?;
            // A value can be one that no text of CQL holds, such as a name with a NUL.
            match Lexer::new(&text).find_map(Result::err) {
                Some(fault) => Err(fault.within(&text)),
                None => Ok(text),
            }
        });
        rendered.map(|text| self.with_text(text)).map_err(|error| error.moved_to(self.origin()))
    }
}
