//! Names of functions and keys of properties, in the letters that a provider takes.

/// Which names fit: ASCII letters and digits, and some others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Letters {
    /// Besides letters and digits.
    pub(super) others: &'static str,
    /// Whether the first may be something else than a letter or `_`.
    pub(super) digit_first: bool,
    /// Characters of a name.
    pub(super) chars_max: usize,
}

/// Enough of a hash that two names of one host do not meet.
const HASH_DIGITS: usize = 8;

impl Letters {
    /// Whether a name can stay as it is.
    pub(super) fn fits(self, name: &str) -> bool {
        let is_good = |letter: char| letter.is_ascii_alphanumeric() || self.others.contains(letter);
        let starts_well = |letter: char| self.digit_first || letter.is_ascii_alphabetic() || letter == '_';
        name.chars().next().is_some_and(starts_well) && name.chars().all(is_good) && name.len() <= self.chars_max
    }

    /// The name of a function. One that does not fit gets the hash of itself at its end, so that what it becomes depends on nothing else.
    pub(super) fn function(self, name: &str) -> String {
        if self.fits(name) {
            return name.to_owned();
        }
        let room = self.chars_max - HASH_DIGITS - 1;
        format!("{}_{:08x}", self.replaced(name, room), hash(name))
    }

    /// The key of a property: one that `taken` does not have.
    pub(super) fn key(self, key: &str, taken: impl Fn(&str) -> bool) -> String {
        if self.fits(key) && !taken(key) {
            return key.to_owned();
        }
        let plain = self.replaced(key, self.chars_max);
        if !taken(&plain) {
            return plain;
        }
        let short = self.replaced(key, self.chars_max - HASH_DIGITS - 1);
        let hashed = format!("{short}_{:08x}", hash(key));
        let numbered = (2_usize..).map(|number| format!("{short}_{number}"));
        std::iter::once(hashed).chain(numbered).find(|name| !taken(name)).unwrap_or(plain)
    }

    /// With `_` for what does not fit, at most `room` long and never empty.
    fn replaced(self, name: &str, room: usize) -> String {
        let mut text = String::new();
        for letter in name.chars() {
            let fits = letter.is_ascii_alphanumeric() || self.others.contains(letter);
            if fits {
                text.push(letter);
            } else if !text.ends_with('_') {
                text.push('_');
            }
            if text.len() >= room {
                break;
            }
        }
        let trimmed = text.trim_matches('_');
        let starts_well = trimmed.chars().next().is_some_and(|first| self.digit_first || first.is_ascii_alphabetic());
        let text = if starts_well { trimmed.to_owned() } else { format!("p_{trimmed}") };
        let text: String = text.chars().take(room).collect();
        text.trim_end_matches('_').to_owned()
    }
}

/// FNV-1a. It only tells names apart; nobody gains anything by making two meet, because the second is then refused.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::Letters;

    const PLAIN: Letters = Letters { others: "_", digit_first: false, chars_max: 20 };

    #[test]
    fn names_that_do_not_fit_are_made_to() {
        let cases = [
            ("search", "search"),
            ("a.b", "a_b_"),
            ("ünï", "n_"),
            ("1st", "p_1st_"),
            ("a_name_that_is_far_too_long", "a_name_that_"),
            ("", "p_"),
        ];
        for (name, beginning) in cases {
            let got = PLAIN.function(name);
            assert!(PLAIN.fits(&got) && got.starts_with(beginning), "{name}: {got}");
            assert_eq!(got.len() > beginning.len(), got != name, "{got}");
        }
        assert_ne!(PLAIN.function("a.b"), PLAIN.function("a:b"));
    }

    #[test]
    fn keys_are_told_apart() {
        let cases: [(&str, &[&str], &str); 5] = [
            ("filter[id]", &[], "filter_id"),
            ("filter[id]", &["filter_id"], "filter_id_2"),
            ("@type", &[], "type"),
            ("имя", &[], "p"),
            ("max-results", &[], "max_results"),
        ];
        for (key, taken, expected) in cases {
            let got = PLAIN.key(key, |name| taken.contains(&name));
            assert!(PLAIN.fits(&got) && !taken.contains(&got.as_str()), "{key}: {got}");
            if taken.is_empty() {
                assert_eq!(got, expected);
            }
        }
    }
}
