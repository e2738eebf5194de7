//! What comes back from the authorization page, judged: does it belong to this login, is it from the right server, and is it a code.

use url::form_urlencoded;

use crate::limits::{LOGIN_ANSWER_BYTES_MAX, LOGIN_WORDS_CHARS_MAX};
use crate::secret::Secret;
use crate::settings::diagnostic::visible;

/// What an answer must fit.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    /// The secret word that this login went out with.
    pub(crate) state: Secret,
    /// The authorization server that the person was sent to.
    pub(crate) issuer: String,
    /// Whether that server says that it names itself in answers (RFC 9207).
    pub(crate) names_issuer: bool,
}

/// Why an answer is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// It is no answer at all; the real one may still come.
    NoAnswer(&'static str),
    /// The login is over. The words say why.
    Over {
        /// What is wrong.
        words: String,
        /// The rule that decided.
        rule: &'static str,
    },
}

const STATE_RULE: &str = "RFC 6749 §10.12: `state` must be the one that was sent";
const ISSUER_RULE: &str = "RFC 9207 §2.4: `iss` must be the authorization server that was asked";
const ERROR_RULE: &str = "RFC 6749 §4.1.2.1: the authorization server refused";
const CODE_RULE: &str = "RFC 6749 §4.1.2: an answer has one `code`";

/// The code in the query of an answer. First it is seen whose answer it is, then what it says.
pub(crate) fn read_query(query: &str, expected: &Expected) -> Result<Secret, Unfit> {
    if query.len() > LOGIN_ANSWER_BYTES_MAX {
        return Err(Unfit::NoAnswer("the answer is too long"));
    }
    let one = |name: &str| {
        let mut values =
            form_urlencoded::parse(query.as_bytes()).filter(|(key, _)| key == name).map(|(_, value)| value);
        (values.next(), values.next().is_some())
    };
    let ((code, twice), (error, _), (state, states)) = (one("code"), one("error"), one("state"));
    if code.is_none() && error.is_none() {
        return Err(Unfit::NoAnswer("there is neither a `code` nor an `error` in the answer"));
    }
    match state {
        None => return Err(Unfit::NoAnswer("there is no `state` in the answer")),
        Some(state) if states || !same(&state, expected.state.expose()) => {
            let words = "the answer belongs to another login: its `state` is not the one that was sent";
            return Err(over(words, STATE_RULE));
        }
        Some(_) => (),
    }
    check_issuer(one("iss"), expected)?;
    if let Some(error) = error {
        let description = one("error_description").0.map(|text| format!(": {}", shown(&text))).unwrap_or_default();
        return Err(over(&format!("{}{description}", in_words(&error)), ERROR_RULE));
    }
    match code {
        Some(code) if !twice && !code.is_empty() => Ok(Secret::new(code)),
        _ => Err(over("the answer has no usable `code`", CODE_RULE)),
    }
}

/// Compared byte by byte: what looks the same after tidying up is another server.
fn check_issuer((issuer, twice): (Option<std::borrow::Cow<'_, str>>, bool), expected: &Expected) -> Result<(), Unfit> {
    match issuer {
        Some(issuer) if twice || issuer != expected.issuer => {
            let (issuer, wanted) = (shown(&issuer), &expected.issuer);
            Err(over(&format!("the answer comes from `{issuer}`, not from `{wanted}`, which was asked"), ISSUER_RULE))
        }
        None if expected.names_issuer => {
            let wanted = &expected.issuer;
            Err(over(&format!("the answer does not say who it comes from, though `{wanted}` promises to"), ISSUER_RULE))
        }
        _ => Ok(()),
    }
}

/// The code in what a person pasted: the address that the browser ended at, its query, or the bare code.
pub(crate) fn read_pasted(pasted: &str, expected: &Expected) -> Result<Secret, Unfit> {
    let pasted = pasted.trim();
    if pasted.is_empty() {
        return Err(Unfit::NoAnswer("nothing was pasted"));
    }
    if let Some((_, query)) = pasted.split_once('?') {
        return read_query(query.split('#').next().unwrap_or_default(), expected);
    }
    if pasted.contains("code=") || pasted.contains("error=") {
        return read_query(pasted, expected);
    }
    if pasted.contains("://") || pasted.contains(char::is_whitespace) {
        return Err(Unfit::NoAnswer("that is neither the address that the browser ended at nor a code"));
    }
    if expected.names_issuer {
        return Err(Unfit::NoAnswer("a code alone does not show who it comes from; paste the whole address"));
    }
    Ok(Secret::new(pasted))
}

fn over(words: &str, rule: &'static str) -> Unfit {
    Unfit::Over { words: words.to_owned(), rule }
}

/// Takes the same time however much of it is right.
fn same(one: &str, other: &str) -> bool {
    let differences = one.bytes().zip(other.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other));
    one.len() == other.len() && differences == 0
}

fn in_words(error: &str) -> String {
    match error {
        "access_denied" => "the login was denied".to_owned(),
        "server_error" => "the authorization server failed".to_owned(),
        "temporarily_unavailable" => "the authorization server is not available at the moment".to_owned(),
        "invalid_scope" => "the authorization server does not know the scopes that were asked for".to_owned(),
        "unauthorized_client" | "invalid_client" => "the authorization server does not take this client".to_owned(),
        other => format!("the authorization server answered `{}`", shown(other)),
    }
}

fn shown(text: &str) -> String {
    visible(&text.chars().take(LOGIN_WORDS_CHARS_MAX).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::{Expected, Unfit, read_pasted, read_query};
    use crate::secret::Secret;

    fn expected(names_issuer: bool) -> Expected {
        Expected { state: Secret::new("s1"), issuer: "https://as.example".to_owned(), names_issuer }
    }

    fn outcome(read: Result<Secret, Unfit>) -> String {
        match read {
            Ok(code) => format!("code {}", code.expose()),
            Err(Unfit::NoAnswer(words)) => format!("waits: {words}"),
            Err(Unfit::Over { words, .. }) => format!("over: {words}"),
        }
    }

    #[test]
    fn answers_are_judged_in_order() {
        let other_state = "over: the answer belongs to another login: its `state` is not the one that was sent";
        let nameless = "over: the answer does not say who it comes from, though `https://as.example` promises to";
        let cases = [
            ("code=c&state=s1", false, "code c"),
            ("state=s1&code=a%2Bb", false, "code a+b"),
            ("code=c&state=s1&iss=https%3A%2F%2Fas.example", true, "code c"),
            ("code=c&state=s1&iss=https%3A%2F%2Fas.example", false, "code c"),
            ("code=c&state=s1", true, nameless),
            ("error=access_denied&state=s1", true, nameless),
            (
                "code=c&state=s1&iss=https%3A%2F%2Fas.example%2F",
                true,
                "over: the answer comes from `https://as.example/`, not from `https://as.example`, which was asked",
            ),
            (
                "error=access_denied&error_description=secret&state=s1&iss=https%3A%2F%2Fevil.example",
                false,
                "over: the answer comes from `https://evil.example`, not from `https://as.example`, which was asked",
            ),
            ("code=c&state=s2", false, other_state),
            ("error=access_denied&state=s2", false, other_state),
            ("code=c&state=s1&state=s1", false, other_state),
            ("code=c&state=", false, other_state),
            ("code=c", false, "waits: there is no `state` in the answer"),
            ("error=access_denied", false, "waits: there is no `state` in the answer"),
            ("", false, "waits: there is neither a `code` nor an `error` in the answer"),
            ("state=s1", false, "waits: there is neither a `code` nor an `error` in the answer"),
            ("code=&state=s1", false, "over: the answer has no usable `code`"),
            ("code=a&code=b&state=s1", false, "over: the answer has no usable `code`"),
            ("error=access_denied&state=s1", false, "over: the login was denied"),
            (
                "error=x%1B%5B0m&error_description=a%0Ab&state=s1",
                false,
                "over: the authorization server answered `x\\u{1b}[0m`: a\\nb",
            ),
            ("error=server_error&code=c&state=s1", false, "over: the authorization server failed"),
        ];
        for (query, names_issuer, wanted) in cases {
            assert_eq!(outcome(read_query(query, &expected(names_issuer))), wanted, "{query}");
        }
    }

    #[test]
    fn what_a_person_pastes_is_understood() {
        let alone = "waits: a code alone does not show who it comes from; paste the whole address";
        let cases = [
            ("http://127.0.0.1:1/oauth/callback?code=c&state=s1", false, "code c"),
            (" http://127.0.0.1:1/oauth/callback?code=c&state=s1#_=_ \n", false, "code c"),
            ("code=c&state=s1", false, "code c"),
            ("abc-DEF_1.2~3", false, "code abc-DEF_1.2~3"),
            ("abc", true, alone),
            ("", false, "waits: nothing was pasted"),
            ("http://127.0.0.1:1/", false, "waits: that is neither the address that the browser ended at nor a code"),
            ("not a code", false, "waits: that is neither the address that the browser ended at nor a code"),
            (
                "http://127.0.0.1:1/?code=c&state=s2",
                false,
                "over: the answer belongs to another login: its `state` is not the one that was sent",
            ),
        ];
        for (pasted, names_issuer, wanted) in cases {
            assert_eq!(outcome(read_pasted(pasted, &expected(names_issuer))), wanted, "{pasted}");
        }
    }
}
