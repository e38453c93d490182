//! Makes a module of every golden vector, so that the compiler reads them as well.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

const GOLDEN: &str = "../../kandra-migrate-macros/src/golden/k1.txt";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed={GOLDEN}");
    let mut modules = String::new();
    let mut vectors = String::new();
    let golden = fs::read_to_string(GOLDEN)?;
    let (mut rule, mut count) = ("", 0);
    for part in golden.split("\n-- ") {
        if let Some((checksum, source)) = part.split_once('\n').filter(|(first, _)| first.starts_with("k1:"))
        {
            let (source, next) = source.split_once("\n== ").unwrap_or((source, rule));
            writeln!(modules, "#[probe::checksum]\nmod golden_{count} {{\n{source}\n}}")?;
            writeln!(vectors, "    ({rule:?}, {checksum:?}, GOLDEN_{count}),")?;
            rule = next;
            count += 1;
        } else if let Some((_, next)) = part.split_once("\n== ") {
            rule = next;
        }
    }
    let file = format!("{modules}\nconst VECTORS: [(&str, &str, &str); {count}] = [\n{vectors}];\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("golden.rs"), file)?;
    Ok(())
}
