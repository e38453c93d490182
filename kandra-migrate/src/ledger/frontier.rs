//! The digest that tells by one read whether there is anything to do.

use sha2::{Digest, Sha256};

/// The digest over the completed versions, each with its name and checksum as the writing binary has them.
///
/// A start whose own migrations give the same digest has nothing to do. Another digest means only that the version
/// rows have to be read.
pub(crate) fn frontier<'a>(completed: impl IntoIterator<Item = (i64, &'a str, &'a str)>) -> String {
    let mut sorted: Vec<_> = completed.into_iter().collect();
    sorted.sort_unstable();
    let mut hash = Sha256::new();
    for (version, name, checksum) in sorted {
        hash.update(version.to_be_bytes());
        for text in [name, checksum] {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text);
        }
    }
    format!("f1:{}", hex::encode(hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::frontier;

    #[test]
    fn order_of_the_rows_does_not_count() {
        assert_eq!(
            frontier([(1, "a", "k1:x"), (2, "b", "k1:y")]),
            frontier([(2, "b", "k1:y"), (1, "a", "k1:x")])
        );
    }

    #[test]
    fn each_part_counts() {
        let base = frontier([(1, "a", "k1:x")]);
        for other in [[(2, "a", "k1:x")], [(1, "b", "k1:x")], [(1, "a", "k1:y")], [(1, "ak", "1:x")]] {
            assert_ne!(base, frontier(other));
        }
    }

    #[test]
    fn stays_what_ledgers_have_stored() {
        assert_eq!(
            frontier([(1, "create_users", "k1:00"), (2, "split_user_name", "k1:01")]),
            "f1:a3327b2850aea80c3af2872bb9508e2d55278a49b623be8b9b78784a1db62280"
        );
    }
}
