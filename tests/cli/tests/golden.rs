//! Comparing texts with the files in `golden/`.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Compares, or writes the file where `KANDRA_BLESS` is set.
pub(crate) fn assert(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(name);
    if std::env::var_os("KANDRA_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        return;
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        golden == text,
        "{} differs. It has:\n{golden}\nand now it is:\n{text}\nIf that is right: KANDRA_BLESS=1",
        path.display()
    );
}

/// The text without what differs between two runs.
pub(crate) fn normalised(text: &str, keyspace: &str) -> String {
    static VOLATILE: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        [
            (r"cassandra://[^\s/]+/", "cassandra://HOSTS/"),
            (r#"(?:[^\s"]*/target/[^\s"]*/)?(kandra)-under-test\b"#, "$1"),
            (r#"[^\s"]*/target/[^\s"]*/(shop|embedded-cli)\b"#, "$1"),
            (r"pid \d+", "pid PID"),
            (r"\d{4}-\d\d-\d\d([ T])\d\d:\d\d:\d\dZ", "YYYY-MM-DD${1}hh:mm:ssZ"),
            // A lease that is renewed leaves gaps.
            (r#"("revision": )\d+"#, "${1}REVISION"),
            (r"(?m)^ +\d+  YYYY", "  REVISION  YYYY"),
            (r"k1:[0-9a-f]{64}", "k1:CHECKSUM"),
            (r#"("(?:took|waited)_ms": )\d+"#, "${1}MS"),
            (r"\b(?:\d+ min )?[0-9.]+ (?:ms|s|min)\b", "SOME TIME"),
            (r"(\.rs):\d+", "$1:LINE"),
            (r"(?:/[^\s/:]+)+/migrations\b", "migrations"),
        ]
        .map(|(pattern, with)| (Regex::new(pattern).unwrap(), with))
        .into()
    });
    // The width of a column is that of a volatile value.
    static COLUMN: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(\S)  +").unwrap());
    let mut text = text.replace(keyspace, "KEYSPACE");
    for (pattern, with) in VOLATILE.iter() {
        text = pattern.replace_all(&text, *with).into_owned();
    }
    COLUMN.replace_all(&text, |found: &Captures<'_>| format!("{}  ", &found[1])).into_owned()
}
