//! `write_file`: a whole file, in one step.

use serde::Deserialize;

use super::Room;
use crate::answer::Answer;
use crate::confine::Missing;
use crate::error::{Failure, shown};
use crate::jobs::Cancel;
use crate::limits::WRITE_BYTES_MAX;
use crate::rewrite::{Written, rewrite};

pub(super) const OFFER: &str = r#"{
"name":"write_file","title":"Write a file",
"description":"Writes a whole file of the workspace, with exactly this content; what was in it before is lost. Folders that do not exist are made. The file is replaced in one step, so nobody sees half of it. To change a part of a file use `replace`.",
"inputSchema":{"type":"object","properties":{
"path":{"type":"string","description":"The file, relative to the workspace folder, or absolute inside it or an included folder"},
"content":{"type":"string","description":"All that the file shall contain"}
},"required":["path","content"],"additionalProperties":false},
"annotations":{"title":"Write a file","readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,"openWorldHint":false}}"#;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    path: String,
    content: String,
}

pub(super) fn run(room: &Room, wanted: &Wanted, cancel: &Cancel) -> Result<Answer, Failure> {
    let path = room.folders.path("path", &wanted.path)?;
    let size = wanted.content.len();
    check_size(size)?;
    let _alone = room.changing();
    cancel.check()?;
    let spot = room.folders.spot(&path, Missing::Make)?;
    let written = rewrite(&spot, wanted.content.as_bytes());
    let written = written.map_err(|error| Failure::system("write", path.text(), &error))?;
    let path = shown(path.text());
    Ok(Answer::text(match written {
        Written::New => format!("`{path}` was made, with {size} bytes."),
        Written::Replaced => format!("`{path}` was replaced, it has {size} bytes now."),
    }))
}

/// Refuses what is too large to be written.
pub(super) fn check_size(size: usize) -> Result<(), Failure> {
    if size > WRITE_BYTES_MAX {
        return Err(Failure::new(format!(
            "the file would have {size} bytes, more than can be written at once (limit WRITE_BYTES_MAX = {WRITE_BYTES_MAX}); write it in parts with `run_shell_command`"
        )));
    }
    Ok(())
}
