//! Which names of arguments say that what stands behind them is secret.
//!
//! Narrower than what is looked for in the names of variables: a tool whose `key` or `author` was never kept would have a useless record.

/// Parts of names, without separators and in small letters, that say it wherever they stand.
const TELLING: [&str; 29] = [
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
];

/// Words that say it when they are one of the words of a name.
const WORDS: [&str; 17] = [
    "token", "auth", "pwd", "pass", "creds", "cookie", "cookies", "bearer", "otp", "pat", "jwt", "pw", "pswd", "totp",
    "psk", "csrf", "sas",
];

/// Words before `token` that make it a place in a list, which is no secret.
const PLACES: [&str; 5] = ["page", "next", "continuation", "sync", "cursor"];

/// Whether a name says that what stands behind it is secret.
pub(super) fn names_a_secret(name: &str) -> bool {
    let spaced = spaced(name);
    let squeezed = spaced.replace(' ', "");
    if TELLING.iter().any(|telling| squeezed.contains(telling)) {
        return true;
    }
    let is_place = spaced.split(' ').any(|word| PLACES.contains(&word));
    spaced.split(' ').any(|word| WORDS.contains(&word) && !(is_place && word == "token"))
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
