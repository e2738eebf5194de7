//! Why an authorization server gave nothing, and what that means: for a login that is going on, and for one that is to be renewed.

use std::fmt;

use super::renew::RenewError;
use crate::error::{Error, ErrorKind};

/// Why there is no token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TokenError {
    /// What it means.
    pub(crate) kind: TokenErrorKind,
    /// What happened. No secret is in these words.
    pub(crate) words: String,
}

/// What it means that there is no token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TokenErrorKind {
    /// The server refused, with that code. Asking again in the same way gives the same answer.
    Rejected(String),
    /// It may work later.
    Transient,
    /// The server answered something that is not an answer.
    Malformed,
    /// The request could not be made: the settings lack something, or do not fit.
    Unasked,
}

impl TokenError {
    /// It may work later.
    pub(crate) fn transient(words: impl Into<String>) -> Self {
        Self { kind: TokenErrorKind::Transient, words: words.into() }
    }

    /// Not an answer.
    pub(crate) fn malformed(words: impl Into<String>) -> Self {
        Self { kind: TokenErrorKind::Malformed, words: words.into() }
    }

    /// Not even asked.
    pub(crate) fn unasked(words: impl Into<String>) -> Self {
        Self { kind: TokenErrorKind::Unasked, words: words.into() }
    }

    /// The same, with who it was that did so.
    #[must_use]
    pub(crate) fn by(self, who: &str) -> Self {
        // What was never asked was not answered by anybody.
        if self.kind == TokenErrorKind::Unasked {
            return self;
        }
        Self { words: format!("{who} {}", self.words), ..self }
    }

    /// The code it was refused with.
    pub(crate) fn code(&self) -> Option<&str> {
        match &self.kind {
            TokenErrorKind::Rejected(code) => Some(code),
            TokenErrorKind::Transient | TokenErrorKind::Malformed | TokenErrorKind::Unasked => None,
        }
    }

    /// Whether the authorization server does not know who we are.
    pub(crate) fn is_about_client(&self) -> bool {
        self.code() == Some("invalid_client")
    }

    /// What the person can do about it.
    pub(crate) fn hint(&self) -> &'static str {
        match (self.code(), &self.kind) {
            (Some("invalid_client"), _) => {
                "check `oauth.clientId` and `oauth.clientSecret`, or remove them to register anew"
            }
            (Some("unauthorized_client" | "unsupported_grant_type"), _) => {
                "the authorization server does not let this client log in this way; check `oauth.grantType`"
            }
            (Some("invalid_scope"), _) => "check `oauth.scopes`",
            (Some("invalid_target"), _) => {
                "the authorization server gives no tokens for this server; check its address and `oauth.audiences`"
            }
            (Some(_), _) => "log in again",
            (None, TokenErrorKind::Transient) => "try again later",
            (None, TokenErrorKind::Unasked) => "correct the settings of this server",
            (None, _) => "check `oauth.tokenUrl`, or ask whoever runs the authorization server",
        }
    }
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl From<Error> for TokenError {
    /// Only making the request gives such errors.
    fn from(error: Error) -> Self {
        Self::unasked(error.to_string())
    }
}

impl From<TokenError> for Error {
    fn from(error: TokenError) -> Self {
        let hint = error.hint();
        Self::new(ErrorKind::LoginFailed, error.words).hinting(hint)
    }
}

impl From<TokenError> for RenewError {
    /// Whatever is not a clear refusal may pass: a login that still works is not thrown away for it.
    fn from(error: TokenError) -> Self {
        match error.kind {
            TokenErrorKind::Rejected(code) if code == "invalid_grant" => Self::Ended(error.words),
            TokenErrorKind::Rejected(_) | TokenErrorKind::Unasked => Self::NeedsPerson(error.words),
            TokenErrorKind::Transient | TokenErrorKind::Malformed => Self::Transient(error.words),
        }
    }
}
