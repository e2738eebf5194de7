//! Keys that the reader keeps as they are written, for stages that come later: found by their path in one layer, and what they come to over all.

use crate::settings::load::Settings;
use crate::settings::position::{Located, Position};
use crate::settings::raw::{RawMember, RawValue};
use crate::settings::source::{SettingsLayer, SettingsOrigin};

/// One entry of a list, and where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedEntry {
    /// As it is written.
    pub text: String,
    /// Where.
    pub origin: SettingsOrigin,
    /// Whether a workspace folder wrote it, which can restrict and not permit.
    pub is_of_workspace: bool,
}

impl SettingsLayer {
    /// What stands under a key such as `tools.allowed`.
    pub(crate) fn kept(&self, path: &str) -> Option<&Located<RawValue>> {
        let (section, rest) = path.split_once('.').unwrap_or((path, ""));
        let (members, mut names) = match section {
            "mcp" => (&self.settings.mcp.others, rest.split('.')),
            "tools" => (&self.settings.tools.others, rest.split('.')),
            "security" => (&self.settings.security.others, rest.split('.')),
            _ => (&self.settings.others, path.split('.')),
        };
        let mut found = member(members, names.next()?)?;
        for name in names {
            let RawValue::Object(members) = &found.value else { return None };
            found = member(members, name)?;
        }
        Some(found)
    }

    /// The entries of a list. What is no list, or no text in it, has been complained about.
    pub(crate) fn entries(&self, path: &str) -> Option<Vec<ListedEntry>> {
        let list = self.kept(path)?;
        let entry = |text: &str, at: Position| ListedEntry {
            text: text.to_owned(),
            origin: self.origin(at.line),
            is_of_workspace: self.is_of_workspace(),
        };
        Some(match &list.value {
            RawValue::Text(one) => vec![entry(one, list.at)],
            RawValue::List(list) => list.iter().filter_map(|one| Some(entry(text(&one.value)?, one.at))).collect(),
            _ => Vec::new(),
        })
    }
}

impl Settings {
    /// A list that permits something: that of the highest layer that has one. A workspace folder has no say in it.
    pub(crate) fn permitting_list(&self, path: &str) -> Vec<ListedEntry> {
        let mut lists = self.layers.iter().filter(|layer| !layer.is_of_workspace()).filter_map(|layer| {
            let entries = layer.entries(path)?;
            Some((layer.source, entries))
        });
        let first = lists.next();
        let highest = first.map(|first| lists.fold(first, |held, one| if one.0 >= held.0 { one } else { held }));
        highest.map(|(_, entries)| entries).unwrap_or_default()
    }

    /// A list that restricts something: the same, and what the workspace folder adds to it.
    pub(crate) fn restricting_list(&self, path: &str) -> Vec<ListedEntry> {
        let mut entries = self.permitting_list(path);
        let of_workspace = self.layers.iter().filter(|layer| layer.is_of_workspace());
        entries.extend(of_workspace.filter_map(|layer| layer.entries(path)).flatten());
        entries
    }

    /// Where a workspace folder wrote a key in which it has no say.
    pub(crate) fn unheard(&self, path: &str) -> Option<SettingsOrigin> {
        let of_workspace = self.layers.iter().filter(|layer| layer.is_of_workspace());
        of_workspace.filter_map(|layer| Some(layer.origin(layer.kept(path)?.at.line))).next()
    }

    /// A switch that permits something. A workspace folder has no say in it.
    pub(crate) fn permitting_switch(&self, path: &str) -> bool {
        let others = self.layers.iter().filter(|layer| !layer.is_of_workspace());
        let written = others.filter_map(|layer| Some((layer.source, is_on(layer.kept(path)?))));
        written.max_by_key(|(source, _)| *source).is_some_and(|(_, on)| on)
    }

    /// A switch that restricts something. A workspace folder can turn it on.
    pub(crate) fn restricting_switch(&self, path: &str) -> bool {
        let of_workspace = self.layers.iter().filter(|layer| layer.is_of_workspace());
        let mut of_workspace = of_workspace.filter_map(|layer| layer.kept(path));
        self.permitting_switch(path) || of_workspace.any(is_on)
    }

    /// The place where such a switch is turned on; `None` while it is off.
    pub(crate) fn origin_of_restriction(&self, path: &str) -> Option<SettingsOrigin> {
        let counts = |layer: &&SettingsLayer| layer.is_of_workspace() || self.permitting_switch(path);
        let written = self.layers.iter().filter(counts).filter_map(|layer| Some((layer, layer.kept(path)?)));
        let on = written.filter(|(_, value)| is_on(value)).max_by_key(|(layer, _)| layer.source);
        on.map(|(layer, value)| layer.origin(value.at.line))
    }

    /// A word, of the highest layer that has it. A workspace folder has no say in it.
    #[must_use]
    pub fn word(&self, path: &str) -> Option<&str> {
        let others = self.layers.iter().filter(|layer| !layer.is_of_workspace());
        let written = others.filter_map(|layer| Some((layer.source, text(&layer.kept(path)?.value)?)));
        written.max_by_key(|(source, _)| *source).map(|(_, word)| word)
    }

    /// A number, of the highest layer that has it. A workspace folder has no say in it.
    #[must_use]
    pub fn number(&self, path: &str) -> Option<f64> {
        let others = self.layers.iter().filter(|layer| !layer.is_of_workspace());
        let written = others.filter_map(|layer| Some((layer.source, number(&layer.kept(path)?.value)?)));
        written.max_by_key(|(source, _)| *source).map(|(_, number)| number)
    }
}

fn member<'m>(members: &'m [RawMember], name: &str) -> Option<&'m Located<RawValue>> {
    members.iter().find(|member| member.key.value == name).map(|member| &member.value)
}

fn is_on(value: &Located<RawValue>) -> bool {
    matches!(value.value, RawValue::Bool(true))
}

fn number(value: &RawValue) -> Option<f64> {
    match value {
        RawValue::Number(number) => number.parse().ok(),
        _ => None,
    }
}

fn text(value: &RawValue) -> Option<&str> {
    match value {
        RawValue::Text(text) => Some(text),
        _ => None,
    }
}
