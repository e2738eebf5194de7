//! Which tools of a server are shown and which calls of them pass: its include and exclude lists, the same for listing and for calling.
//!
//! The more specific entry decides, in this order:
//! 1. an exclude entry without arguments hides the tool;
//! 2. an exclude entry with arguments forbids the calls that could be meant;
//! 3. include entries with arguments permit the calls that are certainly meant;
//! 4. an exclude entry with `(*)` forbids every other call;
//! 5. an include entry without arguments permits every other call;
//! 6. with an include list every other call is forbidden, without one it is permitted, unless that is told otherwise.
//!
//! An exclude entry that cannot be read hides every tool that begins as it does, an include entry that cannot be read permits nothing. An exclude
//! entry also knows a tool by the name it is shown under, and whatever its capitals; an include entry only by its own name.

use std::fmt;

use serde_json::Value;

use super::argument_pattern::ArgumentPattern;
use super::arguments::Arguments;
use super::entry::{Entry, EntryError};
use super::name_pattern::NamePattern;
use super::sample_calls::sample_calls;
use crate::limits::FILTER_ENTRIES_LISTED_MAX;
use crate::servers::built_in_tools::{possible_real_name, real_name, under_all_names};
use crate::shell::Reach;
use crate::shown_name::spellings;

/// The reason why a tool is hidden that no list is about.
pub(crate) const STRICT_REASON: &str = "`security.strict` is on, and the server has no `includeTools`";

/// Whether a tool is shown, and if not, why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Visibility {
    /// It is shown.
    Shown,
    /// It is not; the text says which rule hides it.
    Hidden(String),
}

/// What is said about one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterVerdict {
    /// The lists let it through.
    Permitted,
    /// They do not.
    Denied {
        /// Which list says so.
        list: FilterList,
        /// Which entry of it; none when it is not on the list.
        entry: Option<String>,
        /// In words.
        why: String,
    },
}

/// What decides about tools of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FilterList {
    /// `includeTools`.
    Include,
    /// `excludeTools`.
    Exclude,
    /// `security.strict`, when the server has no `includeTools`.
    Strict,
}

/// What a server without an include list shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Strictness {
    /// All that is not excluded.
    #[default]
    Open,
    /// Nothing (`security.strict`).
    Strict,
}

/// The lists of one server, read once.
#[derive(Debug, Clone, Default)]
pub struct ToolFilter {
    include: Option<Vec<Entry>>,
    exclude: Vec<Excluding>,
    unreadable: Vec<(NamePattern, EntryError)>,
    problems: Vec<EntryError>,
    strictness: Strictness,
    /// Whether the filter is for the built-in server, whose arguments have alternative names.
    is_of_built_in: bool,
}

/// An entry that excludes, with the names as it compares them.
#[derive(Debug, Clone)]
struct Excluding {
    names: Vec<NamePattern>,
    entry: Entry,
}

impl Excluding {
    fn new(entry: Entry) -> Self {
        let alias = exact(&entry.name).and_then(possible_real_name).map(NamePattern::of);
        Self { names: [entry.name.folded()].into_iter().chain(alias).collect(), entry }
    }

    fn is_about(&self, spellings: &[String]) -> bool {
        self.names.iter().any(|name| name.matches_any(spellings))
    }
}

fn exact(name: &NamePattern) -> Option<&str> {
    match name {
        NamePattern::Exact(name) => Some(name),
        NamePattern::Any | NamePattern::Glob(_) => None,
    }
}

impl ToolFilter {
    /// These lists, as they are written.
    #[must_use]
    pub fn of(include: Option<&[String]>, exclude: &[String], strictness: Strictness) -> Self {
        let mut filter = Self { strictness, ..Self::default() };
        filter.include = include.map(|entries| {
            let read = entries.iter().map(|text| Entry::parse(text));
            read.filter_map(|entry| entry.map_err(|error| filter.problems.push(error)).ok()).collect()
        });
        for text in exclude {
            match Entry::parse(text) {
                Ok(entry) => filter.exclude.push(Excluding::new(entry)),
                Err(error) => {
                    filter.problems.push(error.clone());
                    let names = Entry::possible_names(text);
                    filter.unreadable.extend(names.iter().map(|name| (name.folded(), error.clone())));
                }
            }
        }
        filter
    }

    /// The same for the built-in server, whose tools may be included by the other names they have.
    #[must_use]
    pub fn of_built_in(include: Option<&[String]>, exclude: &[String], strictness: Strictness) -> Self {
        let mut filter = Self { is_of_built_in: true, ..Self::of(include, exclude, strictness) };
        for entry in filter.include.iter_mut().flatten() {
            if let Some(real) = exact(&entry.name).and_then(real_name) {
                entry.name = NamePattern::of(real);
            }
        }
        filter
    }

    /// The entries that cannot be read.
    #[must_use]
    pub fn problems(&self) -> &[EntryError] {
        &self.problems
    }

    /// Whether a tool is shown, by its own name: when some call of it passes.
    #[must_use]
    pub fn visibility(&self, tool: &str) -> Visibility {
        if self.is_open() {
            return Visibility::Shown;
        }
        let nothing = Value::Object(serde_json::Map::new());
        let verdict = self.judge(tool, &Arguments::new(&nothing));
        let FilterVerdict::Denied { list, entry, why } = verdict else { return Visibility::Shown };
        let mut samples = self.included_calls(tool).flat_map(sample_calls);
        if samples.any(|sample| self.judge(tool, &Arguments::new(&sample)) == FilterVerdict::Permitted) {
            return Visibility::Shown;
        }
        Visibility::Hidden(match entry {
            Some(entry) if self.unreadable_about(&spellings(tool)).is_some() => {
                format!("`{entry}` in `{list}` cannot be read, so every tool that begins so is hidden")
            }
            Some(entry) => format!("`{entry}` in `{list}` hides it"),
            None if self.included_calls(tool).next().is_some() => {
                format!("every call of it that is in `{list}` is excluded")
            }
            None => why,
        })
    }

    /// Whether there is nothing that could hold anything back, as with most servers.
    fn is_open(&self) -> bool {
        self.include.is_none()
            && self.exclude.is_empty()
            && self.unreadable.is_empty()
            && self.strictness == Strictness::Open
    }

    /// Whether a call passes.
    #[must_use]
    pub fn judge(&self, tool: &str, arguments: &Arguments<'_>) -> FilterVerdict {
        if self.is_open() {
            return FilterVerdict::Permitted;
        }
        let all = if self.is_of_built_in { under_all_names(arguments.value()) } else { None };
        let under_all_names = all.as_ref().map(|all| arguments.also_named(all));
        let arguments = under_all_names.as_ref().unwrap_or(arguments);
        let spellings = spellings(tool);
        let of_tool = self.exclude.iter().filter(|excluding| excluding.is_about(&spellings));
        let excluded: Vec<&Entry> = of_tool.map(|excluding| &excluding.entry).collect();
        if let Some(error) = self.unreadable_about(&spellings) {
            return denied_by(FilterList::Exclude, &error.entry, &format!("cannot be read: {}", error.why));
        }
        if let Some(entry) = excluded.iter().find(|entry| entry.arguments.is_none()) {
            return denied_by(FilterList::Exclude, &entry.text, "excludes the tool");
        }
        let forbids =
            |pattern: &ArgumentPattern| is_concrete(pattern) && pattern.matches(arguments, Reach::Restriction);
        if let Some(entry) = excluded.iter().find(|entry| entry.arguments.as_ref().is_some_and(forbids)) {
            return denied_by(FilterList::Exclude, &entry.text, "excludes calls like this one");
        }
        let permitting: Vec<&ArgumentPattern> = self.included_calls(tool).collect();
        if !permitting.is_empty() && ArgumentPattern::permit_together(&permitting, arguments) {
            return FilterVerdict::Permitted;
        }
        if let Some(entry) = excluded.iter().find(|entry| entry.arguments == Some(ArgumentPattern::Any)) {
            return denied_by(FilterList::Exclude, &entry.text, &self.excludes_all_but(tool));
        }
        self.judge_by_name(tool)
    }

    fn unreadable_about(&self, spellings: &[String]) -> Option<&EntryError> {
        self.unreadable.iter().find(|(name, _)| name.matches_any(spellings)).map(|(_, error)| error)
    }

    /// Steps 5 and 6.
    fn judge_by_name(&self, tool: &str) -> FilterVerdict {
        let denied = |list, why: String| FilterVerdict::Denied { list, entry: None, why };
        let Some(include) = &self.include else {
            return match self.strictness {
                Strictness::Open => FilterVerdict::Permitted,
                Strictness::Strict => denied(FilterList::Strict, STRICT_REASON.to_owned()),
            };
        };
        let covers_all = |entry: &Entry| !entry.arguments.as_ref().is_some_and(is_concrete);
        if include.iter().any(|entry| covers_all(entry) && entry.name.matches(tool)) {
            return FilterVerdict::Permitted;
        }
        match self.permitted_calls(tool) {
            Some(calls) => denied(FilterList::Include, format!("`includeTools` has only certain calls of it: {calls}")),
            None => denied(FilterList::Include, "it is not in `includeTools`".to_owned()),
        }
    }

    /// The argument patterns of include entries for a tool, without `(*)`.
    fn included_calls(&self, tool: &str) -> impl Iterator<Item = &ArgumentPattern> {
        self.included(tool).filter_map(|entry| entry.arguments.as_ref()).filter(|pattern| is_concrete(pattern))
    }

    fn included(&self, tool: &str) -> impl Iterator<Item = &Entry> {
        self.include.iter().flatten().filter(move |entry| entry.name.matches(tool))
    }

    fn excludes_all_but(&self, tool: &str) -> String {
        self.permitted_calls(tool)
            .map_or_else(|| "excludes every call".to_owned(), |calls| format!("excludes every call but {calls}"))
    }

    /// The include entries with arguments for a tool, as they are written.
    fn permitted_calls(&self, tool: &str) -> Option<String> {
        let concrete = |entry: &&Entry| entry.arguments.as_ref().is_some_and(is_concrete);
        let mut calls: Vec<String> = self.included(tool).filter(concrete).map(|entry| format!("`{entry}`")).collect();
        if calls.len() > FILTER_ENTRIES_LISTED_MAX {
            let more = calls.len() - FILTER_ENTRIES_LISTED_MAX;
            calls.truncate(FILTER_ENTRIES_LISTED_MAX);
            calls.push(format!("{more} more"));
        }
        (!calls.is_empty()).then(|| calls.join(", "))
    }
}

fn is_concrete(pattern: &ArgumentPattern) -> bool {
    *pattern != ArgumentPattern::Any
}

fn denied_by(list: FilterList, entry: &str, does: &str) -> FilterVerdict {
    FilterVerdict::Denied { list, entry: Some(entry.to_owned()), why: format!("`{entry}` in `{list}` {does}") }
}

impl fmt::Display for FilterList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Include => "includeTools",
            Self::Exclude => "excludeTools",
            Self::Strict => "security.strict",
        })
    }
}

#[cfg(test)]
#[path = "tool_filter_tests.rs"]
mod tests;
