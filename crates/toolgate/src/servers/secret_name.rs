//! Which names of arguments say that what stands behind them is secret.
//!
//! Narrower than what is looked for in the names of variables: a tool whose `key` or `author` was never kept would have a useless record.

/// Parts of names, without separators and in small letters, that say it wherever they stand.
const TELLING: [&str; 53] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "apikey",
    "privatekey",
    "accesskey",
    "signingkey",
    "encryptionkey",
    "authorization",
    "credential",
    "connectionstring",
    "accesstoken",
    "refreshtoken",
    "passcode",
    "passkey",
    "accountkey",
    "storagekey",
    "sharedkey",
    "sharedaccess",
    "masterkey",
    "subscriptionkey",
    "webhookurl",
    "seedphrase",
    "mnemonic",
    "recoverycode",
    "sessiontoken",
    "servicekey",
    "licensekey",
    "secretaccesskey",
    "recoveryphrase",
    "phpsessid",
    "jsessionid",
    "connectsid",
    "requirepass",
    "masterauth",
    "passw0rd",
    "passwort",
    "kennwort",
    "motdepasse",
    "contraseña",
    "contrasena",
    "senha",
    "parola",
    "mfacode",
    "otpcode",
    "wachtwoord",
    "hasło",
    "пароль",
    "密码",
    "密碼",
    "パスワード",
    "비밀번호",
];

/// Words that say it when they are one of the words of a name.
const WORDS: [&str; 17] = [
    "token", "auth", "pwd", "pass", "creds", "cookie", "cookies", "bearer", "otp", "pat", "jwt", "pw", "pswd", "totp",
    "psk", "csrf", "sas",
];

/// Ordinary words that end like a name with `pass` at its end.
const PASSES: [&str; 9] =
    ["compass", "encompass", "bypass", "surpass", "trespass", "overpass", "underpass", "renderpass", "firstpass"];

/// Words before `KEY` in the name of a variable that make it a place in a table.
const PLAIN_KEYS: [&str; 16] = [
    "public",
    "primary",
    "foreign",
    "issue",
    "project",
    "sort",
    "partition",
    "cache",
    "row",
    "range",
    "hash",
    "object",
    "index",
    "group",
    "s3",
    "lookup",
];

/// Last words of a name that say something about a secret, which is none itself.
const ABOUT: [&str; 22] = [
    "file", "path", "stdin", "policy", "length", "field", "env", "type", "url", "uri", "count", "limit", "min", "max",
    "reset", "manager", "expiry", "expires", "ttl", "prompt", "required", "name",
];

/// Words before `token` that make it a place in a list, which is no secret.
const PLACES: [&str; 5] = ["page", "next", "continuation", "sync", "cursor"];

/// Whether a name says that what stands behind it is secret.
pub(crate) fn names_a_secret(name: &str) -> bool {
    let spaced = spaced(name);
    let squeezed = spaced.replace(' ', "");
    if TELLING.iter().any(|telling| squeezed.contains(telling)) {
        return true;
    }
    if spaced.split(' ').any(is_joined) || is_key_variable(name, &spaced) {
        return true;
    }
    let is_place = spaced.split(' ').any(|word| PLACES.contains(&word));
    spaced.split(' ').any(|word| WORDS.contains(&word) && !(is_place && word == "token"))
}

/// The same in a text, where a name that only speaks of a secret has no secret behind it.
pub(super) fn names_a_secret_in_text(name: &str) -> bool {
    let is_about = spaced(name).rsplit(' ').next().is_some_and(|last| ABOUT.contains(&last));
    !is_about && names_a_secret(name)
}

/// Whether a name is one of those that are ordinary words, too.
pub(super) fn is_ambiguous(name: &str) -> bool {
    const AMBIGUOUS: [&str; 9] = ["auth", "pass", "cookie", "cookies", "pat", "sas", "otp", "creds", "bearer"];
    let spaced = spaced(name);
    let squeezed = spaced.replace(' ', "");
    !TELLING.iter().any(|telling| squeezed.contains(telling)) && spaced.split(' ').any(|word| AMBIGUOUS.contains(&word))
}

/// `dbpass`, `rootpw`: what it is about and the word for it in one.
fn is_joined(word: &str) -> bool {
    (word.len() > 4 && word.ends_with("pass") && !PASSES.contains(&word))
        || (word.len() > 2 && word.is_ascii() && word.ends_with("pw"))
}

/// `STRIPE_KEY`: a variable, by its letters.
fn is_key_variable(name: &str, spaced: &str) -> bool {
    let name = name.trim_start_matches('$');
    let is_variable =
        name.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_');
    is_variable
        && (name.ends_with("_KEY") || name.ends_with("_WEBHOOK"))
        && !spaced.split(' ').any(|word| PLAIN_KEYS.contains(&word))
}

/// The words of `someName`, `some_name`, `some-name` or `SOME_NAME`, in small letters, with blanks between them.
fn spaced(name: &str) -> String {
    let mut spaced = String::with_capacity(name.len() + 8);
    let mut before = '_';
    for letter in name.chars() {
        if letter.is_alphanumeric() {
            let begins = !before.is_alphanumeric() || (before.is_lowercase() && letter.is_uppercase());
            if begins && !spaced.is_empty() {
                spaced.push(' ');
            }
            spaced.extend(letter.to_lowercase());
        }
        before = letter;
    }
    spaced
}

#[cfg(test)]
mod tests {
    use super::names_a_secret;

    #[test]
    fn names_of_secrets_are_recognised() {
        let secret = [
            "password",
            "Password",
            "db_passwd",
            "userPassword",
            "passphrase",
            "token",
            "accessToken",
            "github-token",
            "GITHUB_TOKEN",
            "api_key",
            "apiKey",
            "API-KEY",
            "x-api-key",
            "client_secret",
            "authorization",
            "Authorization",
            "auth",
            "cookie",
            "Set-Cookie",
            "private_key",
            "privateKey",
            "aws_secret_access_key",
            "credentials",
            "pwd",
            "bearer",
            "otp",
            "connection_string",
            "jwt",
            "passcode",
            "db_pw",
            "AccountKey",
            "SharedAccessKey",
            "wifi-psk",
            "X-CSRF-Token",
            "DBPASS",
            "rootpw",
            "olcRootPW",
            "STRIPE_KEY",
            "contraseña",
            "Пароль",
            "Secret access key",
        ];
        for name in secret {
            assert!(names_a_secret(name), "{name}");
        }
    }

    #[test]
    fn other_names_are_not() {
        let plain = [
            "",
            "path",
            "key",
            "keys",
            "author",
            "authors",
            "tokens",
            "max_tokens",
            "pageToken",
            "next_page_token",
            "keyword",
            "certain",
            "compass",
            "passenger",
            "query",
            "pattern",
            "issue_key",
            "sync_token",
            "spatial",
            "bypass",
            "compass",
            "ISSUE_KEY",
            "PUBLIC_KEY",
            "primaryKey",
        ];
        for name in plain {
            assert!(!names_a_secret(name), "{name}");
        }
    }
}
