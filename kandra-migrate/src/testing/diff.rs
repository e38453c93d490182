//! How two texts differ, line by line.

/// Lines around a difference that are shown.
const AROUND: usize = 2;
/// Above it, lines are not matched with one another: the work grows with the square.
const LINES_MAX: usize = 2_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Both,
    Old,
    New,
}

/// The lines that differ, with `-` for those of `old` and `+` for those of `new`; empty where none does.
pub(super) fn diff(old: &str, new: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let lines = merged(&old, &new);
    let is_near = |at: usize| {
        let near = &lines[at.saturating_sub(AROUND)..lines.len().min(at + AROUND + 1)];
        near.iter().any(|(side, _)| *side != Side::Both)
    };
    let mut text = String::new();
    let mut last = 0;
    for (at, (side, line)) in lines.iter().enumerate().filter(|(at, _)| is_near(*at)) {
        if at > last && !text.is_empty() {
            text.push_str("  …\n");
        }
        last = at + 1;
        let sign = match side {
            Side::Both => ' ',
            Side::Old => '-',
            Side::New => '+',
        };
        text.extend([sign.to_string().as_str(), " ", *line, "\n"]);
    }
    text
}

/// Both texts as one, by their longest common subsequence.
fn merged<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(Side, &'a str)> {
    let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let mut lines: Vec<_> = old[..same].iter().map(|line| (Side::Both, *line)).collect();
    let (old, new) = (&old[same..], &new[same..]);
    let lengths = (old.len().max(new.len()) <= LINES_MAX).then(|| common(old, new));
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push((Side::Both, old[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < old.len()
            && (j == new.len()
                || lengths.as_ref().is_none_or(|lengths| lengths[i + 1][j] >= lengths[i][j + 1]))
        {
            lines.push((Side::Old, old[i]));
            i += 1;
        } else {
            lines.push((Side::New, new[j]));
            j += 1;
        }
    }
    lines
}

/// How many lines, from each place in both on, are common.
fn common(old: &[&str], new: &[&str]) -> Vec<Vec<u32>> {
    let mut lengths = vec![vec![0; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            lengths[i][j] = if old[i] == new[j] {
                lengths[i + 1][j + 1] + 1
            } else {
                lengths[i + 1][j].max(lengths[i][j + 1])
            };
        }
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::diff;

    #[test]
    fn equal_texts_do_not_differ() {
        assert_eq!(diff("a\nb\n", "a\nb\n"), "");
        assert_eq!(diff("", ""), "");
    }

    #[test]
    fn what_differs_is_shown_with_what_is_around() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "0\n1\n2\n3\n4\n5\n6\n7\nx\n9\n";
        assert_eq!(diff(old, new), "+ 0\n  1\n  2\n  …\n  6\n  7\n- 8\n+ x\n  9\n");
        assert_eq!(diff("a\n", ""), "- a\n");
        assert_eq!(diff("", "a\n"), "+ a\n");
    }

    #[test]
    fn texts_that_are_too_long_to_match_are_shown_all_the_same() {
        let old = "a\n".repeat(2_001);
        assert_eq!(diff(&old, "a\nb\n").lines().filter(|line| line.starts_with("- ")).count(), 2_000);
    }
}
