//! The grammar of shell commands: from a text to a tree that was read without an error, and what may stand between its nodes.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::ops::Range;

use tree_sitter::{Node, ParseOptions, Parser, Tree};

use super::dialect;
use super::script::Unreadable;
use crate::limits::{SHELL_HERE_DOCUMENTS_MAX, SHELL_PARSE_REPORTS_MAX, SHELL_PARSES_MAX, SHELL_TEXT_BYTES_MAX};

/// What stands between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    /// Nothing at all.
    Nothing,
    /// Blanks on one line.
    Blanks,
    /// The same, and at least one before every word.
    Words,
    /// Blanks and the ends of lines.
    Lines,
}

impl Gap {
    fn without_words(self) -> Self {
        if self == Self::Words { Self::Blanks } else { self }
    }
}

/// A text and its tree.
pub(super) struct Parsed {
    pub(super) tree: Tree,
    /// The text, perhaps with `;` in the place of the end of a line.
    pub(super) text: String,
}

/// The tree of a text.
pub(super) fn parse(text: &str) -> Result<Parsed, Unreadable> {
    if text.len() > SHELL_TEXT_BYTES_MAX {
        return Err(Unreadable::because(format!(
            "it is {} bytes long and only {SHELL_TEXT_BYTES_MAX} are read; put it into a script file",
            text.len()
        )));
    }
    if let Some(odd) = text.chars().find(|character| is_misleading(*character)) {
        return Err(Unreadable::because(format!(
            "it contains the character U+{:04X}, which shells and people read differently",
            u32::from(odd)
        )));
    }
    if text.matches("<<").count() > SHELL_HERE_DOCUMENTS_MAX {
        return Err(Unreadable::because(format!(
            "it has more than {SHELL_HERE_DOCUMENTS_MAX} here-documents; put it into a script file"
        )));
    }
    let mut parsed = Parsed { tree: tree_of(text)?, text: text.to_owned() };
    for _ in 0..SHELL_PARSES_MAX {
        let ends = missed_ends(&parsed);
        if ends.is_empty() {
            break;
        }
        let letters = parsed.text.char_indices();
        parsed.text = letters.map(|(at, letter)| if ends.contains(&at) { ';' } else { letter }).collect();
        parsed.tree = tree_of(&parsed.text)?;
    }
    if parsed.tree.root_node().has_error() {
        return Err(Unreadable::because("it is no complete shell command: a syntax error"));
    }
    dialect::check(&parsed.tree, &parsed.text)?;
    let range = parsed.tree.root_node().byte_range();
    check_gap(&parsed.text, 0..range.start, Gap::Lines)?;
    check_gap(&parsed.text, range.end..parsed.text.len(), Gap::Lines)?;
    Ok(parsed)
}

fn tree_of(text: &str) -> Result<Tree, Unreadable> {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .map_err(|error| Unreadable::because(format!("the grammar cannot be used: {error}")))?;
    let mut reports = 0;
    let mut watch = |_: &tree_sitter::ParseState| {
        reports += 1;
        if reports > SHELL_PARSE_REPORTS_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut watch);
    // The scanner behind the grammar looks characters up in a table of ASCII and reads past its end for others: it gets none. To a shell
    // they are letters like any other, and every byte stays at its place.
    let bytes: Vec<u8> = text.bytes().map(|byte| if byte.is_ascii() { byte } else { b'x' }).collect();
    parser
        .parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
        .ok_or_else(|| Unreadable::because("it takes too long to read; put it into a script file"))
}

/// Ends of lines that the grammar takes for blanks between two words, as it does behind two pipes: there a command ends.
fn missed_ends(parsed: &Parsed) -> BTreeSet<usize> {
    let mut ends = BTreeSet::new();
    let mut cursor = parsed.tree.walk();
    loop {
        let node = cursor.node();
        if matches!(node.kind(), "command" | "declaration_command" | "unset_command" | "file_redirect") {
            let children: Vec<_> = node.children(&mut node.walk()).collect();
            for (child, next) in children.iter().zip(children.iter().skip(1)) {
                let gap = parsed.text.get(child.end_byte()..next.start_byte()).unwrap_or_default();
                let blanks = gap.len() - gap.trim_start_matches([' ', '\t']).len();
                let is_end = child.kind() != "comment" && gap.get(blanks..).is_some_and(|rest| rest.starts_with('\n'));
                ends.extend(is_end.then_some(child.end_byte() + blanks));
            }
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return ends;
            }
        }
    }
}

/// Controls, and blanks that a shell takes for letters.
fn is_misleading(character: char) -> bool {
    match character {
        '\t' | '\n' | ' ' => false,
        other => {
            other.is_control()
                || other.is_whitespace()
                || matches!(other, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
        }
    }
}

/// The nodes directly below one, comments checked and left out, with nothing but `gap` between them.
///
/// The grammar skips more than a shell does, such as an escaped blank; what it skips would run unseen.
pub(super) fn children<'tree>(node: Node<'tree>, text: &str, gap: Gap) -> Result<Vec<Node<'tree>>, Unreadable> {
    let mut found = Vec::new();
    let mut end = node.start_byte();
    for child in node.children(&mut node.walk()) {
        let is_word = gap == Gap::Words && end > node.start_byte() && !child.kind().ends_with("_redirect");
        check_gap(text, end..child.start_byte(), if is_word { gap } else { gap.without_words() })?;
        end = end.max(child.end_byte());
        if child.kind() == "comment" {
            check_comment(text, child.byte_range())?;
        } else {
            found.push(child);
        }
    }
    check_gap(text, end..node.end_byte(), gap.without_words())?;
    Ok(found)
}

/// Whether nothing but `gap` stands there.
pub(super) fn check_gap(text: &str, range: Range<usize>, gap: Gap) -> Result<(), Unreadable> {
    let Some(between) = text.get(range.clone()) else {
        return Err(Unreadable::because("its parts overlap"));
    };
    // The end of a line is no blank, unless it is escaped.
    let joined = between.replace("\\\n", "");
    let is_fine = match gap {
        Gap::Nothing => joined.is_empty(),
        Gap::Words => !joined.is_empty() && joined.chars().all(|blank| blank == ' ' || blank == '\t'),
        Gap::Blanks => joined.chars().all(|blank| blank == ' ' || blank == '\t'),
        Gap::Lines => joined.chars().all(|blank| blank == ' ' || blank == '\t' || blank == '\n'),
    };
    if is_fine {
        return Ok(());
    }
    Err(Unreadable::because(format!("where a word ends at byte {} can be read in more than one way", range.start)))
}

/// What a word can follow.
pub(super) const BREAKS: [char; 8] = [' ', '\t', '\n', ';', '&', '|', '(', ')'];

/// A comment begins where a word could begin, and ends with its line.
fn check_comment(text: &str, range: Range<usize>) -> Result<(), Unreadable> {
    let before = text.get(..range.start).unwrap_or_default();
    let begins = before.is_empty() || (before.ends_with(BREAKS) && !before.trim_end_matches(BREAKS).ends_with('\\'));
    let after = text.get(range.end..).unwrap_or_default();
    if begins && (after.is_empty() || after.starts_with('\n')) {
        return Ok(());
    }
    Err(Unreadable::because(format!(
        "whether a comment begins at byte {} can be read in more than one way",
        range.start
    )))
}

/// The text of a node.
pub(super) fn text_of<'a>(node: Node<'_>, text: &'a str) -> &'a str {
    text.get(node.byte_range()).unwrap_or_default()
}
