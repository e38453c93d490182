//! Rules of the lint that a script allows in place.

use super::error::CqlError;
use super::position::Position;
use super::rule::Rule;
use super::script::split;

/// What an allowance begins with, after `--` or `//`.
const MARK: &str = "kandra: allow ";

/// A rule that a comment allows for the statement below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The statement, counted from 0 as [`split`] counts them.
    pub statement: usize,
    /// The code as it is written, and the rule, if there is one of that code.
    pub code: String,
    /// The rule; `None` for a code that no rule has, which is a mistake to be told.
    pub rule: Option<Rule>,
    /// Where the comment begins.
    pub position: Position,
}

/// The allowances of a script: `-- kandra: allow KL01, KL04` on a line of its own above a statement. Comments behind
/// something else on their line, behind the last statement, and inside of one, allow nothing.
pub fn allowances(source: &str) -> Result<Vec<Allowance>, CqlError> {
    let mut found = Vec::new();
    let mut counted = (0, Position::START);
    let mut gap_start = 0;
    for (statement, piece) in split(source)?.into_iter().enumerate() {
        for (at, comment) in line_comments(source, gap_start, piece.span.start) {
            let Some(codes) = comment.trim_start().strip_prefix(MARK) else { continue };
            let line = source[..at].rsplit(['\n', '\r']).next().unwrap_or_default();
            if !line.trim_start_matches('\u{feff}').trim().is_empty() {
                continue;
            }
            let position = counted.1.after(&source[counted.0..at]);
            counted = (at, position);
            let codes = codes.split([',', ' ']).map(str::trim).filter(|code| !code.is_empty());
            found.extend(codes.map(|code| Allowance {
                statement,
                code: code.to_owned(),
                rule: Rule::from_code(code),
                position,
            }));
        }
        gap_start = piece.span.end;
    }
    Ok(found)
}

/// The comments to the line's end between two statements, each with where it begins, without its `--`.
fn line_comments(source: &str, from: usize, to: usize) -> Vec<(usize, &str)> {
    let mut comments = Vec::new();
    let mut at = from;
    while at < to {
        let rest = &source[at..to];
        if let Some(comment) = rest.strip_prefix("--").or_else(|| rest.strip_prefix("//")) {
            let length = comment.find(['\n', '\r']).unwrap_or(comment.len());
            comments.push((at, &comment[..length]));
            at += 2 + length;
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    comments
}
