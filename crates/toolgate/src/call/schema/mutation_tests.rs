//! Thousands of schemas, words and values, most of them broken in some way: nothing here may panic, hang, or lose a value.

use toolgate_wire::RawJson;
use toolgate_wire::view::CallResult;

use crate::call::{arguments, schema};
use crate::shape::{for_display, for_model, visible};

const ROUNDS: usize = 4_000;

/// Pieces that mean something to a schema, in good and in bad places.
const PIECES: [&str; 62] = [
    r#"{"type":"object"}"#,
    r#"{"type":"string"}"#,
    r#"{"type":["integer","null"]}"#,
    r#"{"type":[]}"#,
    r#"{"type":7}"#,
    r##"{"$ref":"#"}"##,
    r##"{"$ref":"#/$defs/a"}"##,
    r##"{"$ref":"#/$defs/b"}"##,
    r##"{"$ref":"#/properties/a"}"##,
    r##"{"$ref":"#/enum/0"}"##,
    r##"{"$ref":"#x"}"##,
    r#"{"$ref":"x"}"#,
    r#"{"$ref":"%"}"#,
    r#"{"$ref":7}"#,
    r##"{"$dynamicRef":"#x","$dynamicAnchor":"x"}"##,
    r##"{"$recursiveRef":"#","$recursiveAnchor":true}"##,
    r#"{"$anchor":"x"}"#,
    r#"{"$id":"x"}"#,
    r##"{"$id":"#x"}"##,
    r#"{"$id":"http://[::1"}"#,
    r#"{"$schema":"http://json-schema.org/draft-04/schema#"}"#,
    r#"{"$schema":"urn:x"}"#,
    r#"{"$schema":7}"#,
    r#"{"id":"http://a b"}"#,
    r#"{"pattern":"^(a+)+$"}"#,
    r#"{"pattern":"(?=x)\\1"}"#,
    r#"{"pattern":"[\\"}"#,
    r#"{"pattern":""}"#,
    r#"{"patternProperties":{"(":true,"^a":{"type":"string"}}}"#,
    r#"{"enum":[1,"a",null,{"a":[]}]}"#,
    r#"{"enum":[]}"#,
    r#"{"const":{"$ref":"http://x"}}"#,
    r#"{"format":"date-time"}"#,
    r#"{"format":"regex"}"#,
    r#"{"format":"\u0000"}"#,
    r#"{"minimum":1e400}"#,
    r#"{"multipleOf":0}"#,
    r#"{"multipleOf":1e-300}"#,
    r#"{"maxLength":-1}"#,
    r#"{"minItems":18446744073709551616}"#,
    r#"{"uniqueItems":true}"#,
    r#"{"required":["a","a"]}"#,
    r#"{"required":true}"#,
    r#"{"additionalProperties":false}"#,
    r#"{"unevaluatedProperties":false}"#,
    r#"{"unevaluatedItems":{"type":"string"}}"#,
    r#"{"dependentSchemas":{"a":{"required":["b"]}}}"#,
    r#"{"dependencies":{"a":["b"],"b":{"type":"object"}}}"#,
    r#"{"propertyNames":{"maxLength":1}}"#,
    r#"{"contains":{"type":"integer"},"minContains":0,"maxContains":1}"#,
    r#"{"contentEncoding":"base64","contentMediaType":"application/json","contentSchema":{"$ref":"http://x"}}"#,
    r#"{"discriminator":{"propertyName":"a","mapping":{"x":"y"}}}"#,
    "true",
    "false",
    "null",
    "[]",
    r#"{}"#,
    r#""text""#,
    "12345678901234567890123",
    "-0.0",
    r#"["\ud800"]"#,
    r#"{"\ud800":1,"":2,"~0/1%":3}"#,
];

const HOLDERS: [&str; 18] = [
    r#"{"properties":{"a":@,"b":@,"a.b":@}}"#,
    r#"{"allOf":[@,@]}"#,
    r#"{"anyOf":[@,@]}"#,
    r#"{"oneOf":[@,@]}"#,
    r#"{"not":@}"#,
    r#"{"if":@,"then":@,"else":@}"#,
    r#"{"items":@}"#,
    r#"{"items":[@,@],"additionalItems":@}"#,
    r#"{"prefixItems":[@],"items":@}"#,
    r#"{"additionalProperties":@,"properties":{"a":@}}"#,
    r#"{"$defs":{"a":@,"b":@},"properties":{"a":@}}"#,
    r#"{"definitions":@,"properties":@}"#,
    r#"{"type":"object","properties":{"a":{"type":"array","items":@}},"required":@}"#,
    r#"{"a":@,"b":[@]}"#,
    r#"{"content":[@,@],"structuredContent":@,"isError":@}"#,
    r#"{"content":[{"type":"text","text":@},{"type":"image","data":@,"mimeType":@}]}"#,
    r#"{"content":[{"type":"resource","resource":@},{"type":"resource_link","uri":@,"name":@}],"structuredContent":@}"#,
    r#"[@,@]"#,
];

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap_or_default()
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }

    fn json(&mut self, depth: usize) -> String {
        if depth == 0 || self.roll(4) == 0 {
            return self.pick(&PIECES).to_owned();
        }
        let mut holder = self.pick(&HOLDERS).to_owned();
        while holder.contains('@') {
            holder = holder.replacen('@', &self.json(depth - 1).replace('@', ""), 1);
        }
        holder
    }

    /// JSON that may have lost or gained a byte.
    fn value(&mut self) -> RawJson {
        loop {
            let mut text = self.json(4).into_bytes();
            if self.roll(3) == 0 {
                let at = self.roll(text.len());
                text[at] = b"{}[]\",:0#/a\\"[self.roll(12)];
            }
            if let Ok(value) = RawJson::from_bytes(text) {
                return value;
            }
        }
    }

    fn word(&mut self) -> String {
        let key = self.pick(&["a", "b", "a.b", "a.a.a", "", ".", "a.", "x:", "é\u{1b}", "c"]);
        let value = self.pick(&["1", "", "x", "null", "[1]", "{\"a\":1}", "1e999", "\u{202e}", "[", "-", "true"]);
        format!("{key}{}{value}", self.pick(&["=", ":=", "", "=="]))
    }
}

#[test]
fn no_schema_and_no_value_does_harm() {
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let (mut checked, mut unchecked) = (0, 0);
    for round in 0..ROUNDS {
        let (one, other) = (dice.value(), dice.value());
        let compiled = schema::CompiledSchema::compile(&one);
        for value in [&other, &one, &RawJson::EMPTY_OBJECT] {
            let said = match compiled.check(value) {
                Ok(schema::Checked::Fits) => String::new(),
                Ok(schema::Checked::Unchecked(why)) => why,
                Err(violations) => violations.to_string(),
            };
            assert!(!said.contains("failed"), "round {round}: {one} against {value}: {said}");
            assert!(!said.chars().any(char::is_control), "round {round}: {said:?}");
        }
        if compiled.unchecked().is_some() { unchecked += 1 } else { checked += 1 }
    }
    assert!(checked > ROUNDS / 10 && unchecked > ROUNDS / 10, "{checked} and {unchecked}");
}

#[test]
fn no_word_does_harm() {
    let mut dice = Dice(0xD1B5_4A32_D192_ED03);
    let mut understood = 0;
    for round in 0..ROUNDS {
        let (tool, object) = (dice.value(), dice.value());
        let words: Vec<String> = (0..dice.roll(4)).map(|_| dice.word()).collect();
        match arguments::merge(&tool, &object, &words) {
            Ok(merged) => {
                assert!(merged.is_object(), "round {round}: {merged}");
                understood += usize::from(!words.is_empty());
            }
            Err(error) => assert!(!error.to_string().chars().any(char::is_control), "round {round}: {error:?}"),
        }
        for parameter in arguments::describe(&tool) {
            assert!(!parameter.kind.is_empty());
        }
        assert_eq!(arguments::from_json(object.as_str()).is_ok(), is_plain_object(&object), "round {round}: {object}");
    }
    assert!(understood > ROUNDS / 10, "{understood}");
}

fn is_plain_object(value: &RawJson) -> bool {
    let names: Vec<String> = value.members().into_iter().map(|(name, _)| name).collect();
    let different: std::collections::BTreeSet<&String> = names.iter().collect();
    value.is_object() && different.len() == names.len()
}

#[test]
fn no_result_does_harm() {
    let mut dice = Dice(0x2545_F491_4F6C_DD1D);
    for round in 0..ROUNDS / 2 {
        let Ok(result) = CallResult::read(dice.value()) else { continue };
        let limit = dice.roll(200);
        let content = for_model::shape_within("tool", &result, limit);
        let shown = [for_display::display(&result), for_display::raw(&result), content.text()];
        for text in shown {
            let line = visible::line(&text).into_owned();
            assert!(!line.chars().any(char::is_control), "round {round}: {line:?}");
        }
        assert!(schema::repair(&result).is_none_or(|repaired| repaired.is_object()));
    }
}
