//! Stage 9: the catalog in the words of each front end. All of it is pure: what has to be asked of a server is said, and asked by the caller.
//!
//! For people: prompts as slash commands ([`slash`]) and `@` references ([`references`]). For models: what a reference becomes ([`attach`]) and the tools with which
//! a model looks at resources itself ([`resource_tools`]).

pub mod slash;

pub mod slash_arguments;

pub mod slash_completion;

pub mod references;

pub mod uri_template;

pub mod attach;

pub mod resource_tools;

mod function;

pub use attach::{Attached, Media, attach};
pub use function::Function;
pub use references::{Known, Reference, Target};
pub use slash::{SlashCommand, SlashCommands};
