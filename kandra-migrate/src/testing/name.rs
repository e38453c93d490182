//! What a test's keyspace is called.

use std::time::{SystemTime, UNIX_EPOCH};

use uuid::Uuid;

/// A keyspace of a test that is older is dropped, in hours.
pub const STALE_AFTER_HOURS: u64 = 6;

/// The longest name of a keyspace that all servers take, in characters.
const CHARACTERS_MAX: usize = 48;
const PREFIX: &str = "kt_";
const RANDOM_DIGITS: usize = 8;

pub(super) fn hours_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 3600)
}

/// A name that nobody else has, for the test of this path.
pub(super) fn fresh(test: &str, hours: u64) -> String {
    let test = test.rsplit("::").next().unwrap_or_default().to_ascii_lowercase();
    let random = &Uuid::new_v4().simple().to_string()[..RANDOM_DIGITS];
    let start = format!("{PREFIX}{hours:x}_");
    let rest = CHARACTERS_MAX - start.len() - random.len() - 1;
    let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let test: String = test.chars().take(rest).map(word).collect();
    format!("{start}{test}_{random}")
}

/// Whether a keyspace is one of a test that has long ended. Another's is not, whatever it is called like.
pub(super) fn is_stale(keyspace: &str, hours: u64) -> bool {
    made_at(keyspace).is_some_and(|made_at| made_at <= hours && hours - made_at > STALE_AFTER_HOURS)
}

fn made_at(keyspace: &str) -> Option<u64> {
    let (hours, rest) = keyspace.strip_prefix(PREFIX)?.split_once('_')?;
    let (_, random) = rest.rsplit_once('_')?;
    let is_hex = |text: &str| text.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
    let is_ours = hours.len() == 5 && is_hex(hours) && random.len() == RANDOM_DIGITS && is_hex(random);
    u64::from_str_radix(hours, 16).ok().filter(|_| is_ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 0x79_b00;

    #[test]
    fn a_name_says_whose_it_is_and_fits() {
        let name = fresh("shop::tests::Users_have_names", NOW);
        assert!(name.starts_with("kt_79b00_users_have_names_"), "{name}");
        assert_ne!(name, fresh("shop::tests::Users_have_names", NOW));
        let long = fresh(&"ä".repeat(100), NOW);
        assert_eq!(long.len(), CHARACTERS_MAX, "{long}");
        assert!(long.starts_with("kt_79b00______"), "{long}");
    }

    #[test]
    fn only_old_ones_of_tests_are_stale() {
        let name = fresh("t", NOW);
        assert!(!is_stale(&name, NOW) && !is_stale(&name, NOW + STALE_AFTER_HOURS));
        assert!(is_stale(&name, NOW + STALE_AFTER_HOURS + 1));
        assert!(!is_stale(&name, NOW - 1), "made by a clock that is ahead");
        for other in
            ["shop", "kt_shop", "kt_shop_t_0123abcd", "kt_00001_t_0123", "kt_000001_t_0123abcd", "kt_"]
        {
            assert!(!is_stale(other, NOW), "{other}");
        }
    }
}
