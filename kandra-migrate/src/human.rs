//! Durations and times, as people write them.

use std::time::Duration;

/// A duration as people write it: `850 ms`, `3.2 s`, `41 s`, `2 min 5 s`.
pub(crate) fn human(duration: Duration) -> String {
    let (seconds, millis) = (duration.as_secs(), duration.subsec_millis());
    match seconds {
        0 => format!("{millis} ms"),
        1..10 if millis >= 100 => format!("{seconds}.{} s", millis / 100),
        1..120 => format!("{seconds} s"),
        _ if seconds % 60 == 0 => format!("{} min", seconds / 60),
        _ => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// A time as people write it, to the second: `2026-11-30 11:52:08Z`.
#[cfg(feature = "cli")]
pub(crate) fn utc(ms: i64) -> String {
    const SECONDS_OF_DAY: i64 = 24 * 60 * 60;
    let seconds = ms.div_euclid(1000);
    let (mut day, second) = (seconds.div_euclid(SECONDS_OF_DAY), seconds.rem_euclid(SECONDS_OF_DAY));
    // The civil date of a day since 1970: eras of 400 years, and years that begin in March, end with the leap day.
    day += 719_468;
    let (era, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::human;
    use std::time::Duration;

    #[test]
    fn durations_read_like_speech() {
        for (ms, text) in [
            (0, "0 ms"),
            (850, "850 ms"),
            (3_200, "3.2 s"),
            (3_000, "3 s"),
            (41_900, "41 s"),
            (120_000, "2 min"),
            (125_000, "2 min 5 s"),
        ] {
            assert_eq!(human(Duration::from_millis(ms)), text);
        }
    }

    #[cfg(feature = "cli")]
    #[test]
    fn times_are_of_the_gregorian_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00Z"),
            (-1, "1969-12-31 23:59:59Z"),
            (951_782_400, "2000-02-29 00:00:00Z"),
            (1_709_251_199, "2024-02-29 23:59:59Z"),
            (1_709_251_200, "2024-03-01 00:00:00Z"),
            (4_102_444_800, "2100-01-01 00:00:00Z"),
        ] {
            assert_eq!(super::utc(seconds * 1000 + 999), text);
        }
    }
}
