//! Which names of arguments say that what stands behind them is secret.
//!
//! Narrower than what is looked for in the names of variables: a tool whose `key` or `author` was never kept would have a useless record.

/// Parts of names, without separators and in small letters, that say it wherever they stand.
const TELLING: [&str; 14] = [
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
];

/// Words that say it when they are one of the words of a name.
const WORDS: [&str; 11] = ["token", "auth", "pwd", "pass", "creds", "cookie", "cookies", "bearer", "otp", "pat", "jwt"];

/// Words before `token` that make it a place in a list, which is no secret.
const PLACES: [&str; 5] = ["page", "next", "continuation", "sync", "cursor"];

/// Whether a name says that what stands behind it is secret.
pub(super) fn names_a_secret(name: &str) -> bool {
    let words = words(name);
    let squeezed = words.concat();
    if TELLING.iter().any(|telling| squeezed.contains(telling)) {
        return true;
    }
    let is_place = words.iter().any(|word| PLACES.contains(&word.as_str()));
    words.iter().any(|word| WORDS.contains(&word.as_str()) && !(is_place && word == "token"))
}

/// The words of `someName`, `some_name`, `some-name` or `SOME_NAME`, in small letters.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = '_';
    for letter in name.chars() {
        if letter.is_alphanumeric() {
            let begins = !before.is_alphanumeric() || (before.is_lowercase() && letter.is_uppercase());
            if begins || words.is_empty() {
                words.push(String::new());
            }
            words.last_mut().into_iter().for_each(|word| word.extend(letter.to_lowercase()));
        }
        before = letter;
    }
    words
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
        ];
        for name in secret {
            assert!(names_a_secret(name), "{name}");
        }
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
        ];
        for name in plain {
            assert!(!names_a_secret(name), "{name}");
        }
    }
}
