//! What a model is told about a result that is kept whole: what it does not see of it, how large it is, and what to read it by.

use super::for_model::{ModelContent, ModelPart};
use crate::results::ResultHandle;

impl ModelContent {
    /// The same, with a last part in our own words that says what was cut and that the whole result is kept. It stands apart from what the
    /// server said, so that no server can say it.
    #[must_use]
    pub fn naming_kept(mut self, kept: &ResultHandle) -> Self {
        let whole = format!("whole result ({}) is kept as {}", size(kept.bytes()), kept.short());
        self.parts.push(ModelPart::Text(match &self.truncation {
            Some(truncation) => format!("[{truncation}; the {whole}]"),
            None => format!("[The {whole}]"),
        }));
        self
    }
}

/// A size as people say it.
fn size(bytes: u64) -> String {
    let in_unit = |unit: u64, name: &str| {
        let tenths = bytes.saturating_add(unit / 20) / (unit / 10);
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    };
    match bytes {
        1 => "1 byte".to_owned(),
        0..1_000 => format!("{bytes} bytes"),
        1_000..999_950 => in_unit(1_000, "KB"),
        _ => in_unit(1_000_000, "MB"),
    }
}

#[cfg(test)]
mod tests {
    use toolgate_wire::RawJson;
    use toolgate_wire::view::CallResult;

    use super::size;
    use crate::results::ResultHandle;
    use crate::shape::for_model::{ModelContent, shape_within};

    fn shaped(chars_max: usize) -> ModelContent {
        let text = r#"{"content":[{"type":"text","text":"0123456789"}]}"#;
        shape_within("t", &CallResult::read(RawJson::from_bytes(text).unwrap()).unwrap(), chars_max)
    }

    #[test]
    fn a_model_is_told_what_was_cut_and_where_the_rest_is() {
        let kept = ResultHandle::of(&vec![b'x'; 1_234_567]);
        let short = kept.short();
        let seen = "<untrusted_context>\n0\n\n… [5 characters left out] …\n\n6789\n</untrusted_context>";
        let whole = "<untrusted_context>\n0123456789\n</untrusted_context>";
        let cases = [
            (
                5,
                format!("{seen}\n[5 of 10 characters shown, 5 left out; the whole result (1.2 MB) is kept as {short}]"),
            ),
            (10, format!("{whole}\n[The whole result (1.2 MB) is kept as {short}]")),
        ];
        for (chars_max, expected) in cases {
            let plain = shaped(chars_max);
            let naming = plain.clone().naming_kept(&kept);
            assert_eq!(naming.text(), expected);
            assert_eq!(naming.truncation, plain.truncation);
            assert_eq!(naming.parts.split_last().unwrap().1, plain.parts);
        }
        assert_eq!(shaped(5).text(), seen, "nothing is said where nothing is kept");
    }

    #[test]
    fn sizes_are_short() {
        let cases = [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1_000, "1.0 KB"),
            (1_049, "1.0 KB"),
            (1_050, "1.1 KB"),
            (999_949, "999.9 KB"),
            (999_950, "1.0 MB"),
            (67_108_864, "67.1 MB"),
            (u64::MAX, "18446744073709.5 MB"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(size(bytes), expected);
        }
    }
}
