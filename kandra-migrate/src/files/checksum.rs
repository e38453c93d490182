//! The checksum of files, a part of `k1`. **A frozen format**: checksums are stored.
//!
//! What is hashed is framed: a tag, the length of the content in bytes (eight bytes, big-endian) and the content. The
//! checksum is `k1:` and the SHA-256, in hexadecimal digits, of
//!
//! - for a script, `k1 cql\n` and, statement by statement: `s` with the digest of its tokens (`cql/digest.rs`), `m` with
//!   each mark, sorted, and `u` with the digest of its undo, if it has one;
//! - for a module with `cql_file!`, `k1 files\n`, `t` with the checksum of the module's tokens, and `f` with the checksum
//!   of each file's script, in the order in which the module names them first.
//!
//! So white space, comments and line ends do not count; marks and undos do, as they do in a module. `out-of-order`,
//! `after-start`, `accept` and `allow` do not, nor do the file's name and version, which are compared by themselves.

use sha2::{Digest as _, Sha256};

use super::script::Script;

const OF_SCRIPT: &[u8] = b"k1 cql\n";
const OF_MODULE: &[u8] = b"k1 files\n";
/// Of a text that is no script: it cannot be applied, but it must not pass for another one.
const OF_UNREADABLE: &[u8] = b"k1 text\n";

/// The checksum of a script.
pub(crate) fn of_script(script: &Script) -> String {
    let mut hash = Sha256::new_with_prefix(OF_SCRIPT);
    for marked in &script.statements {
        add(&mut hash, b's', &marked.statement.digest());
        let mut marks: Vec<_> = marked.marks.iter().filter_map(super::Mark::canonical).collect();
        marks.sort();
        for mark in marks {
            add(&mut hash, b'm', &mark);
        }
        if let Some(undo) = &marked.undo {
            add(&mut hash, b'u', &undo.digest());
        }
    }
    finish(hash)
}

/// The checksum of a module with files: their paths, for messages, and their texts.
pub(crate) fn of_module(tokens: &str, files: &[(&str, &str)]) -> String {
    let mut hash = Sha256::new_with_prefix(OF_MODULE);
    add(&mut hash, b't', tokens);
    for (path, text) in files {
        let script = Script::parse(path, text);
        add(&mut hash, b'f', &script.map_or_else(|_| of_unreadable(text), |script| of_script(&script)));
    }
    finish(hash)
}

fn of_unreadable(text: &str) -> String {
    let mut hash = Sha256::new_with_prefix(OF_UNREADABLE);
    hash.update(text.replace("\r\n", "\n"));
    finish(hash)
}

fn add(hash: &mut Sha256, tag: u8, content: &str) {
    hash.update([tag]);
    hash.update((content.len() as u64).to_be_bytes());
    hash.update(content);
}

fn finish(hash: Sha256) -> String {
    format!("k1:{}", hex::encode(hash.finalize()))
}
