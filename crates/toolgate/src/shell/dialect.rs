//! Where shells differ. Nobody knows which one a tool hands a command to, so a text is read only when `bash` and a plain POSIX shell such as
//! `dash` run the same of it: `cat $'\'; rm x #'` is one word to one of them, and two commands to the other.

use tree_sitter::{Node, Tree};

use super::grammar::text_of;
use super::script::{Unreadable, excerpt};

/// Whether every shell reads the same in a tree.
pub(super) fn check(tree: &Tree, text: &str) -> Result<(), Unreadable> {
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if let Some(instead) = differs(node, text) {
            let shown = excerpt(text_of(node, text));
            return Err(Unreadable::because(format!("`{shown}` is not the same in every shell; {instead}")));
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Ok(());
            }
        }
    }
}

/// What to write instead of something that not every shell reads alike.
fn differs(node: Node<'_>, text: &str) -> Option<&'static str> {
    let written = || text_of(node, text);
    let (differs, instead) = match node.kind() {
        "ansi_c_string" | "translated_string" => (true, "use plain quotes"),
        "process_substitution" => (true, "use a pipe or a file"),
        "herestring_redirect" => (true, "use a pipe or a here-document"),
        "array" | "subscript" | "+=" => (true, "use plain variables"),
        "c_style_for_statement" => (true, "use `for x in …`"),
        "for_statement" => {
            (begins_with(node, "select") || lists_lines(node, text), "use `for x in …` with its words on one line")
        }
        "function_definition" => (begins_with(node, "function"), "write `name() { …; }`"),
        "|&" | "&>" | "&>>" => (true, "write `2>&1`"),
        ";;" => (node.parent().is_none_or(|parent| parent.kind() != "case_item"), "end a command with one `;`"),
        "esac" => (follows_simple(node, text), "end the command before it with `;;`"),
        "then" | "else" | "do" => (holds_nothing(node), "put a command there"),
        "case_statement" => {
            (node.children(&mut node.walk()).any(|child| child.kind() == ";"), "write the first pattern after `in`")
        }
        "negated_command" => (is_within_pipe(node), "put `!` before the whole pipe, once"),
        ";&" | ";;&" => (true, "end each case with `;;`"),
        "test_command" => (written().starts_with("[["), "use `[ … ]`"),
        "compound_statement" | "subshell" => (written().starts_with("(("), "leave a blank between the brackets"),
        "command_substitution" => {
            (written().starts_with("$((") || written().starts_with("$`"), "leave a blank between the brackets")
        }
        "arithmetic_expansion" => (!is_plain_sum(written()), "calculate with numbers only"),
        "expansion" => (!is_plain_parameter(written()), "use what POSIX has, such as `${x:-y}` and `${x%y}`"),
        // A dollar sign alone is a letter, and what follows it another word.
        "simple_expansion" => (!is_plain_variable(written()), "quote the dollar sign"),
        "extglob_pattern" => (written().contains('('), "use a plain pattern"),
        "file_descriptor" => (written().len() > 1, "use the numbers up to 9"),
        "file_redirect" => (
            !duplicates_plainly(node, text) || names_next(node, text),
            "name a descriptor by one digit, or a file without `&`",
        ),
        "word" | "concatenation" => (names_descriptor(node, text), "leave a blank before the redirection"),
        _ => (false, ""),
    };
    differs.then_some(instead)
}

/// Whether a keyword lacks the command that it needs.
fn holds_nothing(keyword: Node<'_>) -> bool {
    let mut next = keyword.next_sibling();
    while let Some(node) = next.filter(|node| node.kind() == "comment") {
        next = node.next_sibling();
    }
    next.is_none_or(|node| matches!(node.kind(), "fi" | "elif_clause" | "else_clause" | "done"))
}

/// Whether `esac` is an argument of the command before it.
fn follows_simple(end: Node<'_>, text: &str) -> bool {
    let before = text.get(..end.start_byte()).unwrap_or_default().trim_end_matches([' ', '\t']);
    !before.ends_with([';', '\n', '&', ')', '}'])
        && !["in", "fi", "done", "esac"].iter().any(|word| before.ends_with(word))
}

/// Whether the words after `for x in` are spread over several lines.
fn lists_lines(node: Node<'_>, text: &str) -> bool {
    let mut end = None;
    for child in node.children(&mut node.walk()) {
        let gap = end.and_then(|end| text.get(end..child.start_byte())).unwrap_or_default();
        if matches!(child.kind(), ";" | "do_group" | "\n") {
            return false;
        }
        if gap.contains('\n') {
            return true;
        }
        end = (child.kind() == "in" || end.is_some()).then_some(child.end_byte());
    }
    false
}

/// Whether a file name is really the number of the next redirection: `> 2>&1`.
fn names_next(node: Node<'_>, text: &str) -> bool {
    let Some(target) = node.child_by_field_name("destination") else { return false };
    let is_number = text_of(target, text).bytes().all(|digit| digit.is_ascii_digit());
    let begins =
        text.get(..target.start_byte()).is_some_and(|before| before.ends_with([' ', '\t', '<', '>', '|', '&']));
    is_number && begins && text.get(target.end_byte()..).is_some_and(|behind| behind.starts_with(['<', '>']))
}

/// Whether `!` follows a pipe or another `!`.
fn is_within_pipe(negated: Node<'_>) -> bool {
    let is_later = negated.prev_sibling().is_some_and(|before| matches!(before.kind(), "|" | "|&"));
    is_later || negated.parent().is_some_and(|parent| parent.kind() == "negated_command")
}

fn begins_with(node: Node<'_>, keyword: &str) -> bool {
    node.child(0).is_some_and(|first| first.kind() == keyword)
}

/// Sums of numbers. `bash` runs what stands in the subscripts of names there, also of those that variables hold.
fn is_plain_sum(written: &str) -> bool {
    let inner = written.strip_prefix("$((").and_then(|rest| rest.strip_suffix("))"));
    inner.is_some_and(|inner| inner.chars().all(|sign| sign.is_ascii_digit() || " \t+-*/%()<>=!&|^~?:".contains(sign)))
}

/// `${…}` as POSIX has it: a name, its length, or a name with one of the operators that every shell knows.
fn is_plain_parameter(written: &str) -> bool {
    let Some(inner) = written.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) else { return false };
    let rest = after_name(inner);
    if rest == Some("") {
        return true;
    }
    // `${#x}`, but `${#}` and `${#-y}` are about the number of arguments.
    if inner.strip_prefix('#').and_then(after_name) == Some("") {
        return true;
    }
    rest.is_some_and(|rest| {
        let rest = rest.strip_prefix(':').filter(|rest| !rest.starts_with(['#', '%'])).unwrap_or(rest);
        rest.starts_with(['-', '=', '?', '+', '#', '%'])
    })
}

/// `$` and a name, or one of the signs that stand for one.
fn is_plain_variable(written: &str) -> bool {
    written.strip_prefix('$').and_then(after_name) == Some("")
}

/// What follows the name of a variable.
fn after_name(text: &str) -> Option<&str> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let rest = text.trim_start_matches(is_letter);
    if rest.len() < text.len() {
        return Some(rest);
    }
    text.strip_prefix(['@', '*', '#', '?', '-', '$', '!'])
}

/// Whether what stands behind `>&` or `<&` is a descriptor.
fn duplicates_plainly(node: Node<'_>, text: &str) -> bool {
    let is_duplicate = node.children(&mut node.walk()).any(|child| matches!(child.kind(), ">&" | "<&"));
    let target = node.child_by_field_name("destination").map(|target| text_of(target, text));
    !is_duplicate || target.is_some_and(|target| target == "-" || matches!(target.as_bytes(), [b'0'..=b'9']))
}

/// `{name}>file`: to some shells it is a word, to others the place for a descriptor.
fn names_descriptor(node: Node<'_>, text: &str) -> bool {
    text_of(node, text).ends_with('}')
        && text.get(node.end_byte()..).is_some_and(|behind| behind.starts_with(['<', '>']))
}
