//! Weights, beginnings of words, groups of words, and an answer that is always the same.

use std::borrow::Cow;

use super::{FIELDS, Index};

/// Documents of a name and a description.
fn index(documents: &[(&str, &str)]) -> Index {
    let fields = documents.iter().map(|(name, description)| {
        let mut fields: [Cow<'_, str>; FIELDS] = Default::default();
        (fields[0], fields[2]) = (Cow::Borrowed(*name), Cow::Borrowed(*description));
        fields
    });
    Index::build(fields)
}

#[test]
fn what_fits_better_stands_before() {
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a str, &'a [usize]);
    let cases: [Case<'_>; 10] = [
        // A name counts more than a description.
        (&[("b", "invoice"), ("invoice", "b")], "invoice", &[1, 0]),
        // A rare word counts more than a frequent one.
        (&[("list", "x"), ("list", "y"), ("list", "parcel")], "list parcel", &[2, 0, 1]),
        // Both words are better than one of them twice.
        (&[("a", "red red"), ("b", "red blue"), ("c", "blue")], "red blue", &[1, 0, 2]),
        // A short text is more about its words than a long one.
        (&[("a", "red and so on and on and on and much more"), ("b", "red")], "red", &[1, 0]),
        // A word that was written counts more than another one of its group.
        (&[("erase", ""), ("remove", "")], "remove", &[1, 0]),
        // Many words for one thing are not many things.
        (&[("a", "erase discard drop"), ("b", "remove x y")], "remove", &[1, 0]),
        // Who has all words goes before who has the rarest of them.
        (
            &[("parcel", ""), ("send", "box"), ("send", "x"), ("box", "x"), ("y", "send a box with a parcel to one")],
            "send box parcel",
            &[4, 1, 0, 2, 3],
        ),
        // The beginning of a word is enough when there is no such word.
        (&[("kubernetes", ""), ("other", "")], "kube", &[0]),
        (&[("kubernetes", ""), ("other", "")], "ku", &[]),
        (&[("kube", ""), ("kubernetes", "")], "kube", &[0]),
    ];
    for (documents, question, expected) in cases {
        let found: Vec<usize> = index(documents).search(question, 10).iter().map(|(at, _)| *at).collect();
        assert_eq!(found, expected, "{documents:?} {question}");
    }
}

#[test]
fn the_best_few_are_the_first_of_all() {
    let names: Vec<String> = (0..200).map(|number| format!("tool {} {}", "file ".repeat(number % 7), number)).collect();
    let documents: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    let index = index(&documents);
    let all = index.search("file tool", 200);
    for limit in [0, 1, 5, 199] {
        assert_eq!(index.search("file tool", limit), all[..limit]);
    }
    assert_eq!(index.search("file tool", 200), all);
}
