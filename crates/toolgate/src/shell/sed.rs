//! Parses `sed` scripts far enough to decide that they run no program.

/// Whether every command of a script only edits: no `e`, `w`, `W`, `r`, `R`, and no substitution with such a flag.
pub(super) fn is_plain(text: &str) -> bool {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|sign: char| sign.is_whitespace() || sign == ';' || sign == '}' || sign == '{');
        if rest.is_empty() {
            return true;
        }
        let Some(behind) = command(rest) else { return false };
        rest = behind;
    }
}

/// The rest after one command. `None` when the command is not plain.
fn command(text: &str) -> Option<&str> {
    let rest = address(text)?;
    let rest = match rest.trim_start().strip_prefix(',') {
        Some(second) => address(second.trim_start().trim_start_matches(['+', '~']))?,
        None => rest,
    };
    let rest = rest.trim_start_matches([' ', '!']);
    let letter = rest.chars().next()?;
    let behind = rest.get(letter.len_utf8()..)?;
    match letter {
        '{' | '}' => Some(behind),
        'p' | 'd' | 'D' | 'P' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | '=' | 'F' | 'z' => end(behind),
        'q' | 'Q' | 'l' => end(behind.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == ' ')),
        's' => {
            let flags = two_parts(behind)?;
            end(flags.trim_start_matches(|sign: char| sign.is_ascii_digit() || "gpiIM".contains(sign)))
        }
        'y' => end(two_parts(behind)?),
        // The text goes on to the end of the line.
        'a' | 'i' | 'c' if !behind.contains('\n') => Some(""),
        ':' | 'b' | 't' | 'T' => {
            let name = behind.trim_start_matches(' ');
            end(name.trim_start_matches(|sign: char| sign.is_ascii_alphanumeric() || sign == '_'))
        }
        _ => None,
    }
}

/// The rest after an address: a number, `$`, `/text/`, or none.
fn address(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix('/') {
        return part(rest, '/').map(|rest| rest.trim_start_matches(['I', 'M']));
    }
    if let Some(rest) = text.strip_prefix('\\') {
        let sign = rest.chars().next().filter(char::is_ascii_punctuation)?;
        return part(rest.get(1..)?, sign).map(|rest| rest.trim_start_matches(['I', 'M']));
    }
    Some(text.strip_prefix('$').unwrap_or(text).trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == '~'))
}

/// A command ends with its line, with `;` or before `}`.
fn end(text: &str) -> Option<&str> {
    let text = text.trim_start_matches([' ', '\t']);
    (text.is_empty() || text.starts_with([';', '\n', '}'])).then_some(text)
}

/// The rest after `/one/two/`.
fn two_parts(text: &str) -> Option<&str> {
    let sign = text.chars().next().filter(char::is_ascii_punctuation).filter(|sign| *sign != '\\')?;
    part(part(text.get(1..)?, sign)?, sign)
}

/// The rest after the next unescaped sign. A sign between brackets may be a letter of the pattern to one program and
/// its end to another.
fn part(text: &str, sign: char) -> Option<&str> {
    let mut letters = text.char_indices();
    let mut is_class = false;
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => {
                letters.next();
            }
            '[' => is_class = true,
            ']' => is_class = false,
            _ if letter == sign => {
                return if is_class { None } else { text.get(at + letter.len_utf8()..) };
            }
            _ => {}
        }
    }
    None
}
