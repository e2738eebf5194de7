//! `AlertRules`: the limits of `audit.alerts`, from the settings of the person and the administrator. A folder cannot set any.

use crate::glob::glob;
use crate::limits::{ALERT_RULES_MAX, ALERT_TIMES_MAX};
use crate::servers::built_in_tools::possible_real_name;
use crate::settings::raw::{RawMember, RawValue};
use crate::settings::{Located, Settings, SettingsLayer};
use crate::shown_name::{folded, spellings, spellings_with_server};

/// All limits of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlertRules {
    pub(super) rules: Vec<AlertRule>,
    /// Invalid entries, each with file and line.
    pub problems: Vec<String>,
}

/// One limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AlertRule {
    pub(super) name: String,
    server: Option<String>,
    tool: Option<String>,
    pub(super) per: Per,
    pub(super) limit: Limit,
    pub(super) sinks: Sinks,
}

/// The grouping of calls that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Per {
    Server,
    Tool,
    All,
}

/// A measure and its highest value without an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    CallsPerMinute(u64),
    DenialsPerMinute(u64),
    ErrorPercent(u64),
    ResultBytes(u64),
    LatencyMs(u64),
    /// The allowed minutes of the day (first and last), and the offset from UTC in minutes.
    Hours {
        from: u64,
        until: u64,
        ahead: i64,
    },
    NewToolAfterDays(u64),
}

/// The outputs of an alert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sinks {
    pub(super) line: bool,
    pub(super) flag: bool,
    pub(super) command: Option<String>,
}

impl Limit {
    /// The settings key.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::CallsPerMinute(_) => "callsPerMinute",
            Self::DenialsPerMinute(_) => "denialsPerMinute",
            Self::ErrorPercent(_) => "errorPercent",
            Self::ResultBytes(_) => "resultBytes",
            Self::LatencyMs(_) => "latencyMs",
            Self::Hours { .. } => "hours",
            Self::NewToolAfterDays(_) => "newToolAfterDays",
        }
    }

    /// Whether the limit counts calls over time.
    pub(super) const fn is_counted(self) -> bool {
        matches!(self, Self::CallsPerMinute(_) | Self::DenialsPerMinute(_) | Self::ErrorPercent(_))
    }

    /// The reason that no call can ever pass it.
    fn why_never(self) -> Option<String> {
        match self {
            Self::CallsPerMinute(most) | Self::DenialsPerMinute(most) if most >= ALERT_TIMES_MAX as u64 => {
                Some(format!("at most {ALERT_TIMES_MAX} calls within a minute are counted"))
            }
            Self::ErrorPercent(100) => Some("no more than 100 % of the calls can fail".to_owned()),
            _ => None,
        }
    }

    fn of(key: &str, value: &RawValue) -> Option<Self> {
        let number = || match value {
            RawValue::Number(number) => number.parse::<u64>().ok(),
            _ => None,
        };
        Some(match key {
            "callsPerMinute" => Self::CallsPerMinute(number()?),
            "denialsPerMinute" => Self::DenialsPerMinute(number()?),
            "errorPercent" => Self::ErrorPercent(number().filter(|percent| *percent <= 100)?),
            "resultBytes" => Self::ResultBytes(number()?),
            "latencyMs" => Self::LatencyMs(number()?),
            "newToolAfterDays" => Self::NewToolAfterDays(number()?),
            "hours" => match value {
                RawValue::Text(text) => hours(text)?,
                _ => return None,
            },
            _ => return None,
        })
    }
}

/// Parses `08:00-18:00` (UTC) or `08:00-18:00+02:00`.
fn hours(text: &str) -> Option<Limit> {
    let (from, rest) = text.trim().split_once('-')?;
    let (until, ahead) = match rest.find(['+', '-']) {
        Some(at) => {
            let (until, offset) = rest.split_at_checked(at)?;
            let sign = if offset.starts_with('-') { -1 } else { 1 };
            (until, sign * i64::try_from(minutes(offset.get(1..)?)?).ok()?)
        }
        None => (rest, 0),
    };
    Some(Limit::Hours { from: minutes(from)?, until: minutes(until)?, ahead })
}

/// Parses `18:30` into minutes of the day.
fn minutes(text: &str) -> Option<u64> {
    let (hours, minutes) = text.trim().split_once(':').unwrap_or((text.trim(), "0"));
    let (hours, minutes): (u64, u64) = (hours.parse().ok()?, minutes.parse().ok()?);
    let is_time = minutes < 60 && (hours < 24 || (hours, minutes) == (24, 0));
    is_time.then_some(hours * 60 + minutes)
}

impl AlertRules {
    /// Reads the limits of every layer except folders. The person cannot switch off the administrator's limits.
    #[must_use]
    pub fn of(settings: &Settings) -> Self {
        let mut all = Self::default();
        for layer in settings.layers.iter().filter(|layer| !layer.is_of_workspace()) {
            let Some(written) = layer.kept("audit.alerts") else { continue };
            let command = match layer.kept("audit.onAlert").map(|command| &command.value) {
                Some(RawValue::Text(command)) if !command.trim().is_empty() => Some(command.clone()),
                _ => None,
            };
            match &written.value {
                RawValue::List(entries) => entries.iter().for_each(|entry| all.add(layer, entry, command.as_ref())),
                RawValue::Null => {}
                _ => all.problem(layer, written.at.line, "expected a list of limits"),
            }
        }
        all
    }

    /// Whether there are no limits.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Number of valid limits.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rules.len()
    }

    fn problem(&mut self, layer: &SettingsLayer, line: usize, what: &str) {
        self.problems.push(format!("{}: audit.alerts: {what}", layer.origin(line)));
    }

    fn add(&mut self, layer: &SettingsLayer, entry: &Located<RawValue>, command: Option<&String>) {
        let line = entry.at.line;
        let RawValue::Object(members) = &entry.value else {
            return self.problem(layer, line, "expected an object such as {\"callsPerMinute\": 60}");
        };
        let mut base = AlertRule {
            name: String::new(),
            server: None,
            tool: None,
            per: Per::Server,
            limit: Limit::CallsPerMinute(0),
            sinks: Sinks { line: true, flag: true, command: command.cloned() },
        };
        let mut limits = Vec::new();
        let before = self.problems.len();
        for member in members {
            if let Some(limit) = Limit::of(key_of(member), &member.value.value) {
                if let Some(why) = limit.why_never() {
                    let what = format!("no call can pass this `{}`: {why}", key_of(member));
                    self.problem(layer, member.value.at.line, &what);
                }
                limits.push(limit);
            } else if !base.take(key_of(member), &member.value.value) {
                self.problem(layer, member.value.at.line, &wrong_member(key_of(member)));
            }
        }
        if limits.is_empty() && self.problems.len() == before {
            self.problem(layer, line, "no limit is set, such as `callsPerMinute`");
        }
        for limit in limits {
            if self.rules.len() >= ALERT_RULES_MAX {
                return self.problem(layer, line, "too many limits; this one is ignored");
            }
            let name = if base.name.is_empty() { limit.as_str().to_owned() } else { base.name.clone() };
            self.rules.push(AlertRule { name, limit, ..base.clone() });
        }
    }
}

/// The values of each key, in words.
const KEYS: [(&str, &str); 13] = [
    ("callsPerMinute", "a whole number"),
    ("denialsPerMinute", "a whole number"),
    ("errorPercent", "a whole number up to 100"),
    ("resultBytes", "a whole number"),
    ("latencyMs", "a whole number of milliseconds"),
    ("newToolAfterDays", "a whole number of days"),
    ("hours", "a text such as \"08:00-18:00\" or \"08:00-18:00+01:00\""),
    ("name", "a text"),
    ("server", "a text"),
    ("tool", "a text"),
    ("per", "\"server\", \"tool\" or \"all\""),
    ("line", "true or false"),
    ("flag", "true or false"),
];

/// The reason why a member of a limit cannot be used.
fn wrong_member(key: &str) -> String {
    if let Some((_, values)) = KEYS.iter().find(|(known, _)| *known == key) {
        return format!("`{key}` takes {values}");
    }
    if key == "command" {
        return "`command` takes true or false; the command itself is `audit.onAlert`".to_owned();
    }
    let distances = KEYS.iter().map(|(known, _)| (strsim::damerau_levenshtein(key, known), *known));
    match distances.min().filter(|(distance, _)| *distance <= key.len() / 3) {
        Some((_, nearest)) => format!("unknown key `{key}`; did you mean `{nearest}`?"),
        None => format!("unknown key `{key}`"),
    }
}

fn key_of(member: &RawMember) -> &str {
    &member.key.value
}

impl AlertRule {
    /// Reads a member that is not a limit. `false` when it is unknown or invalid.
    fn take(&mut self, key: &str, value: &RawValue) -> bool {
        match (key, value) {
            ("name", RawValue::Text(text)) => text.clone_into(&mut self.name),
            ("server", RawValue::Text(text)) => self.server = Some(text.clone()),
            ("tool", RawValue::Text(text)) => self.tool = Some(text.clone()),
            ("line", RawValue::Bool(wanted)) => self.sinks.line = *wanted,
            ("flag", RawValue::Bool(wanted)) => self.sinks.flag = *wanted,
            ("command", RawValue::Bool(false)) => self.sinks.command = None,
            ("command", RawValue::Bool(true)) => {}
            ("per", RawValue::Text(text)) => match text.as_str() {
                "server" => self.per = Per::Server,
                "tool" => self.per = Per::Tool,
                "all" => self.per = Per::All,
                _ => return false,
            },
            _ => return false,
        }
        true
    }

    /// Whether the limit covers a tool.
    pub(super) fn is_about(&self, server: &str, tool: &str) -> bool {
        let fits = |pattern: &str, names: &[String]| {
            let pattern = folded(pattern);
            names.iter().any(|name| glob(&pattern, name))
        };
        // As in a restriction, every name counts.
        let is_other_name = |pattern: &str| possible_real_name(pattern).is_some_and(|own| own == tool);
        let is_tool = |pattern: &str| {
            fits(pattern, &spellings(tool))
                || fits(pattern, &spellings_with_server(server, tool))
                || is_other_name(pattern)
        };
        self.server.as_deref().is_none_or(|pattern| fits(pattern, &spellings(server)))
            && self.tool.as_deref().is_none_or(is_tool)
    }
}
