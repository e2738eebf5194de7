//! Text as the words that a search compares: names taken apart, everything in small letters, English endings taken off.
//!
//! Writing without blanks between words (Chinese, Japanese, Thai, …) is taken as pairs of neighbouring characters, which finds words of it without a dictionary.

use super::search_stem::stem;

/// The words of a text, in order, each handed to `take`.
pub(super) fn each_word(text: &str, mut take: impl FnMut(&str)) {
    let mut word = String::new();
    let mut letters = text.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        if is_unspaced(letter) {
            end(&mut word, &mut take);
            pair(before, letter, letters.peek().copied(), &mut take);
        } else if letter.is_alphanumeric() || is_mark(letter) {
            let next_is_small = letters.peek().is_some_and(|next| next.is_lowercase());
            let begins = letter.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && next_is_small));
            if begins {
                end(&mut word, &mut take);
            }
            word.extend(letter.to_lowercase());
        } else if !(is_apostrophe(letter) && before.is_alphanumeric()) {
            end(&mut word, &mut take);
        }
        before = letter;
    }
    end(&mut word, &mut take);
}

fn end(word: &mut String, take: &mut impl FnMut(&str)) {
    if !word.is_empty() {
        stem(word);
        take(word);
        word.clear();
    }
}

/// A character of an unspaced writing with the one before it; alone when it has no neighbour.
fn pair(before: char, letter: char, next: Option<char>, take: &mut impl FnMut(&str)) {
    let mut buffer = [0; 8];
    if is_unspaced(before) {
        let first = before.encode_utf8(&mut buffer).len();
        let length = first + buffer.get_mut(first..).map_or(0, |rest| letter.encode_utf8(rest).len());
        let text = buffer.get(..length).and_then(|bytes| std::str::from_utf8(bytes).ok());
        take(text.unwrap_or_default());
    } else if !next.is_some_and(is_unspaced) {
        take(letter.encode_utf8(&mut buffer));
    }
}

/// Whether a character belongs to a writing that has no blanks between words.
fn is_unspaced(letter: char) -> bool {
    matches!(letter,
        '\u{0e00}'..='\u{0eff}'      // Thai, Lao
        | '\u{1000}'..='\u{109f}'    // Burmese
        | '\u{1780}'..='\u{17ff}'    // Khmer
        | '\u{3040}'..='\u{30ff}'    // Hiragana, Katakana
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' // Han
        | '\u{20000}'..='\u{3ffff}')
}

/// Marks that are written onto letters; they belong to the word.
fn is_mark(letter: char) -> bool {
    matches!(letter, '\u{0300}'..='\u{036f}' | '\u{0900}'..='\u{0dff}' | '\u{064b}'..='\u{065f}')
}

/// `don't` is one word.
fn is_apostrophe(letter: char) -> bool {
    matches!(letter, '\'' | '\u{2019}')
}

/// Words of a question that say nothing about what is asked for, by their stems and in the order of the alphabet.
pub(super) fn is_filler(word: &str) -> bool {
    const FILLERS: &[&str] = &[
        "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could",
        "did", "do", "doe", "for", "from", "had", "has", "hav", "he", "her", "his", "how", "i", "if", "in", "into",
        "is", "it", "let", "me", "min", "my", "not", "of", "on", "onto", "or", "our", "out", "pleas", "she", "should",
        "so", "som", "somebodi", "someth", "than", "that", "the", "thei", "their", "them", "then", "ther", "thes",
        "thi", "thos", "to", "up", "us", "want", "was", "we", "wer", "what", "when", "wher", "which", "who", "whom",
        "whos", "why", "will", "with", "would", "you", "your",
    ];
    FILLERS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{each_word, is_filler};

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(text, |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn names_and_texts_become_words() {
        let cases: [(&str, &[&str]); 14] = [
            ("", &[]),
            ("list_open-pull.requests", &["list", "open", "pull", "request"]),
            ("getBuildLog", &["get", "build", "log"]),
            ("HTTPServerV2", &["http", "server", "v2"]),
            ("ListObjectsV2", &["list", "object", "v2"]),
            ("s3 EC2", &["s3", "ec2"]),
            ("Don't stop, please!", &["dont", "stop", "pleas"]),
            ("Größe ändern", &["größe", "ändern"]),
            ("создать файл", &["создать", "файл"]),
            ("文件搜索", &["文件", "件搜", "搜索"]),
            ("ファイル read", &["ファ", "ァイ", "イル", "read"]),
            ("図", &["図"]),
            ("파일 검색", &["파일", "검색"]),
            ("a\u{0}b", &["a", "b"]),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn fillers_are_known_by_their_stems() {
        let plain = "a about any does have please some somebody something their there these they this those were \
                     what where whose your";
        for text in plain.split(' ') {
            assert!(words(text).iter().all(|word| is_filler(word)), "{text} {:?}", words(text));
        }
        assert!(!is_filler("file"));
    }
}
