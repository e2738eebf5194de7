//! From text to a tree: JSON with comments and trailing commas, and what is wrong when it is not that.

use jsonc_parser::ast::Value;
use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::{CollectOptions, ParseOptions, ParseStringErrorKind, parse_to_ast};

use crate::limits::SETTINGS_DEPTH_MAX;

/// A text and its tree: parsed once, for everybody who asks what is written in it.
#[derive(Debug)]
pub struct ParsedText<'t> {
    /// Without the mark that some editors put at the start.
    pub(crate) text: &'t str,
    /// `None` when nothing but comments is written.
    pub(crate) tree: Result<Option<Value<'t>>, SyntaxFault>,
}

impl<'t> ParsedText<'t> {
    /// Parses a text.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self { text, tree: parse(text) }
    }
}

/// Why a text is no settings file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxFault {
    /// The byte it is about.
    pub(crate) offset: usize,
    pub(crate) message: String,
    pub(crate) hint: Option<&'static str>,
}

impl SyntaxFault {
    fn new(offset: usize, message: impl Into<String>, hint: impl Into<Option<&'static str>>) -> Self {
        Self { offset, message: message.into(), hint: hint.into() }
    }
}

/// The tree of a text; `None` when nothing but comments is written.
pub(crate) fn parse(text: &str) -> Result<Option<Value<'_>>, SyntaxFault> {
    survey(text)?;
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    match parse_to_ast(text, &CollectOptions::default(), &options) {
        Ok(parsed) => Ok(parsed.value),
        Err(error) => {
            let (message, hint) = explain(error.kind());
            Err(SyntaxFault::new(error.range().start, message, hint))
        }
    }
}

/// What the parser lets pass or explains badly: strings that run over the end of their line, control characters, deep nesting.
fn survey(text: &str) -> Result<(), SyntaxFault> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut offset = 0;
    while let Some(&byte) = bytes.get(offset) {
        let start = offset;
        offset += 1;
        match byte {
            b'"' => offset = end_of_string(bytes, start)?,
            b'/' => offset = end_of_comment(bytes, start),
            // No JSON outside a string has one. The parser will say so.
            b'\'' => return Ok(()),
            b'{' | b'[' => {
                depth += 1;
                if depth > SETTINGS_DEPTH_MAX {
                    let message = format!("more than {SETTINGS_DEPTH_MAX} levels of `{{` and `[`");
                    return Err(SyntaxFault::new(start, message, "no setting is nested that deep"));
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            0..=8 | 11..=12 | 14..=31 | 127 => return Err(control_character(start, byte)),
            _ => (),
        }
    }
    Ok(())
}

/// The offset behind the closing quote of the string that starts at `start`.
fn end_of_string(bytes: &[u8], start: usize) -> Result<usize, SyntaxFault> {
    // Most bytes of a file are these.
    let is_ordinary = |byte: &u8| !matches!(byte, b'"' | b'\\' | 0..=8 | 10..=31 | 127);
    let mut offset = start + 1;
    loop {
        offset += bytes.get(offset..).unwrap_or_default().iter().take_while(|byte| is_ordinary(byte)).count();
        match bytes.get(offset) {
            Some(b'"') => return Ok(offset + 1),
            Some(b'\\') => offset += 2,
            Some(b'\n' | b'\r') | None => break,
            Some(byte) => return Err(control_character(offset, *byte)),
        }
    }
    let hint = "a string ends on the line it starts on; a line break in it is written `\\n`";
    Err(SyntaxFault::new(start, "expected `\"` at the end of the string that starts here", hint))
}

/// The offset behind the comment that starts at `start`, or behind the slash if it is none.
fn end_of_comment(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start + 2..).unwrap_or_default();
    let length = match bytes.get(start + 1) {
        Some(b'/') => rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')),
        Some(b'*') => rest.windows(2).position(|pair| pair == b"*/").map(|end| end + 2),
        _ => return start + 1,
    };
    length.map_or(bytes.len(), |length| start + 2 + length)
}

fn control_character(offset: usize, byte: u8) -> SyntaxFault {
    let message = format!("the control character U+{byte:04X} has no place in a settings file");
    SyntaxFault::new(offset, message, "remove it; in a string it is written as an escape such as `\\u0007`")
}

/// What the parser found, as what was expected and what to do.
fn explain(kind: &ParseErrorKind) -> (&'static str, Option<&'static str>) {
    match kind {
        ParseErrorKind::ExpectedColonAfterObjectKey => ("expected `:` after the key", None),
        ParseErrorKind::ExpectedObjectValue => ("expected a value after `:`", None),
        ParseErrorKind::ExpectedComma => ("expected `,` between two entries", None),
        ParseErrorKind::ExpectedStringObjectProperty => ("expected a key in double quotes", None),
        ParseErrorKind::UnexpectedTokenInObject => ("expected a key in double quotes or `}`", None),
        ParseErrorKind::SingleQuotedStringsNotAllowed => ("expected double quotes", None),
        ParseErrorKind::UnexpectedWord | ParseErrorKind::UnexpectedToken => (
            "expected JSON",
            Some("keys and strings stand in double quotes; other words are only true, false and null"),
        ),
        ParseErrorKind::UnexpectedComma => ("expected a value, found `,`", None),
        ParseErrorKind::UnexpectedColon => ("expected a value, found `:`", None),
        ParseErrorKind::UnexpectedCloseBrace => {
            ("expected a value, found `}`", Some("a list ends with `]`, an object with `}`"))
        }
        ParseErrorKind::UnexpectedCloseBracket => {
            ("expected a value, found `]`", Some("a list ends with `]`, an object with `}`"))
        }
        ParseErrorKind::UnterminatedObject => {
            ("expected `}` at the end of the object that starts here", Some("the file ends before it"))
        }
        ParseErrorKind::UnterminatedArray => {
            ("expected `]` at the end of the list that starts here", Some("the file ends before it"))
        }
        ParseErrorKind::UnterminatedCommentBlock => ("expected `*/` at the end of the comment that starts here", None),
        ParseErrorKind::MultipleRootJsonValues => {
            ("expected the end of the file", Some("a settings file is one object; is there a `}` too many above?"))
        }
        ParseErrorKind::String(ParseStringErrorKind::UnterminatedStringLiteral) => {
            ("expected `\"` at the end of the string that starts here", None)
        }
        ParseErrorKind::String(_) => (
            "expected an escape that JSON knows",
            Some("a backslash itself is written `\\\\`, for instance in `C:\\\\tools`"),
        ),
        ParseErrorKind::BareDecimalPointNumbersNotAllowed
        | ParseErrorKind::ExpectedDigit
        | ParseErrorKind::ExpectedDigitFollowingNegativeSign
        | ParseErrorKind::ExpectedPlusMinusOrDigitInNumberLiteral
        | ParseErrorKind::HexadecimalNumbersNotAllowed
        | ParseErrorKind::NonFiniteNumbersNotAllowed
        | ParseErrorKind::UnaryPlusNumbersNotAllowed => ("expected a decimal number such as 30000", None),
        ParseErrorKind::CommentsNotAllowed
        | ParseErrorKind::TrailingCommasNotAllowed
        | ParseErrorKind::NestingDepthExceeded => ("expected JSON", None),
    }
}
