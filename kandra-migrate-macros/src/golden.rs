//! The golden vectors of k1: one pair of sources for each thing that must or must not count.

use proc_macro2::TokenStream;

use crate::canon::checksum;

struct Pair<'a> {
    rule: &'a str,
    equal: bool,
    vectors: [Vector<'a>; 2],
}

struct Vector<'a> {
    checksum: &'a str,
    source: &'a str,
}

fn pairs() -> Vec<Pair<'static>> {
    include_str!("golden/k1.txt").split("\n== ").skip(1).map(pair).collect()
}

fn pair(text: &str) -> Pair<'_> {
    let (head, sources) = text.split_once('\n').expect("a head line");
    let (relation, rule) = head.split_once(": ").expect("a relation and a rule");
    let mut vectors = sources.trim_start_matches("-- ").split("\n-- ").map(|text| {
        let (checksum, source) = text.split_once('\n').expect("a checksum line");
        Vector { checksum, source }
    });
    let mut next = || vectors.next().expect("two sources");
    Pair { rule, equal: relation == "equal", vectors: [next(), next()] }
}

fn of(source: &str) -> String {
    checksum(TokenStream::new(), source.parse().expect("a source is Rust"))
}

#[test]
fn golden_vectors_hold() {
    let mut wrong = String::new();
    for Pair { rule, vectors, .. } in pairs() {
        for Vector { checksum, source } in vectors {
            let actual = of(source);
            if actual != checksum {
                wrong.extend([rule, ": ", &actual, " instead of ", checksum, ", for\n", source, "\n"]);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn golden_pairs_are_equal_or_not_as_they_say() {
    for Pair { rule, equal, vectors: [first, second] } in pairs() {
        assert_eq!(first.checksum == second.checksum, equal, "{rule}");
        assert_ne!(first.source, second.source, "{rule}");
    }
}

#[test]
fn attributes_of_the_module_count_where_they_mean_something() {
    let content: TokenStream = "fn up() {}".parse().expect("tokens");
    let with = |attributes: &str| checksum(attributes.parse().expect("tokens"), content.clone());
    assert_eq!(with("#[doc = \"a\"] #[allow(dead_code)]"), with(""));
    assert_ne!(with("#[other::transform]"), with(""));
}
