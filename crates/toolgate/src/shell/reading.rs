//! From the tree of a text to its simple commands: one walk over everything a shell could run.

use std::collections::HashMap;

use tree_sitter::Node;

use super::builtins;
use super::doubt;
use super::grammar::{self, Gap, children, text_of};
use super::script::{SimpleCommand, Unreadable, Wrapping, excerpt};
use super::together;
use super::words::is_assignment;
use super::wrappers;
use crate::limits::{SHELL_COMMANDS_MAX, SHELL_DEPTH_MAX};

/// What holds for the commands of a text: what stands around it.
#[derive(Clone, Debug, Default)]
pub(super) struct Around {
    /// Assignments of the wrappers around.
    pub(super) assignments: Vec<String>,
    /// Whether a wrapper around is redirected.
    pub(super) is_redirected: bool,
    /// How many wrappers are around.
    pub(super) wrappers: usize,
}

/// Every simple command of a text.
pub(super) fn commands(text: &str) -> Result<Vec<SimpleCommand>, Unreadable> {
    let mut found = Vec::new();
    read_into(text, &Around::default(), &mut found)?;
    builtins::check_together(text, &found)?;
    together::mark(text, &mut found);
    Ok(found)
}

/// Adds the simple commands of a text to those found so far.
pub(super) fn read_into(text: &str, around: &Around, found: &mut Vec<SimpleCommand>) -> Result<(), Unreadable> {
    let grammar::Parsed { tree, text } = grammar::parse(text)?;
    let before = found.len();
    let mut walk = Walk { text: &text, around, found, later_words: HashMap::new(), stack: Vec::new() };
    walk.stack.push(Step { node: tree.root_node(), depth: 0, is_redirected: around.is_redirected, place: Place::Code });
    while let Some(step) = walk.stack.pop() {
        walk.step(step)?;
    }
    if found.len() == before {
        return Err(Unreadable::because("there is no command in it"));
    }
    Ok(())
}

/// Adds one command and, behind it, what it runs.
pub(super) fn add(command: SimpleCommand, around: &Around, found: &mut Vec<SimpleCommand>) -> Result<(), Unreadable> {
    if found.len() >= SHELL_COMMANDS_MAX {
        return Err(Unreadable::because(format!(
            "it has more than {SHELL_COMMANDS_MAX} commands; put it into a script file"
        )));
    }
    if let Some(program) = command.words.first() {
        if program.literal.as_deref().is_none_or(str::is_empty) {
            return Err(Unreadable::because(format!(
                "which program `{}` is, is only known when it runs; write its name",
                excerpt(&program.raw)
            )));
        }
        let sets = is_assignment(&program.raw) || program.raw.contains("+=") || program.raw.contains("]=");
        if sets || RESERVED.contains(&program.raw.as_str()) {
            return Err(Unreadable::because(format!("`{}` stands where a program is expected", excerpt(&program.raw))));
        }
    }
    builtins::check(&command)?;
    let at = found.len();
    found.push(command);
    wrappers::look_through(at, around, found)
}

/// Words that build a command rather than name a program.
const RESERVED: [&str; 19] = [
    "in", "!", "{", "}", "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "select", "function", "coproc",
];

/// What kind of text a node stands in, which says how its words are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Where commands stand.
    Code,
    /// Inside `${…}` and `$((…))`.
    Expression,
    /// The same between double quotes or in a here-document: a single quote is a letter there.
    QuotedExpression,
}

/// One node to look at.
#[derive(Clone, Copy)]
pub(super) struct Step<'tree> {
    pub(super) node: Node<'tree>,
    pub(super) depth: usize,
    pub(super) is_redirected: bool,
    pub(super) place: Place,
}

/// The walk over one text. What stands where a command stands is here, simple commands are in `simple.rs`, expressions in `expressions.rs`.
pub(super) struct Walk<'tree, 'a> {
    pub(super) text: &'a str,
    pub(super) around: &'a Around,
    pub(super) found: &'a mut Vec<SimpleCommand>,
    /// Words of a command that the grammar counts to a redirection behind it: `rm >log -rf x`.
    pub(super) later_words: HashMap<usize, Vec<Node<'tree>>>,
    stack: Vec<Step<'tree>>,
}

impl<'tree> Walk<'tree, '_> {
    fn step(&mut self, step: Step<'tree>) -> Result<(), Unreadable> {
        if step.depth > SHELL_DEPTH_MAX {
            return Err(Unreadable::because(format!("it is nested more than {SHELL_DEPTH_MAX} levels deep")));
        }
        match step.node.kind() {
            "command_substitution" => self.substitution(step),
            "test_command" => self.test(step),
            _ if step.place != Place::Code => self.expression(step),
            "command" | "declaration_command" | "unset_command" | "variable_assignment" | "variable_assignments" => {
                self.simple(step)
            }
            "redirected_statement" => self.redirected(step),
            "function_definition" => self.function(step),
            "for_statement" => self.loop_over(step),
            "program" | "list" | "pipeline" | "subshell" | "compound_statement" | "do_group" | "if_statement"
            | "elif_clause" | "else_clause" | "while_statement" | "case_statement" | "case_item"
            | "negated_command" => self.inner(step),
            "extglob_pattern" => self.expression(step),
            _ if !step.node.is_named() => Ok(()),
            _ => self.lone_word(step),
        }
    }

    /// Goes on with these nodes, the first of them next.
    pub(super) fn go_on(&mut self, nodes: &[Node<'tree>], step: Step<'tree>) {
        // Lists lean to the left and are as deep as they are long.
        let deeper = usize::from(step.node.kind() != "list");
        self.stack.extend(nodes.iter().rev().map(|node| Step { node: *node, depth: step.depth + deeper, ..step }));
    }

    fn inner(&mut self, step: Step<'tree>) -> Result<(), Unreadable> {
        let nodes = children(step.node, self.text, Gap::Lines)?;
        if step.node.kind() == "negated_command"
            && !text_of(step.node, self.text).strip_prefix('!').is_some_and(|rest| {
                rest.starts_with([' ', '\t']) && !rest.trim_start_matches([' ', '\t']).starts_with('\n')
            })
        {
            return Err(Unreadable::because("there is no blank behind `!`"));
        }
        self.go_on(&nodes, Step { place: Place::Code, ..step });
        Ok(())
    }

    fn loop_over(&mut self, step: Step<'tree>) -> Result<(), Unreadable> {
        if let Some(variable) = step.node.child_by_field_name("variable") {
            self.sets(text_of(variable, self.text), step)?;
        }
        let mut nodes = children(step.node, self.text, Gap::Lines)?;
        nodes.retain(|node| node.kind() != "variable_name");
        self.go_on(&nodes, step);
        Ok(())
    }

    /// A variable that a shell sets without an assignment. Those of the environment are in capitals, and change what programs do.
    pub(super) fn sets(&mut self, name: &str, step: Step<'tree>) -> Result<(), Unreadable> {
        if name.contains(|letter: char| letter.is_ascii_lowercase()) {
            return Ok(());
        }
        let assignment = format!("{name}=");
        let command = SimpleCommand {
            text: assignment.clone(),
            assignments: vec![assignment],
            words: Vec::new(),
            is_redirected: step.is_redirected,
            wrapping: Wrapping::Nothing,
            runs_unseen: false,
            doubts: Vec::new(),
        };
        add(command, self.around, self.found)
    }

    fn function(&mut self, step: Step<'tree>) -> Result<(), Unreadable> {
        let mut nodes = children(step.node, self.text, Gap::Lines)?;
        if nodes.iter().any(|node| node.kind().ends_with("_redirect")) {
            return Err(Unreadable::because("a function is redirected as a whole; redirect the commands in it"));
        }
        let name = nodes.iter().find(|node| node.kind() == "word").map(|node| text_of(*node, self.text));
        if let Some(name) = name.filter(|name| doubt::is_known(name)) {
            return Err(Unreadable::because(format!("a function has the name of the program `{}`", excerpt(name))));
        }
        nodes.retain(|node| node.kind() != "word");
        self.go_on(&nodes, step);
        Ok(())
    }

    fn substitution(&mut self, step: Step<'tree>) -> Result<(), Unreadable> {
        let text = text_of(step.node, self.text);
        let is_backquoted = !text.starts_with("$(");
        if is_backquoted && ["\\`", "\\$", "\\\\", "\\\"", "\\\n"].iter().any(|escape| text.contains(escape)) {
            return Err(Unreadable::because("there is a backslash between backquotes; write `$(…)` instead"));
        }
        let nodes = children(step.node, self.text, Gap::Lines)?;
        let step = Step { place: Place::Code, ..step };
        match nodes.iter().find(|node| node.kind() == "file_redirect") {
            Some(redirection) => self.opened(*redirection, step),
            None => {
                self.go_on(&nodes, step);
                Ok(())
            }
        }
    }
}
