//! Secrets within a text, by their form: keys, tokens of well-known kinds, addresses with passwords, headers, and what follows a name that
//! says so. Only they are covered; a text in which something is left that looks like a secret is covered as a whole.

use std::borrow::Cow;
use std::sync::OnceLock;

use regex::{Captures, Regex};

use super::secret_look::value_looks_secret;

/// Stands for a secret.
pub(crate) const COVERED: &str = "[secret]";

/// One form: words of which a text must have one, in small letters, so that most texts cost no more than that; the pattern; and what is left
/// of what it matches.
struct Form {
    hints: &'static [&'static str],
    pattern: &'static str,
    left: Left,
}

/// What is left of what a pattern matches.
enum Left {
    /// This, in which `${1}` is the first group.
    Text(&'static str),
    /// The first group; then the second one covered, in its quotes when it stands in quotes.
    Value,
}

/// What says in a name that a secret follows.
const NAMES: &[&str] = &["password", "passwd", "passphrase", "pwd", "secret", "token", "key", "credential"];

/// A word of a command line, with what is quoted in it; the same where it is no option; and one with a colon. A quote that it begins with goes on
/// to its end, or to that of the text; one further on that never ends may be that of what stands around the word.
macro_rules! word {
    () => {
        concat!(r#"(?:"(?:[^"\\]|\\.)*(?:"|\z)|'[^']*(?:'|\z)|\\.|[^\s"'&;,\\])"#, word!(rest))
    };
    (no option) => {
        concat!(r#"(?:"(?:[^"\\]|\\.)*(?:"|\z)|'[^']*(?:'|\z)|\\.|[^\s"'&;,\\-])"#, word!(rest))
    };
    (rest) => {
        r#"(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'&;,\\])*"#
    };
    (pair) => {
        concat!(r#"(?:"[^":]*:(?:[^"\\]|\\.)*(?:"|\z)|'[^':]*:[^']*(?:'|\z)|[^\s"':]*:"#, word!(), ")")
    };
}

/// The forms. Rather too much is covered than too little.
const FORMS: [Form; 17] = [
    // A private key or certificate, up to its end.
    Form {
        hints: &["-----begin "],
        pattern: r"(?is)-----BEGIN [0-9A-Z ]*(?:PRIVATE KEY|CERTIFICATE)[0-9A-Z ]*-----.*?(?:-----END [0-9A-Z ]*-----|\z)",
        left: Left::Text("[secret]"),
    },
    // The password in an address.
    Form { hints: &["://"], pattern: r"(://[^\s/:@]*:)[^\s/]+@", left: Left::Text("${1}[secret]@") },
    // The same where it is not certain what is the password.
    Form { hints: &["://"], pattern: r"(://)[^\s:]*:[^\s@\[][^\s@]*@", left: Left::Text("${1}[secret]@") },
    // A header, up to the end of its line or of the word it stands in.
    Form {
        hints: &["authorization", "cookie", "x-"],
        pattern: r#"(?i)((?:proxy-)?authorization|(?:set-)?cookie|x-[a-z-]*(?:key|token))("?\s*[:=]\s*"?)[^"'\r\n]+"#,
        left: Left::Text("${1}${2}[secret]"),
    },
    // The value of something whose name says so, when both stand in one pair of quotes.
    Form {
        hints: NAMES,
        pattern: r#"(?i)("[^"\s=:]*(?:password|passwd|passphrase|pwd|secret|token|(?:api|access|private|secret)[_-]?key|credentials?)[=:])[^"\\\s](?:[^"\\]|\\.)*""#,
        left: Left::Text("${1}[secret]\""),
    },
    Form {
        hints: NAMES,
        pattern: r"(?i)('[^'\s=:]*(?:password|passwd|passphrase|pwd|secret|token|(?:api|access|private|secret)[_-]?key|credentials?)[=:])[^'\s][^']*'",
        left: Left::Text("${1}[secret]'"),
    },
    // The value of something whose name says so: in a command line, an address, a file of variables.
    Form {
        hints: NAMES,
        pattern: concat!(
            r#"(?is)((?:password|passwd|passphrase|pwd|secret|token|(?:api|access|private|secret)[_-]?key|credentials?)["']?\s*[:=]\s*)("#,
            word!(),
            ")"
        ),
        left: Left::Value,
    },
    // The same as an option with its value behind it.
    Form {
        hints: NAMES,
        pattern: concat!(
            r"(?is)(\s-[a-z0-9-]*(?:password|passwd|passphrase|token|secret|(?:api|access|private|secret)-?key)\s+)(",
            word!(no option),
            ")"
        ),
        left: Left::Value,
    },
    // Options of single letters, of programs that take a password so.
    Form {
        hints: &["curl", "wget"],
        pattern: concat!(r"(?s)(\s(?:-[a-zA-Z]*[uU]|--user|--proxy-user)(?:\s+|=|))(", word!(pair), ")"),
        left: Left::Value,
    },
    Form {
        hints: &["mysql", "mariadb"],
        pattern: concat!(r"(?s)((?:mysql|mariadb)[^|;&\n]*?\s-[a-zA-OQ-Z]*?p)(", word!(), ")"),
        left: Left::Value,
    },
    Form {
        hints: &["sshpass", "mongo"],
        pattern: concat!(r"(?s)((?:sshpass|mongo)[^|;&\n]*?\s-p\s*)(", word!(no option), ")"),
        left: Left::Value,
    },
    Form {
        hints: &["login"],
        pattern: concat!(r"(?s)((?-u:\b)login(?-u:\b)[^|;&\n]*?\s-p(?:\s+|=|))(", word!(no option), ")"),
        left: Left::Value,
    },
    Form {
        hints: &["redis-cli", "ldap", "zip", "7z"],
        pattern: concat!(
            r"(?s)((?:redis-cli[^|;&\n]*?\s-a\s+|ldap[a-z]+(?-u:\b)[^|;&\n]*?\s-w\s*|zip[^|;&\n]*?\s-P\s*|7z[^|;&\n]*?\s-p))(",
            word!(no option),
            ")"
        ),
        left: Left::Value,
    },
    Form { hints: &["pass:"], pattern: concat!(r"(?s)((?-u:\b)pass:)(", word!(), ")"), left: Left::Value },
    // What a client proves itself with.
    Form {
        hints: &["bearer"],
        pattern: r"(?i)((?-u:\b)bearer\s+)[0-9A-Za-z._~+/=-]{12,}",
        left: Left::Text("${1}[secret]"),
    },
    // A JSON web token.
    Form {
        hints: &["eyj"],
        pattern: r"(?-u:\b)eyJ[0-9A-Za-z_-]*\.[0-9A-Za-z_-]+\.[0-9A-Za-z_-]*",
        left: Left::Text("[secret]"),
    },
    // Tokens that begin in a way of their own.
    Form {
        hints: &[
            "ghp_",
            "gho_",
            "ghu_",
            "ghs_",
            "ghr_",
            "github_pat_",
            "glpat-",
            "sk-",
            "sk_",
            "rk_",
            "xox",
            "xapp-",
            "akia",
            "asia",
            "aiza",
            "ya29.",
            "npm_",
            "hf_",
            "pypi-",
            "dop_v1_",
            "sg.",
        ],
        pattern: r"(?-u:\b)(?:gh[pousr]_[0-9A-Za-z_]{16,}|github_pat_[0-9A-Za-z_]{16,}|glpat-[0-9A-Za-z_-]{16,}|sk-[0-9A-Za-z_-]{16,}|[sr]k_(?:live|test)_[0-9A-Za-z]{16,}|xox[a-z]-[0-9A-Za-z-]+|xapp-[0-9A-Za-z-]{8,}|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{20,}|ya29\.[0-9A-Za-z_-]{16,}|npm_[0-9A-Za-z]{20,}|hf_[0-9A-Za-z]{20,}|pypi-[0-9A-Za-z_-]{20,}|dop_v1_[0-9a-f]{20,}|SG\.[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{10,})",
        left: Left::Text("[secret]"),
    },
];

/// The patterns that were needed so far.
static COMPILED: [OnceLock<Option<Regex>>; FORMS.len()] = [const { OnceLock::new() }; FORMS.len()];

impl Left {
    fn of(&self, pattern: &Regex, text: &str) -> String {
        match self {
            Self::Text(left) => pattern.replace_all(text, *left).into_owned(),
            Self::Value => pattern.replace_all(text, covered_value).into_owned(),
        }
    }
}

fn covered_value(found: &Captures<'_>) -> String {
    let group = |nth| found.get(nth).map_or("", |group| group.as_str());
    let (before, value) = (group(1), group(2));
    // Another form was there first, and knows better where the secret ends.
    if value.trim_start_matches(['"', '\'']).starts_with(COVERED) {
        return group(0).to_owned();
    }
    let quote = value.chars().next().filter(|first| {
        let inner = value.strip_prefix(*first).and_then(|rest| rest.strip_suffix(*first));
        matches!(first, '"' | '\'') && inner.is_some_and(|inner| !inner.contains(*first))
    });
    let quote = quote.map(String::from).unwrap_or_default();
    format!("{before}{quote}{COVERED}{quote}")
}

/// The most hints that a form has.
const HINTS_MAX: usize = 24;

/// The letters of every hint, in their order.
static LETTERS: [[u64; HINTS_MAX]; FORMS.len()] = {
    let mut all = [[0; HINTS_MAX]; FORMS.len()];
    let mut form = 0;
    while form < FORMS.len() {
        let mut hint = 0;
        while hint < FORMS[form].hints.len() {
            all[form][hint] = letters(FORMS[form].hints[hint]);
            hint += 1;
        }
        form += 1;
    }
    all
};

/// Which letters a text has, roughly: one that lacks a letter of a word is not searched for the word.
const fn letters(text: &str) -> u64 {
    let (bytes, mut letters, mut at) = (text.as_bytes(), 0, 0);
    while at < bytes.len() {
        letters |= 1 << (bytes[at] & 63);
        at += 1;
    }
    letters
}

/// The text with its secrets covered.
pub(crate) fn covered(text: &str) -> Cow<'_, str> {
    let small = text.to_ascii_lowercase();
    let has = letters(&small);
    let has_hint = |(hint, letters): (&&str, &u64)| letters & !has == 0 && small.contains(*hint);
    let mut clean = Cow::Borrowed(text);
    for ((form, letters), compiled) in FORMS.iter().zip(&LETTERS).zip(&COMPILED) {
        if !form.hints.iter().zip(letters).any(has_hint) {
            continue;
        }
        match compiled.get_or_init(|| Regex::new(form.pattern).ok()) {
            Some(pattern) => clean = Cow::Owned(form.left.of(pattern, &clean)),
            None => return Cow::Borrowed(COVERED),
        }
    }
    // An address whose password is covered looks as if it had one.
    let looks_secret = if clean.contains(COVERED) {
        value_looks_secret(&clean.replace(":[secret]@", "@"))
    } else {
        value_looks_secret(&clean)
    };
    if looks_secret { Cow::Borrowed(COVERED) } else { clean }
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::{FORMS, covered};

    #[test]
    fn every_pattern_is_one() {
        for form in FORMS {
            assert!(Regex::new(form.pattern).is_ok(), "{}", form.pattern);
            assert!(form.hints.iter().all(|hint| *hint == hint.to_lowercase()), "{:?}", form.hints);
        }
    }

    #[test]
    fn only_the_secret_is_covered() {
        let a = |count| "a1B2".repeat(count);
        let cases = [
            ("ls -l src".to_owned(), "ls -l src"),
            ("basic understanding of the bearer of a token".to_owned(), "basic understanding of the bearer of a token"),
            (
                "max_tokens=5 task-1234567890123456 risk-averse".to_owned(),
                "max_tokens=5 task-1234567890123456 risk-averse",
            ),
            ("https://host:8080/a b@c".to_owned(), "https://host:8080/a b@c"),
            (format!("git clone https://ada:{}@host/x.git", a(3)), "git clone https://ada:[secret]@host/x.git"),
            ("redis://:s3@cache".to_owned(), "redis://:[secret]@cache"),
            (format!("GITHUB_TOKEN={} make release", a(2)), "GITHUB_TOKEN=[secret] make release"),
            ("mysql --user root --password hunter2 -e x".to_owned(), "mysql --user root --password [secret] -e x"),
            ("mysql --password=hunter2".to_owned(), "mysql --password=[secret]"),
            (r#"{"apiKey": "abc", "n": 1}"#.to_owned(), r#"{"apiKey": "[secret]", "n": 1}"#),
            ("curl -H 'Authorization: Basic YWRh' x".to_owned(), "curl -H 'Authorization: [secret]' x"),
            ("curl -H \"X-Api-Key: abc\" x".to_owned(), "curl -H \"X-Api-Key: [secret]\" x"),
            ("see Bearer abcdefghijkl.mn now".to_owned(), "see Bearer [secret] now"),
            (format!("use ghp_{} please", a(9)), "use ghp_[secret] please"),
            (format!("sk-{}", a(5)), "[secret]"),
            ("AKIAIOSFODNN7EXAMPLE".to_owned(), "[secret]"),
            ("x eyJhbGciOi.eyJzdWIi.c2ln-_ y".to_owned(), "x [secret] y"),
            ("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nrest".to_owned(), "[secret]\nrest"),
            ("-----BEGIN PRIVATE KEY-----\nMII".to_owned(), "[secret]"),
            ("http://ada:a/b@host/".to_owned(), "http://[secret]@host/"),
            ("curl -u ada:hunter2 x".to_owned(), "curl -u [secret] x"),
            ("curl -su 'ada:correct horse' x | sort -u".to_owned(), "curl -su '[secret]' x | sort -u"),
            ("curl --user=ada:pw x".to_owned(), "curl --user=[secret] x"),
            ("mysql -uroot -phunter2 db".to_owned(), "mysql -uroot -p[secret] db"),
            ("mysql -P 3306 -p db".to_owned(), "mysql -P 3306 -p db"),
            ("mysqldump -p'correct horse' db".to_owned(), "mysqldump -p'[secret]' db"),
            ("sshpass -p hunter2 ssh host".to_owned(), "sshpass -p [secret] ssh host"),
            ("docker login -u ada -p hunter2 host".to_owned(), "docker login -u ada -p [secret] host"),
            ("docker login --password-stdin host".to_owned(), "docker login --password-stdin host"),
            ("redis-cli -a hunter2 ping".to_owned(), "redis-cli -a [secret] ping"),
            ("openssl rsa -passin pass:hunter2".to_owned(), "openssl rsa -passin pass:[secret]"),
            ("x --password 'correct horse' y".to_owned(), "x --password '[secret]' y"),
            ("x --password \"it's a \\\" horse\" y".to_owned(), "x --password [secret] y"),
            ("x '--password=correct horse' y".to_owned(), "x '--password=[secret]' y"),
            ("DB_PASSWORD=\"one two\" make".to_owned(), "DB_PASSWORD=\"[secret]\" make"),
            ("DB_PASSWORD=one'two three' make".to_owned(), "DB_PASSWORD=[secret] make"),
            ("psql \"host=x password=abc\" -c x".to_owned(), "psql \"host=x password=[secret]\" -c x"),
            ("DB_PASSWORD=one\\ two make".to_owned(), "DB_PASSWORD=[secret] make"),
            ("export DB_PASSWORD='one\ntwo".to_owned(), "export DB_PASSWORD=[secret]"),
        ];
        for (text, expected) in cases {
            let expected = expected.replace("ghp_[secret]", "[secret]");
            assert_eq!(covered(&text), expected, "{text}");
        }
    }
}
