//! `Head`: where the log ends, kept beside it: without that nobody could tell that records at the end were removed. Also what is counted to
//! find bursts, since that changes with every call as well.
//!
//! It is written in place, always as one block of one size: a process that is killed leaves the old one or the new one.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};

use serde::{Deserialize, Serialize};

use super::chain::{Place, VERSION};
use super::folder::{AuditFolder, open};
use super::unusual::Counted;

/// The size of the file: one page, so that it is written whole.
const HEAD_BYTES: usize = 4096;

/// Where the log ends.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Head {
    v: u64,
    /// The number of the last record.
    pub(super) seq: u64,
    /// Its hash.
    pub(super) hash: String,
    /// The number of the file it is in; 0 before there is one.
    pub(super) file: u64,
    /// The calls of the last minutes.
    #[serde(default)]
    pub(super) counted: Vec<Counted>,
}

impl Head {
    /// The log ends there.
    pub(super) fn at(place: &Place, file: u64, counted: Vec<Counted>) -> Self {
        Self { v: VERSION, seq: place.seq, hash: place.hash.clone(), file, counted }
    }

    /// Where the last record stands.
    pub(super) fn place(&self) -> Place {
        Place { seq: self.seq, hash: self.hash.clone() }
    }

    /// Reads it; `None` when it is not there or not as we wrote it.
    pub(super) fn read(folder: &AuditFolder) -> io::Result<Option<Self>> {
        let file = match open(&folder.head(), OpenOptions::new().read(true)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut text = Vec::new();
        file.take(HEAD_BYTES as u64).read_to_end(&mut text)?;
        Ok(serde_json::from_slice(text.trim_ascii()).ok())
    }

    /// Writes it.
    pub(super) fn write(&self, file: &mut File) -> io::Result<()> {
        let mut block = serde_json::to_vec(self)?;
        if block.len() >= HEAD_BYTES {
            block = serde_json::to_vec(&Self { counted: Vec::new(), ..self.clone() })?;
        }
        block.resize(HEAD_BYTES - 1, b' ');
        block.push(b'\n');
        file.rewind()?;
        file.write_all(&block)
    }

    /// Opens the file for writing.
    pub(super) fn open(folder: &AuditFolder) -> io::Result<File> {
        open(&folder.head(), OpenOptions::new().create(true).truncate(false).write(true))
    }
}
