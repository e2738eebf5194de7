//! `ResultStore`: the folder of kept results. The same content is kept once, whoever keeps it; no lock is taken.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::handle::{ResultHandle, digits_of, is_whole};
use super::look::{self, CHAR_BYTES, ResultLines, ResultMatches, ResultSlice};
use crate::env::{Clock, HostEnv};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{
    OWN_FILES_LISTED_MAX, RESULT_BYTES_MAX, RESULT_LINES_MAX, RESULT_MATCHES_MAX, RESULT_NEEDLE_BYTES_MAX,
    RESULT_SLICE_BYTES_MAX, RESULT_STORE_BYTES_MAX, RESULT_UNUSED_MS, RESULTS_MAX,
};
use crate::own_files::{self, Bounds, OwnFile};

/// Digits of a name that are the folder of a file: no folder gets too large.
const FOLDER_DIGITS: usize = 2;

const BOUNDS: Bounds =
    Bounds { age: Duration::from_millis(RESULT_UNUSED_MS), files: RESULTS_MAX, bytes: RESULT_STORE_BYTES_MAX };

/// Large results, kept whole. Cheap to clone.
#[derive(Clone)]
pub struct ResultStore {
    folder: PathBuf,
    clock: Arc<dyn Clock>,
    bounds: Bounds,
}

impl fmt::Debug for ResultStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResultStore").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl ResultStore {
    /// The folder of this person. Nothing is made before something is kept.
    #[must_use]
    pub fn new(env: &HostEnv) -> Self {
        Self { folder: env.dirs.user.join("results"), clock: env.clock.clone(), bounds: BOUNDS }
    }

    /// Keeps a result. What was used longest ago makes room for it.
    ///
    /// # Errors
    /// When it is too large, or cannot be written.
    pub fn keep(&self, content: &[u8]) -> Result<ResultHandle> {
        let handle = ResultHandle::of(content);
        if handle.bytes() > RESULT_BYTES_MAX {
            let what = format!("a result of {} bytes is not kept: at most {RESULT_BYTES_MAX} are", handle.bytes());
            return Err(Error::new(ErrorKind::Limit, what).hinting("ask the tool for less at once"));
        }
        let path = self.file(handle.digits());
        // One that was changed behind our back is put right.
        let is_there = own_files::read(&path, handle.bytes()).is_ok_and(|there| there == content);
        if is_there && self.touch(&path) {
            return Ok(handle);
        }
        own_files::put(&path, content).map_err(|error| {
            Error::new(ErrorKind::State, format!("cannot keep a result in {}: {error}", path.display()))
        })?;
        self.sweep(&path);
        Ok(handle)
    }

    /// A part of a result, from `offset` on and about `limit` bytes long: of whole characters when it is text.
    ///
    /// # Errors
    /// When there is no such result, or it cannot be read or is not what was kept.
    pub fn read(&self, handle: &str, offset: u64, limit: usize) -> Result<ResultSlice> {
        let (handle, mut file) = self.open(handle)?;
        let total = handle.bytes();
        let (offset, limit) = (offset.min(total), limit.clamp(1, RESULT_SLICE_BYTES_MAX));
        let end = offset.saturating_add(u64::try_from(limit).unwrap_or(u64::MAX)).min(total);
        if (offset, end) == (0, total) {
            let content = Self::content(&handle, file)?;
            return Ok(look::slice(&content, 0, 0..total, total));
        }
        let more = u64::try_from(CHAR_BYTES).unwrap_or_default();
        let start = offset.saturating_sub(more);
        let mut window = Vec::new();
        let read = file
            .seek(SeekFrom::Start(start))
            .and_then(|_| file.take(end.saturating_add(more) - start).read_to_end(&mut window));
        read.map_err(|error| unreadable(&handle, &error))?;
        if u64::try_from(window.len()).is_ok_and(|length| length < end - start) {
            return Err(changed(&handle));
        }
        Ok(look::slice(&window, start, offset..end, total))
    }

    /// Some lines of a result that is text; `from` counts from 1.
    ///
    /// # Errors
    /// When there is no such result, or it cannot be read, is no text or is not what was kept.
    pub fn lines(&self, handle: &str, from: usize, count: usize) -> Result<ResultLines> {
        let text = self.text(handle)?;
        Ok(look::lines(&text, from, count.clamp(1, RESULT_LINES_MAX)))
    }

    /// The first `max` places of a text in a result that is text, exactly as it is written, and how many there are.
    ///
    /// # Errors
    /// When there is no such result, or it cannot be read, is no text or is not what was kept; when nothing, or too much, is looked for.
    pub fn find(&self, handle: &str, needle: &str, max: usize) -> Result<ResultMatches> {
        if needle.is_empty() || needle.len() > RESULT_NEEDLE_BYTES_MAX {
            let what = format!("a text of {} bytes cannot be looked for", needle.len());
            let hint = format!("look for 1 to {RESULT_NEEDLE_BYTES_MAX} bytes");
            return Err(Error::new(ErrorKind::InvalidArguments, what).hinting(hint));
        }
        Ok(look::find(&self.text(handle)?, needle, max.clamp(1, RESULT_MATCHES_MAX)))
    }

    /// How large a result is.
    ///
    /// # Errors
    /// When there is no such result.
    pub fn size(&self, handle: &str) -> Result<u64> {
        self.open(handle).map(|(handle, _)| handle.bytes())
    }

    /// Forgets all results; says how many.
    pub fn forget_all(&self) -> usize {
        self.stock().iter().filter(|file| fs::remove_file(&file.path).is_ok()).count()
    }

    fn text(&self, handle: &str) -> Result<String> {
        let (handle, file) = self.open(handle)?;
        String::from_utf8(Self::content(&handle, file)?).map_err(|_| {
            let what = format!("the result {} is not text", handle.short());
            Error::new(ErrorKind::InvalidArguments, what).hinting("read it by offset")
        })
    }

    /// All of a result, when it is what was kept.
    fn content(handle: &ResultHandle, file: File) -> Result<Vec<u8>> {
        if handle.bytes() > RESULT_BYTES_MAX {
            return Err(changed(handle));
        }
        let mut content = Vec::with_capacity(usize::try_from(handle.bytes()).unwrap_or_default());
        file.take(RESULT_BYTES_MAX).read_to_end(&mut content).map_err(|error| unreadable(handle, &error))?;
        if ResultHandle::of(&content) != *handle {
            return Err(changed(handle));
        }
        Ok(content)
    }

    /// The file of a result, found by all of its digits or by the first of them.
    fn open(&self, written: &str) -> Result<(ResultHandle, File)> {
        let digits = digits_of(written)?;
        let digits = if is_whole(&digits) { digits } else { self.completed(&digits)? };
        match own_files::open(&self.file(&digits)) {
            Ok((file, about)) => {
                let handle = ResultHandle::new(&digits, about.len());
                // Reading it is a use of it; whether that can be noted does not matter.
                let _noted = file.set_modified(self.clock.now()).is_ok();
                Ok((handle, file))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(unknown(&digits)),
            Err(error) => Err(unreadable(&ResultHandle::new(&digits, 0), &error)),
        }
    }

    /// The one name that begins with these digits.
    fn completed(&self, digits: &str) -> Result<String> {
        let path = self.file(digits);
        let folder = path.parent().unwrap_or(&self.folder);
        let stock = own_files::take_stock(folder, self.clock.now());
        let stock = stock.map_err(|error| unreadable(&ResultHandle::new(digits, 0), &error))?;
        let names = stock.iter().filter_map(|file| file.path.file_name()?.to_str());
        let mut names = names.filter(|name| name.starts_with(digits));
        match (names.next(), names.next()) {
            (Some(name), None) => Ok(name.to_owned()),
            (Some(_), Some(_)) => {
                let what = format!("several kept results begin with `sha256:{digits}`");
                Err(Error::new(ErrorKind::UnknownResult, what).hinting("write more of its digits"))
            }
            (None, _) => Err(unknown(digits)),
        }
    }

    fn file(&self, digits: &str) -> PathBuf {
        let folder: String = digits.chars().take(FOLDER_DIGITS).collect();
        self.folder.join(folder).join(digits)
    }

    fn touch(&self, path: &Path) -> bool {
        File::options().write(true).open(path).and_then(|file| file.set_modified(self.clock.now())).is_ok()
    }

    /// Removes what is too much, but not what was kept just now, whatever the clocks say.
    fn sweep(&self, kept: &Path) {
        for file in own_files::surplus(self.stock(), &self.bounds, self.clock.now()) {
            // Somebody may have used it meanwhile.
            let is_unused =
                fs::metadata(&file.path).and_then(|about| about.modified()).is_ok_and(|at| at == file.modified);
            if file.path != kept && is_unused && fs::remove_file(&file.path).is_err() {
                tracing::debug!(file = %file.path.display(), "cannot remove a kept result");
            }
        }
    }

    fn stock(&self) -> Vec<OwnFile> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let folders = entries.take(OWN_FILES_LISTED_MAX).filter_map(|entry| entry.ok());
        let folders = folders.filter(|entry| entry.file_name().len() == FOLDER_DIGITS);
        folders.flat_map(|entry| own_files::take_stock(&entry.path(), self.clock.now()).unwrap_or_default()).collect()
    }
}

fn unknown(digits: &str) -> Error {
    let what = format!("no kept result begins with `sha256:{digits}`");
    Error::new(ErrorKind::UnknownResult, what)
        .hinting("results are kept for a month and while there is room; call the tool again")
}

fn unreadable(handle: &ResultHandle, error: &io::Error) -> Error {
    Error::new(ErrorKind::State, format!("cannot read the kept result {}: {error}", handle.short()))
}

fn changed(handle: &ResultHandle) -> Error {
    let what = format!("the kept result {} is not what was kept", handle.short());
    Error::new(ErrorKind::State, what).hinting("somebody changed its file; call the tool again")
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
