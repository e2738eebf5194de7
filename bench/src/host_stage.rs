//! A contestant with its home, its settings, and what is around it: played once for each run.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Outcome;
use crate::embedded::SERVERS_FILE;
use crate::host_cases::{Contestant, Home, Who};
use crate::stand_in::{Answers, STARTS_FILE, StandIn};
use crate::watch::{Program, Seen, Streams};

/// A contestant that is ready for its turns.
pub(crate) struct Stage<'a> {
    contestant: &'a Contestant,
    toolgate: PathBuf,
    words: Vec<String>,
    home: TempDir,
}

impl<'a> Stage<'a> {
    /// Sets everything up and lets it run once.
    pub(crate) async fn set(contestant: &'a Contestant, toolgate: &Path) -> Outcome<Self> {
        let (home, words) = furnish(contestant, toolgate)?;
        let mut stage = Self { contestant, toolgate: toolgate.to_owned(), words, home };
        if contestant.home == Home::WithRuntime {
            stage.tell_runtime("up").await?;
        }
        match stage.run().await {
            Ok(_) => Ok(stage),
            Err(error) => {
                stage.clear().await.ok();
                Err(error)
            }
        }
    }

    /// One run that counts.
    pub(crate) async fn play(&mut self) -> Outcome<Seen> {
        if self.contestant.home == Home::Fresh {
            (self.home, self.words) = furnish(self.contestant, &self.toolgate)?;
            return self.run().await;
        }
        let starts = || std::fs::read(self.home.path().join(STARTS_FILE)).unwrap_or_default().len();
        let before = starts();
        let seen = self.run().await?;
        if starts() != before {
            let words = self.contestant.words.join(" ");
            return Err(format!("`toolgate {words}` started a server, although it need not").into());
        }
        Ok(seen)
    }

    /// Ends what is around it.
    pub(crate) async fn clear(&mut self) -> Outcome {
        if self.contestant.home == Home::WithRuntime {
            self.tell_runtime("down").await?;
        }
        Ok(())
    }

    async fn run(&self) -> Outcome<Seen> {
        let streams = if self.contestant.who == Who::AtTerminal { Streams::Terminal } else { Streams::Pipes };
        let program = Program { words: &self.words, home: self.home.path(), streams };
        program.watch(self.contestant.awaited, self.contestant.then).await
    }

    async fn tell_runtime(&self, word: &str) -> Outcome {
        let words = [self.toolgate.display().to_string(), word.to_owned()];
        Program { words: &words, home: self.home.path(), streams: Streams::Pipes }.finish().await
    }
}

/// A home with the settings in it, and the words to start the contestant with.
fn furnish(contestant: &Contestant, toolgate: &Path) -> Outcome<(TempDir, Vec<String>)> {
    let home = tempfile::tempdir()?;
    let this = std::env::current_exe()?.display().to_string();
    let mut words = match contestant.who {
        Who::Floor => vec![this.clone(), "floor".to_owned()],
        Who::Toolgate | Who::AtTerminal => vec![toolgate.display().to_string()],
        Who::Embedded => vec![this.clone()],
    };
    if contestant.servers.is_some() {
        let settings = settings(contestant, &this, home.path()).to_string();
        // The shared runtime is that of a person, whose settings are in their home.
        let is_in_home = contestant.home == Home::WithRuntime;
        let place = if is_in_home { ".toolgate/settings.json" } else { SERVERS_FILE };
        let file = home.path().join(place);
        file.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(&file, settings)?;
        if !is_in_home && contestant.who != Who::Embedded {
            words.extend(["--config".to_owned(), file.display().to_string()]);
        }
    }
    words.extend(contestant.words.iter().map(|&word| word.to_owned()));
    Ok((home, words))
}

/// `mcpServers` as a person writes it. The names are such that those who never answer stand first, also when sorted.
fn settings(contestant: &Contestant, program: &str, home: &Path) -> Value {
    let mut servers = serde_json::Map::new();
    let Some(wanted) = contestant.servers else { return json!({}) };
    let mut enter = |name: String, offer: StandIn| {
        let mut args = vec!["serve".to_owned(), "stand-in".to_owned()];
        if contestant.home != Home::Fresh {
            args.extend(["--starts".to_owned(), home.display().to_string()]);
        }
        args.extend(offer.words());
        let mut entry = json!({"command": program, "args": args});
        if !wanted.start.is_empty() {
            entry["start"] = json!(wanted.start);
        }
        servers.insert(name, entry);
    };
    for number in 0..wanted.hanging {
        enter(format!("hanging{number}"), StandIn { answers: Answers::Never, ..wanted.offer });
    }
    for number in 0..wanted.answering {
        enter(format!("server{number}"), wanted.offer);
    }
    json!({"mcpServers": servers})
}
