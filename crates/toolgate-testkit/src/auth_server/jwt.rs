//! Signed statements, read and verified without help from what is being tested.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256,
    RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};
use serde_json::{Value, json};

/// A statement taken apart.
#[derive(Clone, Debug)]
pub(crate) struct Jwt {
    pub(crate) header: Value,
    pub(crate) claims: Value,
    signed: Vec<u8>,
    signature: Vec<u8>,
}

impl Jwt {
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (signed, signature) = text.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let part = |text: &str| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok();
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        Some(Self { header: part(header)?, claims: part(claims)?, signed: signed.as_bytes().to_vec(), signature })
    }

    /// A claim that is a text.
    pub(crate) fn claim(&self, name: &str) -> Option<&str> {
        self.claims.get(name)?.as_str()
    }

    /// Whether this public key has signed it.
    pub(crate) fn is_signed_by(&self, key: &Value) -> bool {
        self.verify(key).is_some()
    }

    fn verify(&self, key: &Value) -> Option<()> {
        let part = |name: &str| URL_SAFE_NO_PAD.decode(key.get(name)?.as_str()?).ok();
        let point = || Some([vec![4], part("x")?, part("y")?].concat());
        let plain = |algorithm: &'static dyn VerificationAlgorithm, key: Vec<u8>| {
            UnparsedPublicKey::new(algorithm, key).verify(&self.signed, &self.signature).ok()
        };
        let rsa = |algorithm| {
            let components = RsaPublicKeyComponents { n: part("n")?, e: part("e")? };
            components.verify(algorithm, &self.signed, &self.signature).ok()
        };
        match self.header.get("alg")?.as_str()? {
            "ES256" => plain(&ECDSA_P256_SHA256_FIXED, point()?),
            "ES384" => plain(&ECDSA_P384_SHA384_FIXED, point()?),
            "EdDSA" => plain(&ED25519, part("x")?),
            "RS256" => rsa(&RSA_PKCS1_2048_8192_SHA256),
            "PS256" => rsa(&RSA_PSS_2048_8192_SHA256),
            _ => None,
        }
    }
}

/// SHA-256 in URL-safe Base64, as PKCE, DPoP and thumbprints use it.
pub(crate) fn sha256(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()))
}

/// What a public key is called (RFC 7638).
pub(crate) fn thumbprint(key: &Value) -> Option<String> {
    let members: &[&str] = match key.get("kty")?.as_str()? {
        "EC" => &["crv", "kty", "x", "y"],
        "RSA" => &["e", "kty", "n"],
        "OKP" => &["crv", "kty", "x"],
        _ => return None,
    };
    let mut pairs = Vec::new();
    for member in members {
        pairs.push(format!("{}:{}", json!(member), key.get(member)?));
    }
    Some(sha256(&format!("{{{}}}", pairs.join(","))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_standards_come_out() {
        assert_eq!(
            sha256("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
        let key = json!({
            "kty": "EC", "crv": "P-256", "x": "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs",
            "y": "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA",
        });
        assert_eq!(thumbprint(&key).unwrap(), "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I");
        let statement = "eyJhbGciOiJFUzI1NiJ9.\
            eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.\
            DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
        let jwt = Jwt::read(statement).unwrap();
        assert_eq!(jwt.claim("iss"), Some("joe"));
        assert!(jwt.is_signed_by(&json!({
            "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
        })));
        assert!(!jwt.is_signed_by(&key));
    }
}
