//! The seven tools: their offers as one list, and which function answers which name.
//!
//! A tool is a function from the workspace and its arguments to an answer. Those on files run on a thread that may block; only the shell is
//! asynchronous itself.

mod read_file;

mod list_directory;

mod glob;

mod search_file_content;

mod searched_file;

mod write_file;

mod replace;

mod run_shell_command;

mod output_capture;

use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;
use toolgate_wire::RawJson;

use crate::answer::Answer;
use crate::arguments;
use crate::confine::Folders;
use crate::error::{Failure, visible};
use crate::jobs::{Cancel, Jobs};
use crate::limits::SHELL_JOBS_MAX;
use crate::walk::Missed;

/// Every tool as `tools/list` shows it.
pub(crate) const OFFERS: [&str; 7] = [
    read_file::OFFER,
    list_directory::OFFER,
    glob::OFFER,
    search_file_content::OFFER,
    write_file::OFFER,
    replace::OFFER,
    run_shell_command::OFFER,
];

/// What the tools work on.
#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) folders: Folders,
    jobs: Jobs,
    /// Held while a file is changed: two calls that change one file must not lose the work of one.
    changing: Mutex<()>,
    shell_env: Vec<(OsString, OsString)>,
    shells: Arc<Semaphore>,
}

impl Room {
    pub(crate) fn new(folders: Folders, shell_env: Vec<(OsString, OsString)>) -> Self {
        let shells = Arc::new(Semaphore::new(SHELL_JOBS_MAX));
        Self { folders, jobs: Jobs::new(), changing: Mutex::default(), shell_env, shells }
    }

    fn changing(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls a tool. `None` when there is none of that name.
pub(crate) async fn call(room: &Arc<Room>, tool: &str, arguments: &RawJson) -> Option<Result<Answer, Failure>> {
    Some(match tool {
        "read_file" => on_files(room, tool, arguments, read_file::run).await,
        "list_directory" => on_files(room, tool, arguments, list_directory::run).await,
        "glob" => on_files(room, tool, arguments, glob::run).await,
        "search_file_content" => on_files(room, tool, arguments, search_file_content::run).await,
        "write_file" => on_files(room, tool, arguments, write_file::run).await,
        "replace" => on_files(room, tool, arguments, replace::run).await,
        "run_shell_command" => match arguments::read(tool, arguments) {
            Ok(wanted) => run_shell_command::run(room, wanted).await,
            Err(failure) => Err(failure),
        },
        _ => return None,
    })
}

/// A tool on files, on a thread that may block.
async fn on_files<A: DeserializeOwned + Send + 'static>(
    room: &Arc<Room>,
    tool: &str,
    arguments: &RawJson,
    run: fn(&Room, &A, &Cancel) -> Result<Answer, Failure>,
) -> Result<Answer, Failure> {
    let wanted: A = arguments::read(tool, arguments)?;
    let at_work = room.clone();
    room.jobs.run(move |cancel| run(&at_work, &wanted, cancel)).await
}

/// A path of the workspace in a line of text.
fn line_of(path: &Path) -> String {
    visible(&path.to_string_lossy())
}

/// What a walk did not show, as sentences for the end of an answer.
fn told(missed: &Missed) -> Vec<String> {
    let mut notes = Vec::new();
    if missed.ignored > 0 {
        let (count, verb) = counted(missed.ignored, "entry", "entries");
        notes.push(format!("{count} ignored by .gitignore (or .git itself) {verb} left out"));
    }
    if missed.unopened > 0 {
        let (count, verb) = counted(missed.unopened, "folder", "folders");
        notes.push(format!("{count} {verb} too deep or could not be opened"));
    }
    if missed.too_many {
        notes.push("not everything was looked at, there are too many files: name a folder in `path`".to_owned());
    }
    notes
}

/// A number of things, and the verb that follows.
fn counted(number: usize, one: &str, many: &str) -> (String, &'static str) {
    if number == 1 { (format!("1 {one}"), "was") } else { (format!("{number} {many}"), "were") }
}

/// Notes as one block at the end of an answer.
fn bracketed(notes: &[String]) -> String {
    format!("[{}]", notes.join("; "))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::OFFERS;
    use crate::limits::{
        GLOB_FILES_MAX, READ_LINES_COUNT, READ_TEXT_BYTES_MAX, SEARCH_FILE_BYTES_MAX, SEARCH_MATCHES_MAX,
        SHELL_TIMEOUT_MS_DEFAULT, SHELL_TIMEOUT_MS_MAX,
    };

    #[test]
    fn offers_are_complete_and_agree_with_the_limits() {
        for text in OFFERS {
            let offer: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
            for key in ["name", "title", "description"] {
                assert!(offer[key].as_str().is_some_and(|text| !text.is_empty()), "{key}: {text}");
            }
            let schema = &offer["inputSchema"];
            assert_eq!(schema["additionalProperties"], false, "{text}");
            let properties = schema["properties"].as_object().unwrap();
            assert!(properties.values().all(|property| property["description"].is_string()), "{text}");
            for required in schema["required"].as_array().unwrap() {
                assert!(properties.contains_key(required.as_str().unwrap()), "{text}");
            }
            for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
                assert!(offer["annotations"][hint].is_boolean(), "{hint}: {text}");
            }
        }
        let described = |offer: &str, limit: String| assert!(offer.contains(&limit), "{limit} is not in: {offer}");
        described(super::read_file::OFFER, format!("at most {READ_LINES_COUNT} lines"));
        described(super::read_file::OFFER, format!("at most {} KiB", READ_TEXT_BYTES_MAX / 1024));
        described(super::glob::OFFER, format!("at most {GLOB_FILES_MAX}."));
        described(super::search_file_content::OFFER, format!("at most {SEARCH_MATCHES_MAX};"));
        described(super::search_file_content::OFFER, format!("over {} MiB", SEARCH_FILE_BYTES_MAX / 1024 / 1024));
        let shell: Value = serde_json::from_str(super::run_shell_command::OFFER).unwrap();
        let timeout = &shell["inputSchema"]["properties"]["timeout"];
        assert_eq!(timeout["default"], SHELL_TIMEOUT_MS_DEFAULT);
        assert_eq!(timeout["maximum"], SHELL_TIMEOUT_MS_MAX);
    }
}
