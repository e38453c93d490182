//! The golden vectors hold for tokens from the compiler's own lexer and parser.

include!(concat!(env!("OUT_DIR"), "/golden.rs"));

#[test]
fn golden_vectors_hold_in_the_compiler() {
    for (rule, checksum, compiled) in VECTORS {
        assert_eq!(checksum, compiled, "{rule}");
    }
    assert!(VECTORS.len() >= 200, "{} vectors are fewer than there were", VECTORS.len());
}

/// What a fragment of `macro_rules!` stands for comes to other macros in an invisible group.
macro_rules! product {
    ($name:ident, $factor:expr, $of:ty) => {
        #[probe::checksum]
        mod $name {
            fn up() -> Vec<$of> {
                $factor * c
            }
        }
    };
}

product!(product_of_call, a.b(1)?, Vec<u8>);
product!(product_of_sum, a + b, u8);

#[probe::checksum]
mod call {
    fn up() -> Vec<Vec<u8>> {
        a.b(1)? * c
    }
}

#[probe::checksum]
mod sum_in_parentheses {
    fn up() -> Vec<u8> {
        (a + b) * c
    }
}

#[probe::checksum]
mod sum_with_product {
    fn up() -> Vec<u8> {
        a + b * c
    }
}

#[test]
fn fragments_count_as_what_they_mean() {
    assert_eq!(PRODUCT_OF_SUM, SUM_IN_PARENTHESES);
    assert_ne!(PRODUCT_OF_SUM, SUM_WITH_PRODUCT);
    assert_eq!(PRODUCT_OF_CALL, CALL);
}
