//! Functions as rustfmt writes them in a module.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::Result;
use crate::corpus::Source;

/// How much rustfmt likes to put on one line.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Heuristics {
    Default,
    Max,
}

/// The content of one formatted module.
pub(crate) struct Module {
    pub(crate) text: String,
    pub(crate) content: TokenStream,
}

/// Formats each function in a module of its own.
pub(crate) fn format(corpus: &Source, width: u32, heuristics: Heuristics) -> Result<Vec<Module>> {
    let mut source = String::new();
    for function in &corpus.functions {
        writeln!(source, "mod migration {{\n{function}\n}}")?;
    }
    let formatted =
        rustfmt(&source, &corpus.edition, &format!("max_width={width},use_small_heuristics={heuristics:?}"))?;
    let file: TokenStream =
        formatted.parse().map_err(|error| format!("rustfmt wrote what is no Rust: {error}"))?;
    let modules = file.into_iter().filter_map(|tree| match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
            Some(Module { text: formatted[group.span().byte_range()].to_owned(), content: group.stream() })
        }
        _ => None,
    });
    Ok(modules.collect())
}

fn rustfmt(source: &str, edition: &str, config: &str) -> Result<String> {
    let mut child = Command::new("rustfmt")
        .args(["--edition", edition, "--style-edition", "2024", "--quiet", "--config", config])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = child.stdin.take().ok_or("rustfmt has no input")?;
    let source = source.to_owned();
    let writer = std::thread::spawn(move || input.write_all(source.as_bytes()));
    let output = child.wait_with_output()?;
    writer.join().map_err(|_| "the thread that writes to rustfmt panicked")??;
    if output.stdout.is_empty() {
        return Err(format!("rustfmt failed: {}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
