//! Which tools and calls of a server the person lets through: `includeTools`, `excludeTools` and entries of the same grammar elsewhere. Pure.
//!
//! Listing and calling ask the same [`ToolFilter`], so a tool is shown exactly when some call of it may pass.

mod tool_filter;

mod entry;

mod name_pattern;

mod argument_pattern;

mod command_pattern;
mod harmless_redirection;
mod likeness;

mod place;

mod path_readings;
mod percent;

mod arguments;

mod leaves;

mod sample_calls;

pub use argument_pattern::ArgumentPattern;
pub use arguments::Arguments;
pub use entry::{Entry, EntryError, check};
pub use name_pattern::NamePattern;
pub(crate) use path_readings::{
    is_file_address, is_other_address, is_unclear, is_web_address, leads_through_process, readings,
};
pub(crate) use percent::decoded as percent_decoded;
pub(crate) use tool_filter::STRICT_REASON;
pub use tool_filter::{FilterList, FilterVerdict, Strictness, ToolFilter, Visibility};

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod scenario_tests;
