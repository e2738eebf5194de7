//! What a shell command does, as far as its text tells: the simple commands in it, also those behind wrappers and inside substitutions. Pure.
//!
//! Two readers look at it: a *restriction* must reach everything that could be meant, a *permission* only what is certainly meant. So every
//! comparison takes a [`Reach`].
//!
//! The grammar that takes a text apart is more generous than a shell is: it skips what a shell would run. So it proposes, and what it says of
//! words, quotes, comments and here-documents is read again here; where the two disagree, the text is [`Unreadable`].

mod reach;
mod script;
mod together;

mod builtins;
mod dialect;
mod expressions;
mod grammar;
mod heredocs;
mod reading;
mod simple;
mod words;

mod wrappers;

mod runners;
mod runs;
mod wrapper_options;

mod acting;
mod data;
mod doubt;
mod inline;
mod interpreters;
mod sed;
mod subcommands;

mod git;
mod git_acts;
mod operands;
mod prefix;
mod risk;

#[cfg(test)]
mod case_tests;
#[cfg(test)]
mod property_tests;

pub use reach::Reach;
pub use risk::Risk;
pub use script::{Script, SimpleCommand, Unreadable, Word, Wrapping, read};
