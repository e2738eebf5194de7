//! Stage 9: the catalog in the words of each front end. All of it is pure: what has to be asked of a server is said, and asked by the caller.
//!
//! For people: prompts as slash commands ([`slash`]) and `@` references ([`references`]). For models: which tools are declared ([`budget`]), what a reference becomes
//! ([`attach`](mod@attach)) and the functions with which a model looks at resources itself ([`resource_tools`]). For both: tools found by what they do ([`search`]).

pub mod search;

mod search_index;

mod search_stem;

mod search_synonyms;

mod search_words;

pub mod budget;

mod tool_text;

pub mod slash;

pub mod slash_arguments;

pub mod slash_completion;

pub mod references;

pub mod uri_template;

pub mod attach;

pub mod resource_tools;

mod function;

pub use attach::{Attached, Media, attach};
pub use budget::{Answer, OfferedTool, ToolOffer};
pub use function::Function;
pub use references::{Known, Reference, Target};
pub use search::{Hit, SearchIndex};
pub use slash::{SlashCommand, SlashCommands};
