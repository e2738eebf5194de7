//! The files that `mcp import` reads: the one that was named, or all that are in the usual places.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use toolgate::HostEnv;
use toolgate::formats::{Format, FormatError, Imported, Note, NoteKind, detect, places, read, references_as_text};
use toolgate::limits::SETTINGS_FILE_BYTES_MAX;
use toolgate::settings::brought::workspace_folder;

use crate::error::{CommandError, Result};
use crate::exit_code::Ending;

/// A file and what is in it.
#[derive(Debug)]
pub(crate) struct Source {
    /// The file.
    pub(crate) path: PathBuf,
    /// What is in it.
    pub(crate) imported: Imported,
    /// Whether the file is in the workspace folder.
    pub(crate) is_of_folder: bool,
}

/// What was found in the usual places.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Files with servers in them.
    pub(crate) sources: Vec<Source>,
    /// Files that cannot be read. The others are taken all the same.
    pub(crate) failures: Vec<CommandError>,
    /// How many files were looked for.
    pub(crate) looked_for: usize,
}

impl Source {
    /// What came with a folder cannot vouch for itself, nor refer to what is the person's own.
    fn without_trust(mut self) -> Self {
        self.is_of_folder = true;
        for server in &mut self.imported.servers {
            // The formats of others know no references of ours; what their readers made of them is meant.
            if self.imported.format == Format::Toolgate {
                references_as_text(&mut server.server);
            }
            if server.server.trust.take().is_some_and(|trust| trust.value) {
                let (key, message) = ("trust".to_owned(), "what a folder brings cannot vouch for itself".to_owned());
                server.notes.push(Note { kind: NoteKind::Lost, key, at: None, message });
            }
        }
        self
    }
}

impl Found {
    /// Takes apart what the workspace folder brings: its files are no more trusted than the folder.
    pub(crate) fn apart(self, env: &HostEnv) -> (Self, Vec<Source>) {
        let (of_folder, sources): (Vec<Source>, Vec<Source>) =
            self.sources.into_iter().partition(|source| is_of_folder(&source.path, env));
        let of_folder = of_folder.into_iter().map(Source::without_trust).collect();
        (Self { sources, ..self }, of_folder)
    }
}

/// Whether a file stands in the workspace folder, and that is not the person's home.
pub(crate) fn is_of_folder(path: &Path, env: &HostEnv) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    workspace_folder(env).is_some() && real(path).starts_with(real(&env.workspace))
}

/// Reads the file that was named.
pub(crate) fn named(path: &Path, format: Option<Format>) -> Result<Source> {
    let text = text_of(path)?.ok_or_else(|| unusable(path, "no such file").hint("check the path"))?;
    let format = format.or_else(|| detect(path, &text)).ok_or_else(|| {
        let names: Vec<&str> = Format::ALL.iter().map(|format| format.as_str()).collect();
        unusable(path, "neither its name nor its content says whose file it is")
            .hint(format!("say so with `--from`, which takes {}", names.join(", ")))
    })?;
    let imported = read(format, &text, path).map_err(|error| unreadable(&error))?;
    Ok(Source { path: path.to_owned(), imported, is_of_folder: false })
}

/// Looks at the usual places of one client, or of all.
pub(crate) fn in_usual_places(env: &HostEnv, format: Option<Format>) -> Found {
    let mut found = Found::default();
    for format in Format::ALL.into_iter().filter(|one| format.is_none_or(|format| format == *one)) {
        for path in places(format, env) {
            found.looked_for += 1;
            let text = match text_of(&path) {
                Ok(Some(text)) => text,
                Ok(None) => continue,
                Err(error) => {
                    found.failures.push(error);
                    continue;
                }
            };
            match read(format, &text, &path) {
                // Most of these files are about other things, too.
                Ok(imported) if has_nothing(&imported) => {}
                Ok(imported) => found.sources.push(Source { path, imported, is_of_folder: false }),
                Err(error) => found.failures.push(unreadable(&error)),
            }
        }
    }
    found
}

fn has_nothing(imported: &Imported) -> bool {
    imported.servers.is_empty() && imported.left_out.is_empty() && imported.restrictions.is_empty()
}

/// The text of a file; `None` when there is none.
pub(crate) fn text_of(path: &Path) -> Result<Option<String>> {
    let cannot = |error: &io::Error| unusable(path, &format!("cannot be read: {error}"));
    match std::fs::metadata(path) {
        Ok(about) if about.is_file() => (),
        Ok(about) if about.is_dir() => return Err(unusable(path, "a folder, not a file")),
        // Opening a pipe could wait for ever.
        Ok(_) => return Err(unusable(path, "not a regular file")),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(cannot(&error)),
    }
    let file = File::open(path).map_err(|error| cannot(&error))?;
    // One byte more than allowed, so that whoever reads it sees that it is too much.
    let most = u64::try_from(SETTINGS_FILE_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).map_err(|error| cannot(&error))?;
    String::from_utf8(bytes).map(Some).map_err(|_| unusable(path, "not UTF-8 text").hint("save it as UTF-8"))
}

fn unusable(path: &Path, what: &str) -> CommandError {
    CommandError::new(Ending::Usage, "import", format!("{}: {what}", path.display()))
}

fn unreadable(error: &FormatError) -> CommandError {
    let failure = CommandError::new(Ending::Usage, "import", error.to_string());
    let failure = match error.excerpt() {
        Some(excerpt) => failure.detail(excerpt),
        None => failure,
    };
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
