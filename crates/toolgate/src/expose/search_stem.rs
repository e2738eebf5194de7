//! English words without their commonest endings, so that `merge`, `merged` and `merging` are one word. A few rules and no dictionary: what matters is that the forms
//! of a word become the same, not that the rest is a word. Words that are not plain ASCII letters stay as they are.

/// The shortest rest that an ending is taken off.
const REST_MIN: usize = 3;

/// Takes the ending off a word in small letters.
pub(super) fn stem(word: &mut String) {
    if word.len() <= REST_MIN || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return;
    }
    plural(word);
    verb(word);
    noun(word);
    if word.len() > REST_MIN && word.ends_with('e') {
        word.pop();
    }
    if word.len() > REST_MIN && word.ends_with('y') {
        word.pop();
        word.push('i');
    }
}

/// Replaces an ending if enough is left.
fn replace(word: &mut String, ending: &str, by: &str) -> bool {
    let Some(rest) = word.strip_suffix(ending) else { return false };
    let length = rest.len();
    if length + by.len() < REST_MIN || !rest.contains(is_vowel) {
        return false;
    }
    word.truncate(length);
    word.push_str(by);
    true
}

fn plural(word: &mut String) {
    if word.ends_with("ss") || word.ends_with("us") {
        return;
    }
    let _ = replace(word, "sses", "ss")
        || replace(word, "xes", "x")
        || replace(word, "ches", "ch")
        || replace(word, "shes", "sh")
        || replace(word, "ies", "y")
        || replace(word, "s", "");
}

fn verb(word: &mut String) {
    if word.ends_with("eed") {
        return;
    }
    if replace(word, "ing", "") || replace(word, "ed", "") {
        // `running` and `stopped` double what `run` and `stop` end with.
        let doubled =
            word.as_bytes().last_chunk::<2>().is_some_and(|[one, other]| one == other && !b"lsz".contains(one));
        if doubled && word.len() > REST_MIN {
            word.pop();
        }
    }
}

fn noun(word: &mut String) {
    let _ = replace(word, "ication", "y") || replace(word, "tion", "t") || (word.len() > 6 && replace(word, "al", ""));
}

fn is_vowel(letter: char) -> bool {
    matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u' | 'y')
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn forms_of_a_word_become_the_same() {
        let cases: [&[&str]; 16] = [
            &["merge", "merges", "merged", "merging"],
            &["run", "runs", "running"],
            &["stop", "stopped", "stopping"],
            &["create", "created", "creation"],
            &["delete", "deletes", "deletion"],
            &["query", "queries"],
            &["notify", "notifies", "notification"],
            &["approve", "approval", "approved"],
            &["branch", "branches"],
            &["box", "boxes"],
            &["address", "addresses"],
            &["call", "calls", "called", "calling"],
            &["status"],
            &["translate", "translation"],
            &["message", "messages"],
            &["day", "days"],
        ];
        for forms in cases {
            let stems: Vec<String> = forms
                .iter()
                .map(|form| {
                    let mut word = (*form).to_owned();
                    stem(&mut word);
                    word
                })
                .collect();
            assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{forms:?} {stems:?}");
        }
    }

    #[test]
    fn short_and_foreign_words_stay() {
        for word in ["is", "sql", "bus", "s3", "größe", "string", "thing", "need"] {
            let mut stemmed = word.to_owned();
            stem(&mut stemmed);
            assert_eq!(stemmed, word);
        }
    }
}
