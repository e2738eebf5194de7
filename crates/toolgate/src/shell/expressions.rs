//! What stands inside `${…}`, `$((…))` and `[ … ]`: no commands, unless they are substituted there.

use tree_sitter::Node;

use super::grammar::{Gap, children, text_of};
use super::reading::{Place, Step, Walk, add};
use super::script::{SimpleCommand, Unreadable, Word, Wrapping, excerpt};
use super::words::expands;

impl<'tree> Walk<'tree, '_> {
    pub(super) fn expression(&mut self, step: Step<'tree>) -> Result<(), Unreadable> {
        let place = if step.place == Place::Code { Place::Expression } else { step.place };
        let step = Step { place, ..step };
        match step.node.kind() {
            "simple_expansion" => children(step.node, self.text, Gap::Nothing).map(|_| ()),
            // Where quotes within quotes end, shells do not agree.
            "string" if place == Place::QuotedExpression => Err(Unreadable::because(format!(
                "`{}` is quoted within quotes; use a variable",
                excerpt(text_of(step.node, self.text))
            ))),
            "string" => self.lone_word(step),
            "raw_string" | "concatenation" if place == Place::Expression => self.lone_word(step),
            _ if step.node.child_count() == 0 => self.letters(step.node, &['{', '}']),
            "expansion" => self.parameter(step),
            _ => {
                let nodes = children(step.node, self.text, Gap::Lines)?;
                self.go_on(&nodes, step);
                Ok(())
            }
        }
    }

    /// `${…}`.
    fn parameter(&mut self, step: Step<'tree>) -> Result<(), Unreadable> {
        let text = text_of(step.node, self.text);
        let nodes = children(step.node, self.text, Gap::Lines)?;
        if nodes.iter().any(|node| matches!(text_of(*node, self.text), "=" | ":=")) {
            let is_name = |letter: &char| letter.is_alphanumeric() || *letter == '_';
            let name: String = text.chars().skip(2).take_while(is_name).collect();
            self.sets(&name, step)?;
        }
        self.go_on(&nodes, step);
        Ok(())
    }

    /// A token of an expression. It is inert unless the grammar missed a quote, a substitution or an end in it.
    fn letters(&self, node: Node<'tree>, ends: &[char]) -> Result<(), Unreadable> {
        let text = text_of(node, self.text);
        if node.kind() == text {
            return Ok(());
        }
        let mut rest = text.chars();
        while let Some(letter) = rest.next() {
            let is_fine = match letter {
                '\\' => rest.next().is_some_and(|escaped| !"'\"`\n".contains(escaped)),
                '$' => !expands(self.text.get(node.end_byte() - rest.as_str().len()..).unwrap_or_default()),
                '\'' | '"' | '`' | ';' | '&' | '\n' | '<' | '>' | '(' => false,
                other => !ends.contains(&other),
            };
            if !is_fine {
                let shown = excerpt(text);
                return Err(Unreadable::because(format!("`{shown}` can be read in more than one way")));
            }
        }
        Ok(())
    }

    /// `[ … ]`.
    pub(super) fn test(&mut self, step: Step<'tree>) -> Result<(), Unreadable> {
        let text = text_of(step.node, self.text);
        if text.contains('\n') {
            return Err(Unreadable::because("`[` and `]` are not on one line"));
        }
        let inner = text.trim_start_matches('[').trim_end_matches(']');
        if !inner.starts_with([' ', '\t', '\n'])
            || !inner.ends_with([' ', '\t', '\n'])
            || inner.trim_end().ends_with('\\')
        {
            return Err(Unreadable::because("there is no blank between a bracket and the test in it"));
        }
        let mut words = Vec::new();
        let mut inside = Vec::new();
        let mut stack: Vec<Node<'tree>> = children(step.node, self.text, Gap::Lines)?.into_iter().rev().collect();
        while let Some(node) = stack.pop() {
            match node.kind() {
                "word"
                | "string"
                | "raw_string"
                | "number"
                | "concatenation"
                | "simple_expansion"
                | "expansion"
                | "command_substitution"
                | "arithmetic_expansion"
                | "brace_expression" => {
                    let (word, holes) = self.word(node)?;
                    words.push(word);
                    inside.extend(holes);
                }
                "redirected_statement" => {
                    return Err(Unreadable::because("something is redirected between `[` and `]`"));
                }
                _ if node.child_count() == 0 => {
                    self.test_token(node)?;
                    words.push(Word::plain(text_of(node, self.text), text_of(node, self.text)));
                }
                _ => stack.extend(children(node, self.text, Gap::Lines)?.into_iter().rev()),
            }
        }
        let command = SimpleCommand {
            text: self
                .around
                .assignments
                .iter()
                .rev()
                .fold(text.to_owned(), |text, assignment| format!("{assignment} {text}")),
            assignments: self.around.assignments.clone(),
            words,
            is_redirected: step.is_redirected,
            wrapping: Wrapping::Nothing,
            runs_unseen: false,
            doubts: Vec::new(),
        };
        add(command, self.around, self.found)?;
        self.fill(&inside, step);
        Ok(())
    }

    /// An operator of a test. Those of the shell end the command, and what follows runs.
    fn test_token(&self, node: Node<'tree>) -> Result<(), Unreadable> {
        let text = text_of(node, self.text);
        if text.contains(['&', '|', ';', '<', '>', '(', ')', '\'', '"', '`', '$', '\\']) {
            return Err(Unreadable::because(format!("`{text}` between `[` and `]` is not part of the test; quote it")));
        }
        Ok(())
    }
}
