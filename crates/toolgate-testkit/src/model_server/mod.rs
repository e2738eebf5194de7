//! A model as data, spoken to over real HTTP on a loopback port in the wire formats of Gemini, OpenAI and Anthropic.
//!
//! [`script`] says what it answers, the same for every format; [`record`] what it was asked. Within, `gemini`, `openai` and `anthropic` read
//! requests and write answers in one format each, `checks` refuses what the providers refuse, and `serve` is the connection.

pub mod record;
pub mod script;

mod anthropic;
mod checks;
mod gemini;
mod openai;
mod serve;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

pub use record::{ModelRecord, SeenCall, SeenMessage, SeenRequest, SeenResult, SeenTool, Speaker};
pub use script::{ModelAnswer, ModelScript, ModelStop, ModelUsage, Said};

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireFormat {
    /// `models/NAME:generateContent` and `:streamGenerateContent`.
    Gemini,
    /// `chat/completions`.
    OpenAi,
    /// `messages`.
    Anthropic,
}

impl WireFormat {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Gemini, Self::OpenAi, Self::Anthropic];

    /// A name of a model that is spoken to like this.
    #[must_use]
    pub const fn model(self) -> &'static str {
        match self {
            Self::Gemini => "gemini-scripted",
            Self::OpenAi => "gpt-4-scripted",
            Self::Anthropic => "claude-scripted",
        }
    }

    const fn version_path(self) -> &'static str {
        match self {
            Self::Gemini => "/v1beta",
            Self::OpenAi | Self::Anthropic => "/v1",
        }
    }
}

/// A running model. Dropping it stops it.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    record: Arc<ModelRecord>,
    running: JoinHandle<()>,
}

impl ModelServer {
    /// Starts a script on a free port of 127.0.0.1. It speaks every format at once.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn start(script: ModelScript) -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        let address = listener.local_addr()?;
        let record = Arc::new(ModelRecord::new(script));
        let running = tokio::spawn(accept(listener, record.clone()));
        Ok(Self { address, record, running })
    }

    /// The address of the provider, with the path of its version, as settings have it.
    #[must_use]
    pub fn base_url(&self, format: WireFormat) -> String {
        format!("http://{}{}", self.address, format.version_path())
    }

    /// What it was asked.
    #[must_use]
    pub fn record(&self) -> &ModelRecord {
        &self.record
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        // The task owns those of all connections.
        self.running.abort();
    }
}

async fn accept(listener: TcpListener, record: Arc<ModelRecord>) {
    let mut tasks = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                tasks.spawn(serve::serve(record.clone(), stream));
            },
            Some(_) = tasks.join_next(), if !tasks.is_empty() => (),
        }
    }
}
