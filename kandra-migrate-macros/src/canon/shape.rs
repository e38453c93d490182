//! Questions about the shape of code that a few tokens answer. Where they cannot, the answer is the one
//! that leaves more in the checksum: two spellings then count as different, never two meanings as equal.

use proc_macro2::Delimiter;

use super::token::{Token, is_keyword};

/// Whether an expression, pattern or argument can end with this token, so that a following `|` or `||` is
/// a binary operator. After `}`, `>` and `..` either can
/// stand: the answer is yes, and no closure is seen there.
pub(crate) fn ends_operand(token: &Token) -> bool {
    match token {
        Token::Word(word) => !is_keyword(word) || ends_path(word),
        Token::Op(op) => matches!(op.as_str(), "?" | ">" | ".."),
        Token::Literal(_) | Token::Lifetime(_) | Token::Group(..) => true,
        Token::Import(_) => false,
    }
}

fn ends_path(keyword: &str) -> bool {
    matches!(keyword, "self" | "Self" | "super" | "crate" | "true" | "false" | "await")
}

/// Whether parentheses after `before` hold arguments or fields, so that they cannot be a tuple.
pub(crate) fn takes_arguments(before: &[Token]) -> bool {
    let (Some(last), earlier) = (before.last(), &before[..before.len().saturating_sub(1)]) else {
        return false;
    };
    match last {
        Token::Word(word) => !is_keyword(word) || matches!(word.as_str(), "self" | "Self" | "super" | "fn"),
        Token::Op(op) if op == "?" => true,
        Token::Op(op) if op == ">" => closes_parameters(earlier),
        Token::Group(Delimiter::Parenthesis, _) => !earlier.last().is_some_and(|token| token.is_word("pub")),
        Token::Group(Delimiter::Bracket, _) => !opens_attribute(earlier),
        _ => false,
    }
}

/// Whether `before` ends in the `#` or `#!` of an attribute.
fn opens_attribute(before: &[Token]) -> bool {
    match before {
        [.., hash, bang] if bang.is_op("!") => hash.is_op("#"),
        [.., hash] => hash.is_op("#"),
        [] => false,
    }
}

/// Whether the `>` that follows `before` closes a turbofish or the parameters of a `fn` or `struct`.
fn closes_parameters(before: &[Token]) -> bool {
    let mut depth = 1_usize;
    for (at, token) in before.iter().enumerate().rev() {
        let opened = match token {
            Token::Op(op) if op == "<" => 1,
            Token::Op(op) if op == "<<" => 2,
            Token::Op(op) if op == ">" => {
                depth += 1;
                0
            }
            _ => 0,
        };
        if depth <= opened {
            return match &before[..at] {
                [.., item, name] if name.name().is_some() => item.is_word("fn") || item.is_word("struct"),
                [.., last] => last.is_op("::"),
                [] => false,
            };
        }
        depth -= opened;
    }
    false
}

/// Whether parentheses that hold `inner` up to a last comma are a tuple of at least two elements also
/// without that comma: an earlier comma separates elements, and not generic arguments or the parameters
/// of a closure.
pub(crate) fn separates_elements(inner: &[Token]) -> bool {
    let mut angles = 0_usize;
    for (at, token) in inner.iter().enumerate() {
        match token {
            Token::Op(op) => match op.as_str() {
                "," if angles == 0 => return at + 1 < inner.len(),
                "|" if !certainly_ends_operand(&inner[..at]) => return false,
                "<" => angles += 1,
                "<<" => angles += 2,
                ">" => angles = angles.saturating_sub(1),
                _ => {}
            },
            Token::Word(_) | Token::Lifetime(_) | Token::Literal(_) | Token::Group(..) | Token::Import(_) => {
            }
        }
    }
    false
}

/// The same as [`ends_operand`] of the last token, but where that is not sure the answer is no.
fn certainly_ends_operand(before: &[Token]) -> bool {
    match before {
        [] | [.., Token::Lifetime(_) | Token::Group(Delimiter::Brace, _)] => false,
        [.., Token::Op(op)] => op == "?",
        [earlier @ .., Token::Group(Delimiter::Bracket, _)] => !opens_attribute(earlier),
        [.., last] => ends_operand(last),
    }
}

/// Whether a block with this content (in canonical form) is the same without its braces: it is one
/// expression, and nothing else.
pub(crate) fn is_single_expression(content: &[Token]) -> bool {
    let simple = !content.is_empty()
        && !content.iter().any(|token| token.is_op(";") || matches!(token, Token::Import(_)))
        && !content[0].is_op("#")
        && !starts_item(content)
        && !starts_with_braced_macro(content);
    simple && (!starts_block_like(content) || block_like_end(content) == Some(content.len()))
}

/// Whether a block has this statement alone: `return …;`, `break …;` or `continue …;`. As its value is
/// never used, it is the same without its semicolon.
pub(crate) fn is_jump_statement(content: &[Token]) -> bool {
    let [Token::Word(jump), operand @ .., end] = content else {
        return false;
    };
    matches!(jump.as_str(), "return" | "break" | "continue")
        && end.is_op(";")
        && !operand.iter().any(|token| token.is_op(";"))
}

/// Whether an item or a `let` begins here.
pub(crate) fn starts_item(tokens: &[Token]) -> bool {
    let Some(Token::Word(first)) = tokens.first() else {
        return false;
    };
    let second = tokens.get(1);
    match first.as_str() {
        "let" | "fn" | "struct" | "enum" | "impl" | "trait" | "mod" | "use" | "type" | "extern" | "pub"
        | "macro" => true,
        "const" => second
            .is_some_and(|token| matches!(token, Token::Word(word) if word != "move" && word != "async")),
        "static" => second
            .is_some_and(|token| matches!(token, Token::Word(word) if word != "move" && word != "async")),
        "unsafe" => second.is_some_and(|token| token.braced().is_none()),
        "async" => second.is_some_and(|token| token.is_word("fn") || token.is_word("unsafe")),
        "macro_rules" => second.is_some_and(|token| token.is_op("!")),
        "union" | "auto" | "safe" | "default" => {
            second.is_some_and(|token| matches!(token, Token::Word(word) if word != "as"))
        }
        _ => false,
    }
}

/// `name! { … }` and `path::name! { … }`: as a statement it ends there, and may expand to statements.
fn starts_with_braced_macro(tokens: &[Token]) -> bool {
    let path =
        tokens.iter().take_while(|token| token.name().is_some() || token.is_op("::") || is_path_root(token));
    let rest = &tokens[path.count()..];
    matches!(rest, [bang, body, ..] if bang.is_op("!") && body.braced().is_some())
}

fn is_path_root(token: &Token) -> bool {
    ["self", "super", "crate", "$crate"].iter().any(|root| token.is_word(root))
}

/// An expression that, where a statement may stand, ends with its closing brace.
fn starts_block_like(tokens: &[Token]) -> bool {
    match tokens.first() {
        Some(Token::Lifetime(_)) => true,
        Some(Token::Word(word)) => {
            matches!(word.as_str(), "if" | "match" | "loop" | "while" | "for" | "unsafe" | "try")
                || word == "const" && tokens.get(1).is_some_and(|token| token.braced().is_some())
        }
        Some(token) => token.braced().is_some(),
        None => false,
    }
}

/// How many tokens the block-like expression at the start takes, where that is plain to see.
fn block_like_end(tokens: &[Token]) -> Option<usize> {
    match tokens.first()? {
        Token::Lifetime(_) => {
            let labelled = tokens.get(1).is_some_and(|token| token.is_op(":")).then(|| &tokens[2..])?;
            block_like_end(labelled).map(|end| end + 2)
        }
        Token::Group(..) => Some(1),
        Token::Word(word) => match word.as_str() {
            "if" => if_end(tokens),
            "match" | "while" => head_end(tokens, 1).map(|body| body + 1),
            "for" => {
                let within = tokens.iter().position(|token| token.is_word("in"))?;
                head_end(tokens, within + 1).map(|body| body + 1)
            }
            "loop" | "unsafe" | "const" | "try" => tokens.get(1)?.braced().map(|_| 2),
            _ => None,
        },
        _ => None,
    }
}

fn if_end(tokens: &[Token]) -> Option<usize> {
    let end = head_end(tokens, 1)? + 1;
    match &tokens[end..] {
        [word, next, ..] if word.is_word("else") && next.is_word("if") => {
            if_end(&tokens[end + 1..]).map(|rest| end + 1 + rest)
        }
        [word, next, ..] if word.is_word("else") => next.braced().map(|_| end + 2),
        _ => Some(end),
    }
}

/// Where the body's braces are that follow a condition, a scrutinee or an iterator starting at `from`.
fn head_end(tokens: &[Token], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let token = tokens.get(at)?;
        if token.braced().is_some() {
            let operand = at > from && ends_operand(&tokens[at - 1]) && !tokens[at - 1].is_op(">");
            return operand.then_some(at);
        }
        match token {
            // A pattern may have braces of its own.
            Token::Word(word) if word == "let" => {
                at += tokens[at..].iter().position(|token| token.is_op("="))?;
            }
            Token::Word(word) if word == "unsafe" => {
                at += 1;
                tokens.get(at)?.braced()?;
            }
            Token::Word(word)
                if is_keyword(word) && !ends_path(word) && !matches!(word.as_str(), "as" | "mut" | "dyn") =>
            {
                return None;
            }
            Token::Lifetime(_) | Token::Import(_) => return None,
            _ => {}
        }
        at += 1;
    }
}

/// Whether an invisible group's tokens mean the same without it, whatever stands around it: an item or a
/// statement, a path or a type with its arguments, or an operand with calls and fields behind it.
pub(crate) fn binds_alike_bare(inner: &[Token]) -> bool {
    let starts_item = inner.first().is_some_and(|token| token.is_op("#")) || starts_item(inner);
    inner.len() <= 1 || starts_item || is_chain(inner)
}

/// Angle brackets in pairs are no comparisons, which cannot be chained.
fn is_chain(tokens: &[Token]) -> bool {
    let mut angles = 0_usize;
    let is_link = |token: &Token| match token {
        Token::Word(word) => !is_keyword(word) || ends_path(word),
        Token::Op(op) => match op.as_str() {
            "::" | "." | "?" => true,
            "," => angles > 0,
            "<" | "<<" => {
                angles += op.len();
                true
            }
            ">" | ">>" => angles.checked_sub(op.len()).map(|rest| angles = rest).is_some(),
            _ => false,
        },
        Token::Literal(_) | Token::Lifetime(_) | Token::Group(..) => true,
        Token::Import(_) => false,
    };
    tokens.iter().all(is_link) && angles == 0
}
