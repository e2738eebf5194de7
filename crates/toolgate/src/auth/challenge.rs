//! What a server says when it wants a login: its `WWW-Authenticate` headers, read as RFC 9110 §11.6.1 writes them, and what follows from them.
//!
//! Servers and the proxies before them write these headers in many ways. What can be understood is taken, and nothing here fails.

use std::iter::Peekable;
use std::str::Chars;

use crate::limits::{CHALLENGE_PARAMETERS_MAX, CHALLENGE_TEXT_CHARS_MAX, CHALLENGES_MAX, LOGIN_SCOPES_MAX};

/// One way in which a server lets itself be asked again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Challenge {
    /// The scheme as it was written, such as `Bearer`.
    pub scheme: String,
    /// Its parameters: names in lower case, values without their quotes, each name once.
    pub parameters: Vec<(String, String)>,
    /// What some schemes have in place of parameters, such as the token of `Negotiate`.
    pub token68: Option<String>,
}

/// What the challenges of one answer want from us.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// Where the server describes itself (RFC 9728).
    pub resource_metadata: Option<String>,
    /// What the token must be good for.
    pub scopes: Vec<String>,
    /// Whether there was a token, and it was not good for enough.
    pub insufficient_scope: bool,
    /// Whether the server takes tokens that are bound to a key (RFC 9449).
    pub dpop: bool,
    /// The error it named, such as `invalid_token`.
    pub error: Option<String>,
}

impl Challenge {
    /// The value of a parameter; letter case of the name does not matter.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Where the server describes itself (RFC 9728 §5.1).
    #[must_use]
    pub fn resource_metadata(&self) -> Option<&str> {
        self.parameter("resource_metadata").filter(|url| !url.is_empty())
    }

    /// What the token must be good for (RFC 6750 §3).
    #[must_use]
    pub fn scope(&self) -> Vec<String> {
        self.parameter("scope").map(scopes_of).unwrap_or_default()
    }

    /// Why the request was refused (RFC 6750 §3.1).
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.parameter("error").filter(|error| !error.is_empty())
    }

    /// The same in words.
    #[must_use]
    pub fn error_description(&self) -> Option<&str> {
        self.parameter("error_description").filter(|words| !words.is_empty())
    }

    /// Whether tokens are to be bound to a key.
    #[must_use]
    pub fn is_dpop(&self) -> bool {
        self.scheme.eq_ignore_ascii_case("DPoP")
    }

    /// Whether it is about tokens of OAuth.
    #[must_use]
    pub fn is_oauth(&self) -> bool {
        self.is_dpop() || self.scheme.eq_ignore_ascii_case("Bearer")
    }
}

/// The scopes of a list as OAuth writes it: each once, in their order, and only those that can be asked for (RFC 6749 §3.3).
pub(crate) fn scopes_of(list: &str) -> Vec<String> {
    let mut scopes: Vec<String> = Vec::new();
    for scope in list.split_whitespace().filter(|scope| is_scope(scope)).take(LOGIN_SCOPES_MAX) {
        if !scopes.iter().any(|known| known == scope) {
            scopes.push(scope.to_owned());
        }
    }
    scopes
}

/// Whether a text can be a scope.
pub(crate) fn is_scope(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\')
}

/// Everything the headers of one answer say, in their order.
#[must_use]
pub fn parse(headers: &[String]) -> Vec<Challenge> {
    let mut challenges = Vec::new();
    for header in headers {
        Reader { rest: header.chars().peekable(), challenges: &mut challenges, has_begun: false }.read();
    }
    challenges
}

/// The challenge to follow: one for tokens that says where the server describes itself, else any that says so, else any for tokens.
#[must_use]
pub fn to_follow(challenges: &[Challenge]) -> Option<&Challenge> {
    let describes = |one: &&Challenge| one.resource_metadata().is_some();
    let first = challenges.iter().find(|one| one.is_oauth() && describes(one));
    first.or_else(|| challenges.iter().find(describes)).or_else(|| challenges.iter().find(|one| one.is_oauth()))
}

/// What the challenges of one answer want, taken together. What the one to follow says comes first, the others fill in.
#[must_use]
pub fn wants(challenges: &[Challenge]) -> Wants {
    let Some(chosen) = to_follow(challenges) else { return Wants::default() };
    let others = || std::iter::once(chosen).chain(challenges.iter().filter(|one| one.is_oauth()));
    Wants {
        resource_metadata: chosen.resource_metadata().map(str::to_owned),
        scopes: others().map(Challenge::scope).find(|scopes| !scopes.is_empty()).unwrap_or_default(),
        insufficient_scope: others().any(|one| one.error() == Some("insufficient_scope")),
        dpop: challenges.iter().any(Challenge::is_dpop),
        error: others().find_map(Challenge::error).map(str::to_owned),
    }
}

/// Goes through one header from left to right.
///
/// A comma ends a parameter or a whole challenge, and only what follows tells which: a word before `=` is a parameter, any other a scheme.
struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    challenges: &'a mut Vec<Challenge>,
    /// Whether a challenge of this header was begun, so that parameters have something to belong to.
    has_begun: bool,
}

impl Reader<'_> {
    fn read(mut self) {
        loop {
            self.skip(|letter| letter.is_whitespace() || letter == ',');
            if self.rest.peek().is_none() {
                return;
            }
            let word = self.take(|letter| !letter.is_whitespace() && !matches!(letter, ',' | '=' | '"'));
            let word_end = self.rest.clone();
            self.skip(char::is_whitespace);
            if self.rest.peek() == Some(&'=') {
                self.rest.next();
                self.skip(char::is_whitespace);
                let value = self.value();
                self.parameter(&word, value);
            } else if word.is_empty() {
                // A quote where no value is expected; with what it encloses it means nothing.
                drop(self.value());
            } else if self.challenges.len() == CHALLENGES_MAX {
                return;
            } else {
                self.rest = word_end;
                self.begin(word);
            }
        }
    }

    fn begin(&mut self, scheme: String) {
        self.has_begun = true;
        let token68 = self.token68();
        self.challenges.push(Challenge { scheme, parameters: Vec::new(), token68 });
    }

    fn parameter(&mut self, name: &str, value: String) {
        let Some(challenge) = self.challenges.last_mut().filter(|_| self.has_begun && !name.is_empty()) else { return };
        let is_new = challenge.parameter(name).is_none();
        // Half a value is a wrong value, so what is too long is left out.
        let fits = challenge.parameters.len() < CHALLENGE_PARAMETERS_MAX
            && name.len() + value.chars().count() <= CHALLENGE_TEXT_CHARS_MAX;
        if is_new && fits {
            challenge.parameters.push((name.to_ascii_lowercase(), value));
        }
    }

    /// Words, digits and `=` at the end, up to a comma or the end: what stands for itself, and is no parameter.
    fn token68(&mut self) -> Option<String> {
        let before = self.rest.clone();
        self.skip(char::is_whitespace);
        let mut token = self.take(|letter| letter.is_ascii_alphanumeric() || "-._~+/".contains(letter));
        let is_empty = token.is_empty();
        token.push_str(&self.take(|letter| letter == '='));
        self.skip(char::is_whitespace);
        if !is_empty && matches!(self.rest.peek(), None | Some(',')) && token.len() <= CHALLENGE_TEXT_CHARS_MAX {
            return Some(token);
        }
        self.rest = before;
        None
    }

    /// A value: between quotes, or up to the next comma or space.
    fn value(&mut self) -> String {
        if self.rest.peek() != Some(&'"') {
            return self.take(|letter| !letter.is_whitespace() && letter != ',');
        }
        self.rest.next();
        let mut value = String::new();
        while let Some(letter) = self.rest.next() {
            match letter {
                '"' => return value,
                '\\' => value.extend(self.rest.next()),
                _ => value.push(letter),
            }
        }
        value
    }

    fn skip(&mut self, is_skipped: impl Fn(char) -> bool) {
        while self.rest.next_if(|letter| is_skipped(*letter)).is_some() {}
    }

    fn take(&mut self, is_taken: impl Fn(char) -> bool) -> String {
        std::iter::from_fn(|| self.rest.next_if(|letter| is_taken(*letter))).collect()
    }
}

#[cfg(test)]
#[path = "challenge_tests.rs"]
mod tests;
