//! A few hundred seeds keep every promise, and the checker notices each rule that is broken.

use simulation::{Rule, simulate};

const SEEDS: u64 = 300;

/// So many seeds find a broken rule, each.
const SEEDS_PER_RULE_MAX: u64 = 3000;

/// What a broken rule shows itself by: one of these at least. Which comes first is chance.
const SHOWS: &[(&str, &[&str])] = &[
    ("M1", &["one writer an epoch"]),
    ("M2", &["one writer an epoch"]),
    ("M3", &["each write is an operation of its own"]),
    ("M4", &["only the holder sends"]),
    ("M5", &["what is recorded as done had its effect"]),
    ("M6", &["a lease is taken over only once it has lapsed"]),
    ("M7", &["nothing is sent while something earlier may still land"]),
    ("M8", &["no step begins after a pause"]),
    ("M9", &["ambiguous starts are bounded"]),
    ("M10", &["the lease is given back with nothing under way"]),
    ("M11", &["what is sent was recorded as begun"]),
    ("M12", &["a lease is taken over only once it has lapsed"]),
    ("M13", &["what is left was deferred and not applied"]),
];

#[test]
fn every_promise_is_kept() {
    for seed in 0..SEEDS {
        let ended = simulate(seed, None, false);
        assert_eq!(ended.violation, None, "seed {seed}");
    }
}

#[test]
fn a_seed_comes_out_the_same_each_time() {
    for seed in 0..20 {
        let [first, second] = [(); 2].map(|()| simulate(seed, None, true).trace);
        assert!(!first.is_empty());
        assert_eq!(first, second, "seed {seed}");
    }
}

#[test]
fn each_broken_rule_is_noticed_by_what_it_promises() {
    assert_eq!(Rule::ALL.len(), SHOWS.len());
    for (number, shows) in SHOWS {
        let rule = Rule::find(number).expect("the table has the rules' numbers");
        let mut seeds = 0..SEEDS_PER_RULE_MAX;
        let found = seeds.find(|seed| {
            let violation = simulate(*seed, Some(rule), false).violation;
            violation.is_some_and(|violation| shows.contains(&violation.invariant))
        });
        assert!(found.is_some(), "{number} is not noticed by {SEEDS_PER_RULE_MAX} seeds");
    }
}
