//! What looks like a secret: names such as `API_KEY`, and values whose form gives them away.
//!
//! Written by hand and in one pass over the bytes, because it runs over the whole environment when a host starts. Letter case is ignored,
//! as in the environments of some systems. Rather too much is taken for a secret than too little.

/// The longest name or password looked for in an address.
const URL_PART_BYTES: usize = 1024;

/// Most keys, certificates and tokens are longer: the first part alone of a JSON web token has as much.
const SHORT_BYTES: usize = 16;

/// Whether a name says that what it stands for is secret.
#[must_use]
pub fn names_a_secret(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.iter().enumerate().any(|(index, byte)| {
        let words: &[&str] = match byte.to_ascii_uppercase() {
            b'A' => &["AUTH"],
            b'C' => &["CERT", "CREDENTIAL", "CREDS"],
            b'K' => &["KEY"],
            b'P' => &["PASSWD", "PASSWORD", "PRIVATE"],
            b'S' => &["SECRET"],
            b'T' => &["TOKEN"],
            _ => return false,
        };
        bytes.get(index..).is_some_and(|rest| words.iter().any(|word| after(rest, word).is_some()))
    })
}

/// Whether a value looks like a private key, a certificate, an address with a password, or a token of a well-known kind.
#[must_use]
pub fn value_looks_secret(value: &str) -> bool {
    let bytes = value.as_bytes();
    // Only an address with a password and what begins with `xox` are that short.
    if bytes.len() < SHORT_BYTES && !bytes.iter().any(|byte| matches!(byte, b':' | b'x' | b'X')) {
        return false;
    }
    // A byte that can start one of the forms comes first, so that most bytes cost one comparison.
    bytes.iter().enumerate().any(|(index, byte)| {
        let Some(rest) = bytes.get(index..) else { return false };
        match byte.to_ascii_lowercase() {
            b'-' => is_pem(rest),
            b':' => after(rest, "://").is_some_and(has_password),
            b'g' => is_github_token(rest),
            b'a' => is_google_key(rest) || is_aws_key(rest),
            b'e' => is_json_web_token(rest),
            b's' | b'r' => is_stripe_key(rest),
            b'x' => is_slack_token(rest),
            _ => false,
        }
    })
}

/// What follows a prefix.
fn after<'t>(text: &'t [u8], prefix: &str) -> Option<&'t [u8]> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix.as_bytes()).then_some(rest)
}

/// Whether at least `count` bytes at the start are of a kind.
fn starts_with(text: &[u8], count: usize, is_kind: impl Fn(u8) -> bool) -> bool {
    text.get(..count).is_some_and(|start| start.iter().all(|byte| is_kind(*byte)))
}

/// How many bytes at the start are of a kind, as far as it is worth counting.
fn run(text: &[u8], count_max: usize, is_kind: impl Fn(u8) -> bool) -> usize {
    text.iter().take(count_max).take_while(|byte| is_kind(**byte)).count()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_base64url(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

/// `-----BEGIN … PRIVATE KEY` or `-----BEGIN CERTIFICATE`.
fn is_pem(text: &[u8]) -> bool {
    const LABEL_BYTES: usize = 48;
    let Some(label) = after(text, "-----BEGIN ") else { return false };
    let label = label.get(..LABEL_BYTES).unwrap_or(label);
    after(label, "CERTIFICATE").is_some()
        || label.windows(b"PRIVATE KEY".len()).any(|window| window.eq_ignore_ascii_case(b"PRIVATE KEY"))
}

/// `name:password@` right after `://`. The name may be missing, as with Redis.
fn has_password(address: &[u8]) -> bool {
    let part = |byte: u8| !byte.is_ascii_whitespace();
    let name = run(address, URL_PART_BYTES, |byte| part(byte) && byte != b':');
    let Some(password) = address.get(name..).and_then(|rest| after(rest, ":")) else { return false };
    let length = run(password, URL_PART_BYTES, |byte| part(byte) && byte != b'@');
    length > 0 && password.get(length) == Some(&b'@')
}

fn is_github_token(text: &[u8]) -> bool {
    const PREFIXES: [&str; 6] = ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"];
    PREFIXES.iter().any(|prefix| after(text, prefix).is_some_and(|rest| starts_with(rest, 36, is_word)))
}

fn is_google_key(text: &[u8]) -> bool {
    after(text, "AIzaSy").is_some_and(|rest| starts_with(rest, 33, is_base64url))
}

fn is_aws_key(text: &[u8]) -> bool {
    after(text, "AKIA").is_some_and(|rest| starts_with(rest, 16, |byte| byte.is_ascii_alphanumeric()))
}

/// Three parts of base64 with dots between them, the first of which starts like the JSON object it encodes.
fn is_json_web_token(text: &[u8]) -> bool {
    let second = after(text, "eyJ").and_then(after_part);
    second.and_then(after_part).is_some_and(|third| starts_with(third, 1, is_base64url))
}

/// What follows a part of base64 and the dot behind it.
fn after_part(text: &[u8]) -> Option<&[u8]> {
    const PART_BYTES: usize = 4096;
    let length = run(text, PART_BYTES, is_base64url);
    if length == 0 { None } else { after(text.get(length..)?, ".") }
}

fn is_stripe_key(text: &[u8]) -> bool {
    const PREFIXES: [&str; 4] = ["sk_live_", "sk_test_", "rk_live_", "rk_test_"];
    let is_key = |rest| starts_with(rest, 24, |byte| byte.is_ascii_alphanumeric());
    PREFIXES.iter().any(|prefix| after(text, prefix).is_some_and(is_key))
}

fn is_slack_token(text: &[u8]) -> bool {
    ["xoxa-", "xoxb-", "xoxp-", "xoxr-"].iter().any(|prefix| after(text, prefix).is_some())
}

#[cfg(test)]
mod tests {
    use super::{names_a_secret, value_looks_secret};

    #[test]
    fn forms_of_secrets_are_recognised() {
        let many = |letter: &str, count| letter.repeat(count);
        let secrets = [
            "-----BEGIN RSA PRIVATE KEY-----\nMII".to_owned(),
            "x -----BEGIN OPENSSH PRIVATE KEY-----".to_owned(),
            "-----BEGIN EC PRIVATE KEY-----".to_owned(),
            "-----BEGIN PRIVATE KEY-----".to_owned(),
            "-----BEGIN PGP PRIVATE KEY BLOCK-----".to_owned(),
            "-----begin certificate-----".to_owned(),
            "https://ada:sesame@host/x".to_owned(),
            "see smtp://a:b@c now".to_owned(),
            "postgres://ada:sesame@db:5432/x".to_owned(),
            "redis://:sesame@cache".to_owned(),
            format!("ghp_{}", many("a", 36)),
            format!("GITHUB_PAT_{}", many("9", 40)),
            format!("AIzaSy{}", many("x", 33)),
            format!("key=AKIA{}", many("Z", 16)),
            "eyJhbGciOi.eyJzdWIi.c2ln-_".to_owned(),
            format!("sk_live_{}", many("1", 24)),
            format!("rk_test_{}", many("1", 24)),
            "xoxb-1".to_owned(),
        ];
        for value in secrets {
            assert!(value_looks_secret(&value), "{value}");
            assert!(value_looks_secret(&value.to_uppercase()), "{value} in capitals");
        }
    }

    #[test]
    fn ordinary_values_are_not() {
        let many = |letter: &str, count| letter.repeat(count);
        let ordinary = [
            String::new(),
            "/usr/bin:/bin".to_owned(),
            "https://host:8080/path".to_owned(),
            "https://host/a@b".to_owned(),
            "http://ada@host".to_owned(),
            "http://ada:@host".to_owned(),
            "a: b@c".to_owned(),
            "-----BEGIN PUBLIC KEY-----".to_owned(),
            format!("ghp_{}", many("a", 35)),
            format!("AIzaSy{}", many("x", 32)),
            format!("AKIA{}", many("Z", 15)),
            "eyJ.a.b".to_owned(),
            "eyJx.y".to_owned(),
            "eyJx..z".to_owned(),
            format!("sk_live_{}", many("1", 23)),
            "xox-1".to_owned(),
            format!("http://{}:b@c", many("a", 1025)),
            "漢字://é:".to_owned(),
        ];
        for value in ordinary {
            assert!(!value_looks_secret(&value), "{value}");
        }
    }

    #[test]
    fn names_of_secrets_are_recognised() {
        for name in ["API_KEY", "github_token", "MyPassword", "DB_PASSWD", "SSH_AUTH_SOCK", "TLS_CERT", "--private"] {
            assert!(names_a_secret(name), "{name}");
        }
        for name in ["", "PATH", "LANG", "EDITOR", "PASS", "TOK_EN"] {
            assert!(!names_a_secret(name), "{name}");
        }
    }
}
