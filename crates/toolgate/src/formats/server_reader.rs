//! Reads one entry of another client: values of the kinds that keys want, texts in our language, and a note for whatever does not fit.

use crate::formats::dialect::{Dialect, Spot};
use crate::formats::entry::{Reach, reach};
use crate::formats::found::{Note, NoteKind, Notes};
use crate::formats::members::{kind, members, text_of};
use crate::server_name::ServerName;
use crate::settings::diagnostic::{KeyPath, visible};
use crate::settings::raw::{RawList, RawMap, RawMember, RawPair, RawServer, RawValue, TransportType};
use crate::settings::{Located, Position};

/// Why an entry cannot be used.
#[derive(Debug)]
pub(crate) struct Unusable {
    pub(crate) reason: String,
    pub(crate) is_broken: bool,
}

impl Unusable {
    /// Only its own client can use it.
    pub(crate) fn foreign(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_broken: false }
    }

    /// Nobody can.
    pub(crate) fn broken(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_broken: true }
    }
}

/// A server while its entry is being read.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) server: RawServer,
    pub(crate) is_disabled: bool,
}

/// Reads the values of one entry.
#[derive(Debug)]
pub(crate) struct ServerReader<'a> {
    key: KeyPath<'a>,
    dialect: Dialect,
    notes: Notes,
    names_workspace: bool,
}

impl<'a> ServerReader<'a> {
    /// For the entry at that key.
    pub(crate) fn new(key: KeyPath<'a>, dialect: Dialect) -> Self {
        Self { key, dialect, notes: Notes::default(), names_workspace: false }
    }

    /// Reads the entry. `read` says what its keys mean.
    pub(crate) fn entry(
        mut self,
        entry: &RawMember,
        read: impl Fn(&mut Self, &[&RawMember]) -> Result<Draft, Unusable>,
    ) -> Result<(Draft, Vec<Note>), Unusable> {
        if let Err(error) = ServerName::new(&entry.key.value) {
            return Err(Unusable::broken(error.to_string()));
        }
        let fields = members(&entry.value, Some(&self.key), &mut self.notes).ok_or_else(|| {
            Unusable::broken(format!("{}: expected an object, found {}", self.key, kind(&entry.value.value)))
        })?;
        let mut draft = read(&mut self, &fields)?;
        self.settle(&mut draft.server)?;
        Ok((draft, self.notes.finish()))
    }

    /// A text in which something may stand for something else.
    pub(crate) fn text(&mut self, field: &RawMember, spot: Spot) -> Result<Option<Located<String>>, Unusable> {
        let text = self.name(field)?;
        Ok(text.map(|text| text.map(|text| self.ours(&text, &field.key.value, field.key.at, spot))))
    }

    /// A text that is taken as it is.
    pub(crate) fn name(&mut self, field: &RawMember) -> Result<Option<Located<String>>, Unusable> {
        let at = field.value.at;
        match &field.value.value {
            RawValue::Text(text) => Ok(Some(Located { value: text.clone(), at })),
            RawValue::Null => Ok(None),
            _ => Err(self.wrong(field, "a string")),
        }
    }

    /// A list of texts.
    pub(crate) fn texts(&mut self, field: &RawMember) -> Result<Option<RawList>, Unusable> {
        let Some(list) = self.names(field)? else { return Ok(None) };
        let key = field.key.value.clone();
        Ok(Some(list.map(|list| {
            let ours = |text: Located<String>| {
                let at = text.at;
                text.map(|text| self.ours(&text, &key, at, Spot::Process))
            };
            list.into_iter().map(ours).collect()
        })))
    }

    /// A list of texts that are taken as they are.
    pub(crate) fn names(&mut self, field: &RawMember) -> Result<Option<RawList>, Unusable> {
        let at = field.value.at;
        match &field.value.value {
            RawValue::List(list) => {
                let texts = list.iter().map(|one| text_of(one).ok_or_else(|| self.wrong(field, "a list of strings")));
                Ok(Some(Located { value: texts.collect::<Result<_, _>>()?, at }))
            }
            RawValue::Null => Ok(None),
            _ => Err(self.wrong(field, "a list of strings")),
        }
    }

    /// An object of texts in which something may stand for something else.
    pub(crate) fn pairs(&mut self, field: &RawMember, spot: Spot) -> Result<Option<RawMap>, Unusable> {
        let Some(map) = self.plain_pairs(field)? else { return Ok(None) };
        Ok(Some(map.map(|pairs| {
            let ours = |pair: RawPair| {
                let key = format!("{}.{}", field.key.value, pair.name.value);
                let at = pair.name.at;
                RawPair { value: pair.value.map(|text| self.ours(&text, &key, at, spot)), name: pair.name }
            };
            pairs.into_iter().map(ours).collect()
        })))
    }

    /// An object of texts that are taken as they are.
    pub(crate) fn plain_pairs(&mut self, field: &RawMember) -> Result<Option<RawMap>, Unusable> {
        let at = field.value.at;
        if matches!(field.value.value, RawValue::Null) {
            return Ok(None);
        }
        let key = self.key.key(&field.key.value);
        let Some(entries) = members(&field.value, Some(&key), &mut self.notes) else {
            return Err(self.wrong(field, "an object of strings"));
        };
        let mut pairs = Vec::with_capacity(entries.len());
        for entry in entries {
            if matches!(entry.value.value, RawValue::Null) {
                let message = "it is taken away there, which cannot be done here";
                self.notes.add(NoteKind::Lost, key.key(&entry.key.value), entry.key.at, message);
                continue;
            }
            let value = text_of(&entry.value).ok_or_else(|| self.wrong(field, "an object of strings"))?;
            pairs.push(RawPair { name: entry.key.clone(), value });
        }
        Ok(Some(Located { value: pairs, at }))
    }

    /// A number, times `factor`.
    pub(crate) fn number(&mut self, field: &RawMember, factor: f64) -> Result<Option<Located<f64>>, Unusable> {
        let number = match &field.value.value {
            RawValue::Number(number) => number.parse::<f64>().ok().filter(|number| number.is_finite()),
            RawValue::Null => return Ok(None),
            _ => None,
        };
        let number = number.ok_or_else(|| self.wrong(field, "a number"))?;
        Ok(Some(Located { value: number * factor, at: field.value.at }))
    }

    /// `true` or `false`.
    pub(crate) fn truth(&mut self, field: &RawMember) -> Result<Option<bool>, Unusable> {
        match field.value.value {
            RawValue::Bool(truth) => Ok(Some(truth)),
            RawValue::Null => Ok(None),
            _ => Err(self.wrong(field, "true or false")),
        }
    }

    /// The members of an object below a key.
    pub(crate) fn inside<'v>(&mut self, field: &'v RawMember) -> Result<Vec<&'v RawMember>, Unusable> {
        let key = self.key.key(&field.key.value);
        members(&field.value, Some(&key), &mut self.notes).ok_or_else(|| self.wrong(field, "an object"))
    }

    /// Something that has no counterpart here.
    pub(crate) fn lost(&mut self, field: &RawMember, message: &str) {
        self.notes.add(NoteKind::Lost, self.key.key(&field.key.value), field.key.at, message);
    }

    /// Something to look at.
    pub(crate) fn changed(&mut self, key: &str, at: Position, message: impl Into<String>) {
        self.notes.add(NoteKind::Changed, self.key.key(key), at, message);
    }

    /// A key nobody has heard of.
    pub(crate) fn unknown(&mut self, field: &RawMember) {
        self.lost(field, "not known here");
    }

    pub(crate) fn wrong(&self, field: &RawMember, expected: &str) -> Unusable {
        let key = self.key.key(&field.key.value);
        let Position { line, column } = field.value.at;
        Unusable::broken(format!("{line}:{column}: {key}: expected {expected}, found {}", kind(&field.value.value)))
    }

    /// A text of theirs in our language.
    pub(crate) fn ours(&mut self, text: &str, key: &str, at: Position, spot: Spot) -> String {
        let ours = self.dialect.theirs_as_ours(text, spot);
        self.names_workspace |= ours.names_workspace;
        for remark in ours.remarks {
            let key = format!("{}.{key}", self.key);
            self.notes.push(Note { kind: remark.kind, key, at: Some(at), message: remark.message });
        }
        ours.text
    }

    /// The keys that `command`, `args`, `env`, `url`, `headers` and `type` are in most clients. Whether it was one of them.
    pub(crate) fn usual_field(&mut self, draft: &mut Draft, field: &RawMember) -> Result<bool, Unusable> {
        let server = &mut draft.server;
        match field.key.value.as_str() {
            "command" => server.command = self.text(field, Spot::Process)?,
            "args" => server.args = self.texts(field)?,
            "env" => server.env = self.pairs(field, Spot::Process)?,
            "cwd" => server.cwd = self.text(field, Spot::Process)?,
            "url" => server.url = self.text(field, Spot::Request)?,
            "headers" => server.headers = self.pairs(field, Spot::Request)?,
            "type" => server.transport_type = self.transport_type(field)?,
            "description" => server.description = self.name(field)?,
            "disabled" => draft.is_disabled = self.truth(field)?.unwrap_or(false),
            "enabled" => draft.is_disabled = !self.truth(field)?.unwrap_or(true),
            "envFile" => self.lost(field, "write the variables of that file into `env`"),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn transport_type(&mut self, field: &RawMember) -> Result<Option<Located<TransportType>>, Unusable> {
        let Some(word) = self.name(field)? else { return Ok(None) };
        let value = match word.value.as_str() {
            "stdio" => TransportType::Stdio,
            "http" | "streamable-http" | "streamableHttp" | "streamable_http" => TransportType::Http,
            "sse" => TransportType::Sse,
            other => {
                return Err(Unusable::foreign(format!(
                    "connects over `{}`, which cannot be used here",
                    visible(other)
                )));
            }
        };
        Ok(Some(Located { value, at: word.at }))
    }

    /// Makes sure that it is clear how the server is reached.
    fn settle(&mut self, server: &mut RawServer) -> Result<(), Unusable> {
        let kind = server.transport_type.map(|one| one.value);
        if server.command.is_some() && server.url.is_some() {
            // Here an address beats a command, there it does when `type` says so.
            let loser =
                if matches!(kind, None | Some(TransportType::Stdio)) { &mut server.url } else { &mut server.command };
            let key = if kind.is_some_and(|kind| kind != TransportType::Stdio) { "command" } else { "url" };
            if let Some(loser) = loser.take() {
                self.notes.add(NoteKind::Lost, self.key.key(key), loser.at, "the other of `command` and `url` counts");
            }
        }
        if server.url.is_none() || kind == Some(TransportType::Stdio) {
            server.transport_type = None;
        }
        match reach(server) {
            Reach::Nothing => Err(Unusable::broken("neither a command nor a URL")),
            Reach::Url(url, _) if url.value.starts_with("unix:") || url.value.starts_with("pipe:") => {
                Err(Unusable::foreign("a socket or pipe of this machine cannot be used as an address here"))
            }
            Reach::Url(..) => Ok(()),
            Reach::Command(_) => {
                let elsewhere = server.cwd.as_ref().filter(|cwd| self.names_workspace && cwd.value != ".");
                if let Some(cwd) = elsewhere {
                    let message = "`.` now means this folder; write the whole path of the workspace folder instead";
                    self.notes.add(NoteKind::Lost, self.key.key("cwd"), cwd.at, message);
                }
                Ok(())
            }
        }
    }
}
