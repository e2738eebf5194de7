//! Bars drawn with characters.

/// Parts of a column, the thinnest first.
const PARTS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// Stands for the part of a bar that went wrong.
const WRONG: char = '░';

/// A bar for `value`, as long as `columns` when that is `most`. What is more than nothing is seen; `wrong` of it is drawn at the end.
pub(super) fn bar(value: u64, wrong: u64, most: u64, columns: usize) -> String {
    let parts = PARTS.len() as u64;
    let length = value.saturating_mul(columns as u64).saturating_mul(parts).checked_div(most).unwrap_or(0);
    let length = if value > 0 { length.max(1) } else { 0 };
    let whole = usize::try_from(length / parts).unwrap_or(columns).min(columns);
    let rest = usize::try_from(length % parts).ok().and_then(|rest| rest.checked_sub(1)).and_then(|at| PARTS.get(at));
    let mut drawn: Vec<char> = std::iter::repeat_n('█', whole).chain(rest.copied()).take(columns).collect();
    let wrong_columns = wrong.saturating_mul(drawn.len() as u64).div_ceil(value.max(1));
    let wrong_columns = usize::try_from(wrong_columns).unwrap_or(columns);
    drawn.iter_mut().rev().take(wrong_columns).for_each(|letter| *letter = WRONG);
    drawn.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn bars_are_as_long_as_their_numbers() {
        let cases = [
            ((0, 0, 10, 4), ""),
            ((10, 0, 10, 4), "████"),
            ((5, 0, 10, 4), "██"),
            ((1, 0, 16, 4), "▎"),
            ((1, 0, 1_000_000, 4), "▏"),
            ((9, 0, 16, 4), "██▎"),
            ((10, 1, 10, 4), "███░"),
            ((10, 10, 10, 4), "░░░░"),
            ((10, 0, 10, 0), ""),
            ((0, 0, 0, 4), ""),
            ((u64::MAX, 0, u64::MAX, 1), "▏"),
        ];
        for ((value, wrong, most, columns), expected) in cases {
            assert_eq!(bar(value, wrong, most, columns), expected, "{value} of {most} in {columns}");
        }
    }
}
