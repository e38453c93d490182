//! Durations as people type them.

use std::time::Duration;

const UNITS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1000), ("m", 60 * 1000), ("h", 60 * 60 * 1000), ("d", 24 * 60 * 60 * 1000)];

/// The longest that is taken: what is above is a slip, and the clocks of servers end somewhere.
const DAYS_MAX: u64 = 3650;

/// `500ms`, `30s`, `5m`, `2h`, `1d`, and sums of them as in `1h30m`. Zero needs no unit.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let mut ms: u64 = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|char: char| char.is_ascii_digit()).len();
        let (number, after) = rest.split_at(digits);
        let letters = after.len() - after.trim_start_matches(|char: char| char.is_ascii_alphabetic()).len();
        let (unit, after) = after.split_at(letters);
        let part = number.parse::<u64>().ok().zip(UNITS.iter().find(|(name, _)| *name == unit));
        let sum = part.and_then(|(number, (_, unit_ms))| number.checked_mul(*unit_ms)?.checked_add(ms));
        ms = sum.ok_or("it is written as in 500ms, 30s, 5m, 2h, 1d or 1h30m")?;
        rest = after;
    }
    if text.is_empty() || ms > DAYS_MAX * 24 * 60 * 60 * 1000 {
        return Err(format!("it is written as in 30s, 5m or 2h, and is at most {DAYS_MAX}d"));
    }
    Ok(Duration::from_millis(ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        for (text, ms) in [
            ("0", 0),
            ("0s", 0),
            ("500ms", 500),
            ("30s", 30_000),
            ("5m", 300_000),
            ("1h30m", 5_400_000),
            ("1d", 86_400_000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "5", "5 m", "m", "-1s", "1.5h", "1w", "99999d", "99999999999999999999s", "5min"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
