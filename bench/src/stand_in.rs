//! A fast MCP server over pipes, to have many of: any number of tools in pages of any size, or one that never answers.
//!
//! It offers what a common server does (tools, a prompt, no resources), so that a host has all its usual questions to ask.

use std::io::{BufRead, BufReader, Write};

use serde::Deserialize;

use crate::Outcome;
use crate::floor_stdio::{Asked, answer};

/// What the server offers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StandIn {
    /// `echo`, `tool_1`, `tool_2` and so on.
    pub(crate) tools: usize,
    /// Tools in one page; all of them when 0.
    pub(crate) page: usize,
    pub(crate) answers: Answers,
    /// After so many calls it says that its tools have changed; never when 0.
    pub(crate) changes_every: usize,
}

/// Whether the server says anything at all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Answers {
    AtOnce,
    /// It reads and never answers.
    Never,
}

/// What it says when its tools have changed.
const CHANGED: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n";

/// Serves what the words say on stdin and stdout until stdin ends.
pub(crate) fn serve(words: &[&str]) -> Outcome {
    StandIn::from_words(words)?.serve()
}

/// Where stand-ins note that they were started, in a folder that is named to them. A file that is named to a server and changes makes it
/// another server.
pub(crate) const STARTS_FILE: &str = "starts";

/// Adds this process to the file of all that were started.
pub(crate) fn note_start(folder: &str) -> Outcome {
    let file = std::path::Path::new(folder).join(STARTS_FILE);
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file)?;
    Ok(file.write_all(format!("{}\n", std::process::id()).as_bytes())?)
}

#[derive(Deserialize)]
struct ListParams<'a> {
    #[serde(borrow, default)]
    cursor: Option<&'a str>,
}

impl Default for StandIn {
    fn default() -> Self {
        Self { tools: 10, page: 0, answers: Answers::AtOnce, changes_every: 0 }
    }
}

impl StandIn {
    /// Reads `[--tools N] [--page N] [--hang] [--changes-every N]`.
    pub(crate) fn from_words(words: &[&str]) -> Outcome<Self> {
        let mut stand_in = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut number = || words.next().ok_or_else(|| format!("`{word}` needs a number"));
            match *word {
                "--tools" => stand_in.tools = number()?.parse()?,
                "--page" => stand_in.page = number()?.parse()?,
                "--changes-every" => stand_in.changes_every = number()?.parse()?,
                "--hang" => stand_in.answers = Answers::Never,
                other => return Err(format!("a stand-in has no option `{other}`").into()),
            }
        }
        Ok(stand_in)
    }

    /// The words that [`Self::from_words`] reads.
    pub(crate) fn words(self) -> Vec<String> {
        let mut words = vec!["--tools".to_owned(), self.tools.to_string(), "--page".to_owned(), self.page.to_string()];
        if self.changes_every > 0 {
            words.extend(["--changes-every".to_owned(), self.changes_every.to_string()]);
        }
        words.extend((self.answers == Answers::Never).then(|| "--hang".to_owned()));
        words
    }

    /// Serves on stdin and stdout until stdin ends.
    fn serve(self) -> Outcome {
        let mut input = BufReader::new(std::io::stdin().lock());
        let mut output = std::io::stdout().lock();
        let (mut line, mut out) = (Vec::new(), Vec::new());
        let mut answered = 0_usize;
        loop {
            line.clear();
            if input.read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            if self.answers == Answers::Never {
                continue;
            }
            out.clear();
            if self.answer(&line, &mut out) {
                out.push(b'\n');
                answered += 1;
                if self.changes_every > 0 && answered.is_multiple_of(self.changes_every) {
                    out.extend_from_slice(CHANGED.as_bytes());
                }
                output.write_all(&out)?;
                output.flush()?;
            }
        }
    }

    fn answer(self, line: &[u8], out: &mut Vec<u8>) -> bool {
        let Ok(asked) = serde_json::from_slice::<Asked<'_>>(line) else { return false };
        let (Some(id), Some(method)) = (asked.id, asked.method) else { return false };
        let result = match method {
            "initialize" => format!(
                concat!(
                    r#"{{"protocolVersion":"2025-11-25","serverInfo":{{"name":"stand-in","version":"1"}},"#,
                    r#""capabilities":{{"tools":{{"listChanged":{}}},"prompts":{{}},"resources":{{}}}}}}"#
                ),
                self.changes_every > 0
            ),
            "ping" => "{}".to_owned(),
            "tools/list" => {
                let params = asked.params.and_then(|params| serde_json::from_str::<ListParams<'_>>(params.get()).ok());
                let cursor = params.and_then(|params| params.cursor).and_then(|cursor| cursor.parse().ok());
                self.page_from(cursor.unwrap_or(0))
            }
            "prompts/list" => r#"{"prompts":[{"name":"hello","description":"says hello"}]}"#.to_owned(),
            "resources/list" => r#"{"resources":[]}"#.to_owned(),
            "resources/templates/list" => r#"{"resourceTemplates":[]}"#.to_owned(),
            _ => return answer(line, out),
        };
        out.extend_from_slice(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.get()).as_bytes());
        true
    }

    /// One page of the list, with the cursor of the next.
    fn page_from(self, first: usize) -> String {
        let size = if self.page == 0 { self.tools } else { self.page };
        let end = first.saturating_add(size).min(self.tools);
        let tools: Vec<String> = (first..end).map(tool).collect();
        let next = if end < self.tools { format!(r#","nextCursor":"{end}""#) } else { String::new() };
        format!(r#"{{"tools":[{}]{next}}}"#, tools.join(","))
    }
}

/// One tool, of the size that tools usually have.
fn tool(number: usize) -> String {
    let name = if number == 0 { "echo".to_owned() } else { format!("tool_{number}") };
    format!(
        concat!(
            r#"{{"name":"{}","description":"Gives the message back, as number {} of those that do.","inputSchema":{{"type":"object","#,
            r#""properties":{{"message":{{"type":"string","description":"what to give back"}},"#,
            r#""times":{{"type":"integer","minimum":1,"default":1}}}},"required":["message"]}}}}"#
        ),
        name, number
    )
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{Answers, StandIn};

    fn ask(stand_in: StandIn, message: &str) -> Value {
        let mut out = Vec::new();
        assert!(stand_in.answer(message.as_bytes(), &mut out), "{message} is answered");
        serde_json::from_slice(&out).expect("an answer is JSON")
    }

    #[test]
    fn pages_hold_every_tool_once() {
        let stand_in = StandIn { tools: 25, page: 10, ..StandIn::default() };
        let mut names = Vec::new();
        let mut params = "{}".to_owned();
        loop {
            let answer =
                ask(stand_in, &format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{params}}}"#));
            assert_eq!(answer["id"], 7);
            let tools = answer["result"]["tools"].as_array().expect("tools");
            names.extend(tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()));
            let Some(cursor) = answer["result"]["nextCursor"].as_str() else { break };
            params = format!(r#"{{"cursor":"{cursor}"}}"#);
        }
        let expected: Vec<String> =
            std::iter::once("echo".to_owned()).chain((1..25).map(|n| format!("tool_{n}"))).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn calls_are_echoed_and_the_unknown_is_refused() {
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hello"}}}"#;
        assert_eq!(ask(StandIn::default(), call)["result"]["content"][0]["text"], "hello");
        let unknown = r#"{"jsonrpc":"2.0","id":"x","method":"server/discover","params":{}}"#;
        assert_eq!(ask(StandIn::default(), unknown)["error"]["code"], -32601);
    }

    #[test]
    fn options_are_read_as_they_are_written() {
        let stand_in = StandIn { tools: 100_000, page: 1000, answers: Answers::Never, changes_every: 7 };
        let words = stand_in.words();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_eq!(StandIn::from_words(&words).expect("options"), stand_in);
        assert!(StandIn::from_words(&["--tools"]).is_err() && StandIn::from_words(&["--nope"]).is_err());
    }
}
