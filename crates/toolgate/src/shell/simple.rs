//! Simple commands: their assignments, words and redirections, put back together where the grammar tears them apart.

use tree_sitter::Node;

use super::grammar::{BREAKS, Gap, check_gap, children, text_of};
use super::heredocs::HereDocument;
use super::reading::{Place, Step, Walk, add};
use super::script::{SimpleCommand, Unreadable, Word, Wrapping, excerpt};
use super::words;

/// What a simple command is made of.
#[derive(Default)]
struct Parts<'tree> {
    assignments: Vec<String>,
    words: Vec<Word>,
    is_redirected: bool,
    /// Places in it that are expanded.
    holes: Vec<Hole<'tree>>,
}

/// A place in a word that a shell expands.
#[derive(Clone, Copy)]
pub(super) struct Hole<'tree> {
    node: Node<'tree>,
    place: Place,
}

impl<'tree> Walk<'tree, '_> {
    pub(super) fn simple(&mut self, step: Step<'tree>) -> Result<(), Unreadable> {
        let mut parts = Parts::default();
        let is_assignment = step.node.kind() == "variable_assignment";
        let nodes = if is_assignment { vec![step.node] } else { children(step.node, self.text, Gap::Words)? };
        for node in nodes {
            match node.kind() {
                "variable_assignment" => self.assignment(node, step, &mut parts)?,
                "command_name" => {
                    for inner in children(node, self.text, Gap::Nothing)? {
                        self.argument(inner, &mut parts)?;
                    }
                }
                "file_redirect" => self.redirection(node, &mut parts)?,
                "subshell" => return Err(Unreadable::because("brackets stand where an argument is expected")),
                _ => self.argument(node, &mut parts)?,
            }
        }
        for node in self.later_words.remove(&step.node.id()).unwrap_or_default() {
            parts.is_redirected = true;
            self.argument(node, &mut parts)?;
        }
        self.finish(step, parts)
    }

    fn finish(&mut self, step: Step<'tree>, parts: Parts<'tree>) -> Result<(), Unreadable> {
        let raws = parts.words.iter().map(|word| word.raw.as_str());
        let own: Vec<&str> = parts.assignments.iter().map(String::as_str).chain(raws).collect();
        let is_whole = own.is_empty() || !parts.is_redirected;
        let text = if is_whole { text_of(step.node, self.text).trim().to_owned() } else { own.join(" ") };
        let command = SimpleCommand {
            text: self.around.assignments.iter().rev().fold(text, |text, assignment| format!("{assignment} {text}")),
            assignments: self.around.assignments.iter().cloned().chain(parts.assignments).collect(),
            words: parts.words,
            is_redirected: step.is_redirected || parts.is_redirected,
            wrapping: Wrapping::Nothing,
            runs_unseen: false,
            doubts: Vec::new(),
        };
        add(command, self.around, self.found)?;
        self.fill(&parts.holes, step);
        Ok(())
    }

    /// Goes on with what is expanded in words.
    pub(super) fn fill(&mut self, holes: &[Hole<'tree>], step: Step<'tree>) {
        for hole in holes.iter().rev() {
            self.go_on(&[hole.node], Step { place: hole.place, ..step });
        }
    }

    fn argument(&self, node: Node<'tree>, parts: &mut Parts<'tree>) -> Result<(), Unreadable> {
        let (word, holes) = self.word(node)?;
        parts.words.push(word);
        parts.holes.extend(holes);
        Ok(())
    }

    /// A word, and the places in it that are expanded.
    pub(super) fn word(&self, node: Node<'tree>) -> Result<(Word, Vec<Hole<'tree>>), Unreadable> {
        let holes = holes(node);
        let start = node.start_byte();
        let ranges: Vec<_> =
            holes.iter().map(|hole| hole.node.start_byte() - start..hole.node.end_byte() - start).collect();
        Ok((words::word(text_of(node, self.text), &ranges)?, holes))
    }

    /// A word that belongs to no simple command: of a loop, a pattern, an assignment.
    pub(super) fn lone_word(&mut self, step: Step<'tree>) -> Result<(), Unreadable> {
        let (_, holes) = self.word(step.node)?;
        self.fill(&holes, step);
        Ok(())
    }

    /// `NAME=value` before a program, or behind `export` and the like, where it is a word.
    fn assignment(&mut self, node: Node<'tree>, step: Step<'tree>, parts: &mut Parts<'tree>) -> Result<(), Unreadable> {
        for part in children(node, self.text, Gap::Nothing)? {
            match part.kind() {
                "variable_name" => {}
                _ if !part.is_named() => {}
                _ => parts.holes.extend(self.value(part)?),
            }
        }
        let raw = text_of(node, self.text);
        let name = raw.split(['=', '+', '[']).next().unwrap_or_default();
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) || !name.chars().all(is_letter) {
            return Err(Unreadable::because(format!("`{}` looks like an assignment and is none", excerpt(raw))));
        }
        if step.node.kind() == "declaration_command" {
            parts.words.push(Word { raw: raw.to_owned(), literal: None, head: name.to_owned(), may_split: false });
        } else {
            parts.assignments.push(raw.to_owned());
        }
        Ok(())
    }

    /// The value of an assignment: a word, except that it may begin with `#`.
    fn value(&self, node: Node<'tree>) -> Result<Vec<Hole<'tree>>, Unreadable> {
        if text_of(node, self.text).starts_with('#') {
            return Err(Unreadable::because("a value begins with `#`; quote it"));
        }
        Ok(self.word(node)?.1)
    }

    /// A redirection before or within a command. What the grammar counts to it but a shell does not are words of the command.
    fn redirection(&self, node: Node<'tree>, parts: &mut Parts<'tree>) -> Result<(), Unreadable> {
        parts.is_redirected = true;
        let (target, words) = self.target(node)?;
        parts.holes.extend(target);
        for word in words {
            self.argument(word, parts)?;
        }
        Ok(())
    }

    /// What is expanded in the name of the file that a redirection opens, and the words behind that name.
    fn target(&self, node: Node<'tree>) -> Result<(Vec<Hole<'tree>>, Vec<Node<'tree>>), Unreadable> {
        let mut nodes = children(node, self.text, Gap::Blanks)?;
        if let Some(descriptor) = nodes.iter().find(|part| part.kind() == "file_descriptor") {
            self.check_descriptor(*descriptor)?;
        }
        if nodes.iter().any(|part| part.kind() == "$") {
            return Err(Unreadable::because("a redirection to `$` can be read in more than one way; quote it"));
        }
        let closes = nodes.iter().any(|part| matches!(text_of(*part, self.text), "<&-" | ">&-"));
        nodes.retain(|part| part.is_named() && part.kind() != "file_descriptor");
        if closes || nodes.is_empty() {
            return Ok((Vec::new(), nodes));
        }
        for (word, next) in nodes.iter().zip(nodes.iter().skip(1)) {
            check_gap(self.text, word.end_byte()..next.start_byte(), Gap::Words)?;
        }
        let file = nodes.remove(0);
        Ok((self.word(file)?.1, nodes))
    }

    /// The number before a redirection is a word of its own, and touches what follows.
    fn check_descriptor(&self, node: Node<'tree>) -> Result<(), Unreadable> {
        let before = self.text.get(..node.start_byte()).unwrap_or_default();
        let after = self.text.get(node.end_byte()..).unwrap_or_default();
        let begins =
            before.is_empty() || (before.ends_with(BREAKS) && !before.trim_end_matches(BREAKS).ends_with('\\'));
        let is_number = text_of(node, self.text).chars().all(|digit| digit.is_ascii_digit());
        if is_number && begins && after.starts_with(['<', '>']) {
            return Ok(());
        }
        Err(Unreadable::because(format!(
            "what is redirected at byte {} can be read in more than one way",
            node.start_byte()
        )))
    }

    /// `$(< file)`: no program runs, a file is read.
    pub(super) fn opened(&mut self, redirection: Node<'tree>, step: Step<'tree>) -> Result<(), Unreadable> {
        let mut parts = Parts::default();
        self.redirection(redirection, &mut parts)?;
        self.finish(Step { node: redirection, ..step }, parts)
    }

    /// A statement with redirections behind it.
    pub(super) fn redirected(&mut self, step: Step<'tree>) -> Result<(), Unreadable> {
        let step = Step { is_redirected: true, ..step };
        let mut body = None;
        let (mut holes, mut words, mut next) = (Vec::new(), Vec::new(), Vec::new());
        for node in children(step.node, self.text, Gap::Blanks)? {
            match node.kind() {
                "file_redirect" => {
                    let (target, behind) = self.target(node)?;
                    holes.extend(target);
                    words.extend(behind);
                }
                "heredoc_redirect" => self.here_document(node, &mut holes, &mut words, &mut next)?,
                _ => body = Some(node),
            }
        }
        self.go_on(&next, step);
        let Some(body) = body else {
            let mut parts = Parts { is_redirected: true, holes, ..Parts::default() };
            for word in words {
                self.argument(word, &mut parts)?;
            }
            return self.finish(step, parts);
        };
        self.fill(&holes, step);
        if !words.is_empty() {
            let last = last_simple(body).ok_or_else(|| Unreadable::because("words stand behind a redirected block"))?;
            self.later_words.entry(last.id()).or_default().extend(words);
        }
        self.go_on(&[body], step);
        Ok(())
    }

    /// A here-document, with what the grammar counts to it: the rest of its line.
    fn here_document(
        &self,
        node: Node<'tree>,
        holes: &mut Vec<Hole<'tree>>,
        words: &mut Vec<Node<'tree>>,
        next: &mut Vec<Node<'tree>>,
    ) -> Result<(), Unreadable> {
        let (mut operator, mut start, mut body, mut end) = (None, None, None, None);
        for part in children(node, self.text, Gap::Lines)? {
            match part.kind() {
                "<<" | "<<-" => operator = Some(part),
                "heredoc_start" => start = Some(part),
                "heredoc_body" => body = Some(part),
                "heredoc_end" => end = Some(part),
                "file_redirect" => {
                    let (target, behind) = self.target(part)?;
                    holes.extend(target);
                    words.extend(behind);
                }
                "file_descriptor" => self.check_descriptor(part)?,
                _ if !part.is_named() => {}
                _ if node.children_by_field_name("argument", &mut node.walk()).any(|argument| argument == part) => {
                    words.push(part);
                }
                _ => next.push(part),
            }
        }
        let (Some(operator), Some(start), Some(body), Some(end)) = (operator, start, body, end) else {
            return Err(Unreadable::because("a here-document is not complete"));
        };
        let expanded = HereDocument { operator, start, body, end }.expanded(self.text)?;
        holes.extend(expanded.into_iter().map(|node| Hole { node, place: Place::QuotedExpression }));
        Ok(())
    }
}

/// The simple command at the end of a statement.
fn last_simple(statement: Node<'_>) -> Option<Node<'_>> {
    let mut node = statement;
    loop {
        match node.kind() {
            "command" | "declaration_command" | "unset_command" | "variable_assignment" | "variable_assignments" => {
                return Some(node);
            }
            "list" | "pipeline" | "negated_command" => {
                node = node.named_child(u32::try_from(node.named_child_count().checked_sub(1)?).ok()?)?;
            }
            "redirected_statement" => node = node.child_by_field_name("body")?,
            _ => return None,
        }
    }
}

/// The outermost places in a word that a shell expands.
fn holes(word: Node<'_>) -> Vec<Hole<'_>> {
    let mut found = Vec::new();
    let mut stack = vec![(word, Place::Expression)];
    while let Some((node, place)) = stack.pop() {
        match node.kind() {
            "simple_expansion" | "expansion" | "command_substitution" | "arithmetic_expansion" => {
                found.push(Hole { node, place });
            }
            kind => {
                let place = if kind == "string" { Place::QuotedExpression } else { place };
                let inner: Vec<_> = node.children(&mut node.walk()).collect();
                stack.extend(inner.into_iter().rev().map(|child| (child, place)));
            }
        }
    }
    found
}
