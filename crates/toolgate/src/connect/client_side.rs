//! What a server may ask of us: roots, elicitation, sampling; and what it may tell us: log entries and changes of its lists.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use futures_util::future::BoxFuture;
use serde_json::json;
use tokio::sync::{Semaphore, watch};
use toolgate_wire::{ClientSide, Defect, Error as WireError, Notification, Question, RawJson, RpcError, Version};

use super::connection::{Changed, Kind, give_up};
use super::front_end::{Elicitation, ElicitationAnswer, FrontEnd, ServerLog};
use crate::limits::{QUESTION_CHARS_MAX, QUESTIONS_MAX};
use crate::server_name::ServerName;
use crate::workspace_folders::WorkspaceFolders;

/// Our side of one connection.
pub(super) struct OurSide {
    pub(super) server: ServerName,
    /// The folders that are told as roots, as they are at the moment.
    pub(super) folders: Arc<RwLock<WorkspaceFolders>>,
    pub(super) front_end: Arc<dyn FrontEnd>,
    /// Which lists the server says have changed.
    pub(super) changed: watch::Sender<Changed>,
    /// Why the connection is good for nothing new.
    pub(super) given_up: watch::Sender<Option<WireError>>,
    /// Room for questions before the person.
    pub(super) questions: Arc<Semaphore>,
}

impl OurSide {
    pub(super) fn new(
        server: ServerName,
        folders: Arc<RwLock<WorkspaceFolders>>,
        front_end: Arc<dyn FrontEnd>,
    ) -> Self {
        Self {
            server,
            folders,
            front_end,
            changed: watch::Sender::new(Changed::default()),
            given_up: watch::Sender::new(None),
            questions: Arc::new(Semaphore::new(QUESTIONS_MAX)),
        }
    }

    fn roots(&self) -> RawJson {
        let folders = self.folders.read().unwrap_or_else(PoisonError::into_inner);
        let root = |folder: &Path| {
            let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy();
            json!({"uri": file_url(folder), "name": name})
        };
        json!({"roots": folders.all().map(root).collect::<Vec<_>>()}).into()
    }

    /// Puts a question to the person, unless too many are waiting already.
    fn elicit(&self, params: &RawJson) -> BoxFuture<'static, Result<RawJson, RpcError>> {
        let Ok(place) = self.questions.clone().try_acquire_owned() else {
            let answer = ElicitationAnswer::Decline.to_json();
            return Box::pin(async move { Ok(answer) });
        };
        let question = read_elicitation(params);
        let abilities = self.front_end.abilities();
        let (front_end, server) = (self.front_end.clone(), self.server.clone());
        Box::pin(async move {
            let question = question.map_err(RpcError::invalid_params)?;
            let can_be_asked = match question {
                Elicitation::Form { .. } => abilities.forms,
                Elicitation::Url { .. } => abilities.urls,
            };
            if !can_be_asked {
                return Err(RpcError::invalid_params("nobody can be asked this here"));
            }
            let answer = front_end.elicit(server, question).await;
            drop(place);
            Ok(answer.to_json())
        })
    }

    fn sample(&self, params: RawJson) -> BoxFuture<'static, Result<RawJson, RpcError>> {
        if !self.front_end.abilities().sampling {
            return Box::pin(async { Err(RpcError::method_not_found("sampling/createMessage")) });
        }
        let answer = self.front_end.sample(self.server.clone(), params);
        // -1 is what the protocol writes when the person says no.
        Box::pin(async move { answer.await.map_err(|why| RpcError::new(-1, why)) })
    }
}

/// Reads `elicitation/create`, or an entry of the list that asks for URLs to be visited.
pub(crate) fn read_elicitation(params: &RawJson) -> Result<Elicitation, String> {
    let text = |key: &str| -> Option<String> { params.member(key)?.read().ok() };
    let message = bounded(text("message").unwrap_or_default());
    match text("mode").as_deref() {
        Some("url") => {
            let url = text("url").ok_or("`url` is missing")?;
            if !(url.starts_with("https://") || url.starts_with("http://")) || url.len() > QUESTION_CHARS_MAX {
                return Err("`url` is not an address of the web".to_owned());
            }
            Ok(Elicitation::Url { message, url })
        }
        None | Some("form") => {
            let schema = params.member("requestedSchema").filter(RawJson::is_object);
            Ok(Elicitation::Form { message, schema: schema.ok_or("`requestedSchema` is missing")? })
        }
        Some(other) => Err(format!("there is no mode `{other}`")),
    }
}

impl ClientSide for OurSide {
    fn info(&self) -> RawJson {
        json!({"name": "toolgate", "title": "toolgate", "version": env!("CARGO_PKG_VERSION")}).into()
    }

    fn capabilities(&self, version: Version) -> RawJson {
        let abilities = self.front_end.abilities();
        let mut capabilities = json!({"roots": {}});
        if !version.is_modern() {
            capabilities["roots"] = json!({"listChanged": true});
        }
        let has_modes = version >= Version::V2025_11_25;
        let mut modes = json!({});
        if has_modes && abilities.forms {
            modes["form"] = json!({});
        }
        if has_modes && abilities.urls {
            modes["url"] = json!({});
        }
        // Before there were modes a form was all that could be meant.
        if version >= Version::V2025_06_18 && (abilities.forms || (has_modes && abilities.urls)) {
            capabilities["elicitation"] = modes;
        }
        if abilities.sampling {
            capabilities["sampling"] = json!({});
        }
        capabilities.into()
    }

    fn ask(&self, question: Question) -> BoxFuture<'static, Result<RawJson, RpcError>> {
        match &*question.method {
            "roots/list" => {
                let roots = self.roots();
                Box::pin(async move { Ok(roots) })
            }
            "elicitation/create" => self.elicit(&question.params),
            "sampling/createMessage" => self.sample(question.params),
            other => {
                let refusal = RpcError::method_not_found(other);
                Box::pin(async move { Err(refusal) })
            }
        }
    }

    fn notification(&self, notification: Notification) {
        let params = notification.params.unwrap_or(RawJson::EMPTY_OBJECT);
        let text = |key: &str| params.member(key)?.read::<String>().ok().map(bounded);
        match &*notification.method {
            "notifications/tools/list_changed" => self.note(Kind::Tools),
            "notifications/prompts/list_changed" => self.note(Kind::Prompts),
            "notifications/resources/list_changed" => self.note(Kind::Resources),
            "notifications/message" => {
                let level = text("level").unwrap_or_else(|| "info".to_owned());
                let data = params.member("data").unwrap_or(RawJson::NULL);
                let is_large = data.as_bytes().len() > QUESTION_CHARS_MAX;
                let data = if is_large { RawJson::string(&bounded(data.as_str().to_owned())) } else { data };
                self.front_end.log(&self.server, ServerLog { level, logger: text("logger"), data });
            }
            _ => {}
        }
    }

    fn lost(&self, why: &WireError) {
        give_up(&self.given_up, why);
    }

    fn defect(&self, defect: &Defect) {
        tracing::debug!(server = %self.server, %defect, "unusable message");
    }
}

impl OurSide {
    fn note(&self, kind: Kind) {
        self.changed.send_modify(|changed| changed.note(kind));
    }
}

/// No more of a text than a front end takes.
pub(super) fn bounded(text: String) -> String {
    if text.len() <= QUESTION_CHARS_MAX { text } else { text.chars().take(QUESTION_CHARS_MAX).collect() }
}

/// A folder as a URL.
fn file_url(folder: &Path) -> String {
    let mut url = "file://".to_owned();
    for byte in folder.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => url.push(char::from(*byte)),
            other => url.push_str(&format!("%{other:02X}")),
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_written_as_urls() {
        assert_eq!(file_url(Path::new("/home/a b/ü%")), "file:///home/a%20b/%C3%BC%25");
    }

    #[test]
    fn questions_are_read_or_refused() {
        let cases = [
            (json!({"message": "m", "requestedSchema": {}}), "Form"),
            (json!({"mode": "form", "message": "m", "requestedSchema": {}}), "Form"),
            (json!({"message": "m"}), "`requestedSchema` is missing"),
            (json!({"mode": "url", "message": "m", "url": "https://example.com"}), "Url"),
            (json!({"mode": "url", "message": "m"}), "`url` is missing"),
            (
                json!({"mode": "url", "message": "m", "url": "javascript:alert(1)"}),
                "`url` is not an address of the web",
            ),
            (json!({"mode": "dance"}), "there is no mode `dance`"),
        ];
        for (params, expected) in cases {
            let outcome = match read_elicitation(&params.clone().into()) {
                Ok(Elicitation::Form { .. }) => "Form".to_owned(),
                Ok(Elicitation::Url { .. }) => "Url".to_owned(),
                Err(why) => why,
            };
            assert_eq!(outcome, expected, "{params}");
        }
    }
}
