//! `ChaosPlan`: how often what goes wrong, and where the server writes what it did.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::fault::ChaosFault;

/// How a chaos server is to behave; given to the program as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChaosPlan {
    /// What the server is called in the list of lives.
    pub name: String,
    /// Whether it speaks 2026-07-28, without a handshake and sessions, or the versions before.
    #[serde(default)]
    pub is_modern: bool,
    /// What goes wrong follows from it.
    pub seed: u64,
    /// Of a thousand calls of tools, how many go wrong.
    pub call_faults_per_mille: u64,
    /// The same for all other requests, such as those that begin a connection.
    pub other_faults_per_mille: u64,
    /// What may go wrong; anything, when this is empty.
    #[serde(default)]
    pub only: Vec<ChaosFault>,
    /// What goes wrong at least once, whatever the dice say.
    #[serde(default)]
    pub surely: Vec<ChaosFault>,
    /// When an answer comes that comes too late.
    pub late_ms: u64,
    /// Receives one line with the nonce of each call that is executed. Several servers may share it.
    pub ledger: PathBuf,
    /// Receives one line for each time that a server starts.
    pub lives: PathBuf,
    /// Receives one line for each request that goes wrong.
    pub faults: PathBuf,
    /// As long as this file exists, nothing goes wrong.
    pub calm: PathBuf,
}

impl ChaosPlan {
    /// A plan with its files in `folder`, by which nothing goes wrong yet.
    #[must_use]
    pub fn in_folder(folder: &Path, name: &str, seed: u64) -> Self {
        Self {
            name: name.to_owned(),
            is_modern: false,
            seed,
            call_faults_per_mille: 0,
            other_faults_per_mille: 0,
            only: Vec::new(),
            surely: Vec::new(),
            late_ms: 2_500,
            ledger: folder.join("ledger"),
            lives: folder.join("lives"),
            faults: folder.join("faults"),
            calm: folder.join("calm"),
        }
    }

    /// Reads what [`Self::to_json`] wrote.
    ///
    /// # Errors
    /// When it is no plan.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The plan as the program takes it.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Names, numbers and paths of a test are text.
        serde_json::to_string(self).unwrap_or_default()
    }
}
