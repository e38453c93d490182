//! Makes cargo look for new files.

fn main() {
    println!("cargo::rerun-if-changed=migrations");
}
