//! What stands for something else in our own texts: taken apart for other clients, and a text of theirs made safe from it.
//!
//! The grammar is that of [`expand`](crate::settings::expand) and of the references to secrets.

/// A part of one of our texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'t> {
    /// Stands for itself.
    Literal(String),
    /// `$NAME`, `${NAME}`, `${NAME:-default}`, `${NAME-default}`.
    Variable { name: &'t str, default: Option<&'t str> },
    /// `${env:NAME}`.
    Env(&'t str),
    /// `${keychain:NAME}`.
    Keychain(&'t str),
    /// Anything else between `${` and `}` that we give a meaning.
    Other(&'t str),
}

/// Takes one of our texts apart. No two literals follow one another.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        if let Some(before) = before.strip_suffix('\\') {
            literal.push_str(before);
            literal.push('$');
            rest = after;
            continue;
        }
        literal.push_str(before);
        match placeholder(after) {
            Some((piece, after)) => {
                if !literal.is_empty() {
                    pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                }
                pieces.push(piece);
                rest = after;
            }
            None => {
                literal.push('$');
                rest = after;
            }
        }
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    pieces
}

/// The placeholder after a `$`, and what follows it.
fn placeholder(after_dollar: &str) -> Option<(Piece<'_>, &str)> {
    if let Some((inside, after)) = after_dollar.strip_prefix('{').and_then(|inside| inside.split_once('}')) {
        return inside.starts_with(is_start_of_name).then(|| (braced(inside), after));
    }
    let (name, after) = name_at(after_dollar)?;
    Some((Piece::Variable { name, default: None }, after))
}

fn braced(inside: &str) -> Piece<'_> {
    if let Some(name) = inside.strip_prefix("env:") {
        return Piece::Env(name);
    }
    if let Some(name) = inside.strip_prefix("keychain:") {
        return Piece::Keychain(name);
    }
    match name_at(inside) {
        Some((name, "")) => Piece::Variable { name, default: None },
        Some((name, operator)) => match operator.strip_prefix(":-").or_else(|| operator.strip_prefix('-')) {
            Some(default) => Piece::Variable { name, default: Some(default) },
            None => Piece::Other(inside),
        },
        None => Piece::Other(inside),
    }
}

/// The name of a variable at the start of a text, and what follows it.
pub(crate) fn name_at(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|letter: char| !is_part_of_name(letter)).unwrap_or(text.len());
    let (name, after) = text.split_at(end);
    name.starts_with(is_start_of_name).then_some((name, after))
}

/// Whether a text is the name of a variable and nothing else.
pub(crate) fn is_name(text: &str) -> bool {
    matches!(name_at(text), Some((_, "")))
}

fn is_start_of_name(letter: char) -> bool {
    letter.is_ascii_alphabetic() || letter == '_'
}

fn is_part_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// A text that stands for itself, written so that it does so here too.
pub(crate) fn literal(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        written.push_str(before);
        // What follows need not be a placeholder yet: a reader may know more kinds of them one day.
        let could_be_one = after.starts_with(|letter: char| is_start_of_name(letter) || letter == '{');
        if could_be_one || before.ends_with('\\') {
            written.push('\\');
        }
        written.push('$');
        rest = after;
    }
    written.push_str(rest);
    written
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Piece, literal, pieces};
    use crate::settings::Part;
    use crate::settings::expand::{Unset, expand};

    #[test]
    fn our_texts_are_taken_apart() {
        let text = |text: &str| Piece::Literal(text.to_owned());
        let variable = |name, default| Piece::Variable { name, default };
        let cases = [
            ("", vec![]),
            ("plain", vec![text("plain")]),
            ("$A/b", vec![variable("A", None), text("/b")]),
            ("x${A}y", vec![text("x"), variable("A", None), text("y")]),
            ("${A:-d e}", vec![variable("A", Some("d e"))]),
            ("${A-}", vec![variable("A", Some(""))]),
            ("${A:+x}", vec![Piece::Other("A:+x")]),
            ("Bearer ${env:TOKEN}", vec![text("Bearer "), Piece::Env("TOKEN")]),
            ("${keychain:git hub}", vec![Piece::Keychain("git hub")]),
            ("${file:~/t}${cmd:pass x}", vec![Piece::Other("file:~/t"), Piece::Other("cmd:pass x")]),
            (r"\$A \\$A", vec![text(r"$A \$A")]),
            ("$1 $$ $ ${} ${1} ${A", vec![text("$1 $$ $ ${} ${1} ${A")]),
        ];
        for (written, expected) in cases {
            assert_eq!(pieces(written), expected, "{written}");
        }
    }

    #[test]
    fn what_stands_for_itself_still_does() {
        let vars: BTreeMap<String, String> = [("A".to_owned(), "value".to_owned())].into();
        let texts = [
            "",
            "a",
            "$A",
            "${A}",
            "$A$A",
            r"\$A",
            r"\\$A",
            r"\\\${A}",
            "pa$$word",
            "100$",
            "$1",
            "${",
            "${A",
            "$",
            r"C:\$x",
            "${A:-d}",
            "${keychain:A}",
            "a$\u{e9}",
            "\\",
            "\\\\",
            "$\\$A",
            "漢$A漢",
        ];
        for text in texts {
            let ours = literal(text);
            let expanded = expand(&ours, &vars, Unset::Keep, 1000).unwrap();
            let plain = match &*expanded.parts {
                [] => "",
                [Part::Plain(plain)] => plain.as_str(),
                _ => panic!("a reference in {ours}"),
            };
            assert_eq!((plain, expanded.unset.len()), (text, 0), "{text} as {ours}");
            assert!(pieces(&ours).iter().all(|piece| matches!(piece, Piece::Literal(own) if own == text)), "{text}");
        }
    }
}
