//! A file of CQL: its statements, each with what its author says of it in comments.

use super::fault::Fault;
use super::mark::{self, Directive, Mark, Setting};
use crate::cql::{self, Comment, Piece, Position, Statement};

/// The statements of a file.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    /// What is said of the file as a whole.
    pub(crate) settings: Vec<Setting>,
    /// At least one.
    pub(crate) statements: Vec<Marked>,
}

/// A statement, with what is said of it.
#[derive(Debug, Clone)]
pub(crate) struct Marked {
    pub(crate) statement: Statement,
    pub(crate) marks: Vec<Mark>,
    pub(crate) undo: Option<Statement>,
}

impl Script {
    /// Reads the text of the file at `path`, which is for messages.
    pub(crate) fn parse(path: &str, text: &str) -> Result<Self, Fault> {
        let of_cql = |error| Fault::of_cql(path, &error);
        let pieces = cql::split(text).map_err(of_cql)?;
        let comments = cql::comments(text).map_err(of_cql)?;
        let mut reader = Reader {
            path,
            text,
            pieces: &pieces,
            said: vec![Said::default(); pieces.len()],
            settings: Vec::new(),
        };
        for comment in comments {
            reader.comment(comment)?;
        }
        let Reader { said, settings, .. } = reader;
        let statements = with_undos(path, &pieces, said)?;
        if statements.is_empty() {
            return Err(Fault::of_file(path, "there is no statement in it"));
        }
        Ok(Self { settings, statements })
    }

    /// With the undo that is in a file of its own: a statement for each one, the last one's first.
    pub(crate) fn with_undo(mut self, path: &str, text: &str) -> Result<Self, Fault> {
        let undo = Self::parse(path, text)?;
        let says_something = |marked: &Marked| !marked.marks.is_empty() || marked.undo.is_some();
        if !undo.settings.is_empty() || undo.statements.iter().any(says_something) {
            return Err(Fault::of_file(path, "nothing can be said of the statements of an undo"));
        }
        if self.statements.iter().any(|marked| marked.undo.is_some()) {
            return Err(Fault::of_file(
                path,
                "the undo is in the migration already, as `-- kandra: undo`: choose one place",
            ));
        }
        let (here, there) = (undo.statements.len(), self.statements.len());
        if here != there {
            return Err(Fault::of_file(
                path,
                format!(
                    "it has {here} statements and the migration has {there}: write one for each, that of the last one first, since a version may have failed half-way. Where some have no undo, write `-- kandra: undo` behind those that have"
                ),
            ));
        }
        for (marked, undo) in self.statements.iter_mut().zip(undo.statements.into_iter().rev()) {
            marked.undo = Some(undo.statement);
        }
        Ok(self)
    }
}

/// The statements, those that undo another one with that one.
fn with_undos(path: &str, pieces: &[Piece<'_>], said: Vec<Said<'_>>) -> Result<Vec<Marked>, Fault> {
    let mut statements: Vec<Marked> = Vec::new();
    for (piece, Said { undo, marks }) in pieces.iter().zip(said) {
        let statement = Statement::from(*piece);
        match (undo, statements.last_mut()) {
            (None, _) => statements.push(Marked { statement, marks, undo: None }),
            (Some(_), Some(last)) if last.undo.is_none() => last.undo = Some(statement),
            (Some(comment), Some(_)) => {
                return Err(comment.fault(path, "the statement before has an undo already"));
            }
            (Some(comment), None) => {
                return Err(comment.fault(path, "there is no statement before, which it could undo"));
            }
        }
    }
    Ok(statements)
}

/// What the comments before a statement say of it.
#[derive(Debug, Clone, Default)]
struct Said<'a> {
    /// The comment that makes it the undo of the one before.
    undo: Option<Place<'a>>,
    marks: Vec<Mark>,
}

/// A comment and its line.
#[derive(Debug, Clone, Copy)]
struct Place<'a> {
    comment: &'a str,
    line: usize,
}

impl Place<'_> {
    fn fault(self, path: &str, message: impl Into<String>) -> Fault {
        Fault::of_comment(path, self.line, self.comment, message)
    }
}

struct Reader<'a> {
    path: &'a str,
    text: &'a str,
    pieces: &'a [Piece<'a>],
    /// Of each piece.
    said: Vec<Said<'a>>,
    settings: Vec<Setting>,
}

impl<'a> Reader<'a> {
    fn comment(&mut self, comment: Comment<'a>) -> Result<(), Fault> {
        let Some(directives) = mark::read(comment.text) else { return Ok(()) };
        let line = Position::in_text(self.text, comment.span.start).line;
        let place = Place { comment: comment.text, line };
        let fault = |message: String| place.fault(self.path, message);
        let directives = directives.map_err(fault)?;
        let before = &self.text[..comment.span.start];
        let line_start = before.rfind(['\n', '\r']).map_or(0, |end| end + 1);
        if !before[line_start..].trim_start_matches('\u{feff}').trim().is_empty() {
            return Err(fault(
                "it stands on a line of its own, before the statement that it is about".to_owned(),
            ));
        }
        let next = self.pieces.partition_point(|piece| piece.span.end <= comment.span.start);
        let Some(piece) = self.pieces.get(next) else {
            return Err(fault("no statement follows, which it could be about".to_owned()));
        };
        if piece.span.start < comment.span.start {
            return Err(fault(
                "it stands before a statement, not inside of one; is there a `;` missing?".to_owned(),
            ));
        }
        directives.into_iter().try_for_each(|directive| self.directive(directive, next, place)).map_err(fault)
    }

    fn directive(&mut self, directive: Directive, next: usize, place: Place<'a>) -> Result<(), String> {
        let said = &mut self.said[next];
        match directive {
            Directive::OfMigration(_) if next > 0 => {
                return Err("this is about the whole file: write it before the first statement".to_owned());
            }
            Directive::OfMigration(setting) if self.settings.contains(&setting) => {
                return Err("this is said twice".to_owned());
            }
            Directive::OfMigration(setting) => self.settings.push(setting),
            Directive::Undo if said.undo.is_some() => return Err("this is said twice".to_owned()),
            Directive::Undo => said.undo = Some(place),
            Directive::OfStatement(mark) => {
                if let Some(why) = said.marks.iter().find_map(|earlier| mark.excludes(earlier)) {
                    return Err(why.to_owned());
                }
                said.marks.push(mark);
            }
        }
        if said.undo.is_some() && !said.marks.is_empty() {
            return Err("nothing else can be said of an undo".to_owned());
        }
        Ok(())
    }
}
