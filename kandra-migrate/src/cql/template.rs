//! Statements with `${name}` in them.
//!
//! A variable stands where a whole name or a value stands: `${keyspace}.users`, `LIMIT ${limit}`. A text is
//! quoted as its place needs: `"shop"` for a name, `'shop'` for a value. In a comment it is a part of the comment. In a string it is text, and only an error if a variable of that name
//! is defined, since then it was meant to be replaced. As a part of a name it is an error.

use super::error::{CqlError, CqlErrorKind};
use super::lexer::{Lexer, variable_name, variables_in};
use super::place::Places;
use super::statement::Statement;
use super::token::{Span, TokenKind};
use super::value::Variables;

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
    /// Whether a value, and not a name, stands there.
    at_value: bool,
}

impl Template {
    /// Finds the variables of a text.
    pub fn parse(text: &str) -> Result<Self, CqlError> {
        let mut template = Self { text: text.to_owned(), variables: Vec::new(), in_text: Vec::new() };
        let mut places = Places::new(text);
        for token in Lexer::new(text) {
            let token = token.map_err(|fault| fault.within(text))?;
            let start = token.span.start;
            let content = token.text(text);
            let at_value = places.read(token);
            match token.kind {
                TokenKind::Variable => {
                    let name = variable_name(content).to_owned();
                    // `${keyspace}.users`: what a dot follows is a name.
                    let at_value = at_value && !text[token.span.end..].trim_start().starts_with('.');
                    template.variables.push(Place { name, span: token.span, at_value });
                }
                TokenKind::Text | TokenKind::DollarText => {
                    template.in_text.extend(variables_in(content).map(|(at, name)| {
                        let at = start + at;
                        let span = Span { start: at, end: at + name.len() + 3 };
                        Place { name: name.to_owned(), span, at_value }
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
        if let Some(place) = self.in_text.iter().find(|place| variables.get(&place.name).is_some()) {
            return Err(error(CqlErrorKind::VariableInText(place.name.clone()), place));
        }
        let mut out = String::with_capacity(self.text.len());
        let mut copied = 0;
        for place in &self.variables {
            let Some(value) = variables.get(&place.name) else {
                return Err(error(CqlErrorKind::UnknownVariable(place.name.clone()), place));
            };
            out.push_str(&self.text[copied..place.span.start]);
            let value = value.render(place.at_value);
            // Two signs in a row would begin a comment.
            if out.ends_with('-') && value.starts_with('-') {
                out.push(' ');
            }
            out.push_str(&value);
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
