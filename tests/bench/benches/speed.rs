//! `cargo bench -p bench`; what it measures is told in the library.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Cargo's folder for what benchmarks write is one below the target folder.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is in the target folder");
    bench::main(target)
}
