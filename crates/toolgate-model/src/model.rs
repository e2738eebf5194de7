//! `Model`: somebody who answers, over the network.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use genai::chat::{ChatOptions, ChatRequest};
use genai::resolver::{AuthData, Endpoint, ProviderConfig};
use genai::{Client, ModelIden};
use toolgate::HostEnv;
use url::Url;

use crate::answer::{self, Answer, Manner, Piece};
use crate::config::{ModelConfig, Retry};
use crate::error::ModelError;
use crate::frames::Frames;
use crate::limits::{HEAD_SILENCE_MS, STREAM_SILENCE_MS};
use crate::provider::Provider;
use crate::route::Route;
use crate::trouble::Trouble;
use crate::web;

/// Somebody who answers. Cheap to clone.
#[derive(Clone)]
pub struct Model {
    name: String,
    manner: Manner,
    takes_images: bool,
    max_turns: u32,
    result_chars_max: Option<usize>,
    retry: Retry,
    client: Client,
    iden: ModelIden,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model")
            .field("name", &self.name)
            .field("provider", &self.manner.provider)
            .finish_non_exhaustive()
    }
}

impl Model {
    /// The model of a configuration. Nothing is sent yet. `env` names the proxy, if there is one.
    ///
    /// # Errors
    /// When nobody has a model of that name, or there is no way to set up TLS.
    pub fn new(config: ModelConfig, env: &HostEnv) -> Result<Self, ModelError> {
        let route = Route::of(&config.name)?;
        let url = config.base_url.or_else(|| route.url.and_then(|url| Url::parse(url).ok()));
        let web = web::client(env, url.as_ref())?;
        let auth = AuthData::Key(config.key.into_exposed());
        let mut provided = ProviderConfig::from_auth(auth);
        if let Some(url) = url {
            provided = provided.with_endpoint(Endpoint::from_owned(url.to_string()));
        }
        let client = Client::builder().with_reqwest(web).append_provider_config(route.adapter, provided).build();
        let client = client.map_err(|error| Trouble::from(error).error)?;
        Ok(Self {
            name: config.name,
            manner: route.manner,
            takes_images: route.takes_images,
            max_turns: config.max_turns.max(1),
            result_chars_max: config.result_chars_max,
            retry: config.retry,
            client,
            iden: ModelIden::new(route.adapter, route.model),
        })
    }

    /// The name, as it is written in the settings.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whose format it is spoken to in.
    #[must_use]
    pub const fn provider(&self) -> Provider {
        self.manner.provider
    }

    /// Whether it looks at pictures.
    #[must_use]
    pub const fn takes_images(&self) -> bool {
        self.takes_images
    }

    /// Requests that one input of the person may lead to.
    #[must_use]
    pub const fn max_turns(&self) -> u32 {
        self.max_turns
    }

    /// The longest text of one result that it gets, in characters; 0 is no limit. `None` is the usual one.
    pub(crate) const fn result_chars_max(&self) -> Option<usize> {
        self.result_chars_max
    }

    pub(crate) const fn retry(&self) -> Retry {
        self.retry
    }

    /// Asks once. Dropping the future ends the stream.
    pub(crate) async fn ask(&self, request: ChatRequest, hears: impl FnMut(Piece<'_>)) -> Result<Answer, Trouble> {
        let frames = Arc::new(if self.manner.joins_calls { Frames::with_calls() } else { Frames::default() });
        let options = ChatOptions::default()
            .with_capture_usage(true)
            .with_capture_content(true)
            .with_capture_reasoning_content(true)
            .with_capture_tool_calls(!self.manner.joins_calls)
            .with_raw_frame_sink_arc(frames.clone())
            .with_stream_header_timeout(Duration::from_millis(HEAD_SILENCE_MS))
            .with_stream_read_timeout(Duration::from_millis(STREAM_SILENCE_MS));
        let answering = self.client.exec_chat_stream(self.iden.clone(), request, Some(&options)).await?;
        answer::read(answering.stream, &frames, self.manner, hears).await
    }
}
