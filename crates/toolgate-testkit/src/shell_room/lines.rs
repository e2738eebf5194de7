//! Random command lines from a grammar of wrappers, quotes and runners, compared with the commands that they really run.
//!
//! Bytes choose a line, so that a fuzzer can drive it: each byte picks one alternative. Without bytes the simplest one is taken.

use std::collections::BTreeSet;

use super::forms::{Body, FORMS, Form, LISTS, TEXT_HOLDERS};
use super::{BrokenShellRoom, ShellJob, ShellRoom};

/// Commands at the end of a line.
const TARGETS: [&[&str]; 4] = [&["npm", "publish"], &["npm", "x"], &["rm", "-rf", "y"], &["rm", "-r", "-f", "y"]];

/// Recorded programs.
const STUBS: [&str; 2] = ["npm", "rm"];

/// Maximum nesting of wrappers.
const DEPTH_MAX: usize = 3;

/// Maximum options of one wrapper.
const OPTIONS_MAX: usize = 4;

/// Time limit for one line.
const LINE_MILLISECONDS_MAX: u64 = 1_500;

/// The bytes that choose.
#[derive(Debug)]
struct Dice<'a>(std::slice::Iter<'a, u8>);

impl Dice<'_> {
    /// A number below `end`; 0 when no byte is left.
    fn below(&mut self, end: usize) -> usize {
        self.0.next().map_or(0, |byte| usize::from(*byte) % end.max(1))
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        of.get(self.below(of.len())).copied()
    }

    /// True in one of `of` cases.
    fn hits(&mut self, of: usize) -> bool {
        self.below(of) + 1 == of
    }
}

/// The command line for these bytes.
#[must_use]
pub fn line(bytes: &[u8]) -> String {
    command(&mut Dice(bytes.iter()), 0)
}

/// A text for a shell.
fn command(dice: &mut Dice<'_>, depth: usize) -> String {
    let is_deep = depth >= DEPTH_MAX;
    match dice.below(if is_deep { 2 } else { 12 }) {
        0 => words(dice, depth + 1).join(blank(dice)),
        1 => fed(dice),
        2 | 3 => {
            let inner = command(dice, depth + 1);
            dice.pick(&LISTS).unwrap_or("@").replace('@', &inner)
        }
        4 => {
            let inner = quoted(&command(dice, depth + 1), dice);
            dice.pick(&TEXT_HOLDERS).unwrap_or("@").replace('@', &inner)
        }
        _ => words(dice, depth).join(blank(dice)),
    }
}

/// The words of one simple command.
fn words(dice: &mut Dice<'_>, depth: usize) -> Vec<String> {
    if depth < DEPTH_MAX
        && dice.below(4) > 0
        && let Some(form) = dice.pick(FORMS)
    {
        return wrapped(&form, dice, depth + 1);
    }
    let target = dice.pick(&TARGETS).unwrap_or_default();
    let mut words: Vec<String> = target.iter().map(|word| spelled(word, dice)).collect();
    if dice.hits(8) {
        let at = dice.below(words.len() + 1);
        words.insert(at, dice.pick(&["$X", "${X}", "$(true)", "\"$@\"", "$X$X"]).unwrap_or_default().to_owned());
    }
    words
}

/// A program that runs another one.
fn wrapped(form: &Form, dice: &mut Dice<'_>, depth: usize) -> Vec<String> {
    let mut words = vec![form.start.to_owned()];
    for _ in 0..dice.below(OPTIONS_MAX) {
        words.extend(dice.pick(form.options).map(str::to_owned));
    }
    if dice.hits(12) {
        words.push("$X".to_owned());
    }
    words.extend(Some(form.before).filter(|before| !before.is_empty()).map(str::to_owned));
    match form.body {
        Body::Words => words.extend(self::words(dice, depth)),
        Body::Text => words.push(quoted(&command(dice, depth), dice)),
        // Inside double quotes of another language.
        Body::Inside(text) => {
            let inner = self::words(dice, DEPTH_MAX).join(" ");
            words.push(quoted(&text.replace('@', &inner.replace(['"', '\\', '\n'], "")), dice));
        }
    }
    words.extend(Some(form.after).filter(|after| !after.is_empty()).map(str::to_owned));
    words
}

/// `xargs` with a word from its input.
fn fed(dice: &mut Dice<'_>) -> String {
    const OPTIONS: [&str; 18] = [
        "-n1",
        "-n 1",
        "-L1",
        "-L 1",
        "-I%",
        "-I %",
        "-I+",
        "-i",
        "-i%",
        "--replace",
        "--replace=+",
        "-l",
        "-r",
        "-t",
        "-E z",
        "--max-lines=1",
        "-s 900",
        "-P 2",
    ];
    let target = dice.pick(&TARGETS).unwrap_or_default();
    let fed = dice.below(target.len());
    let mark = dice.pick(&["", "%", "+", "{}"]).unwrap_or_default();
    let mut words = vec!["xargs".to_owned()];
    for _ in 0..dice.below(OPTIONS_MAX) {
        words.extend(dice.pick(&OPTIONS).map(str::to_owned));
    }
    if dice.hits(6) {
        words.extend(dice.pick(&["env", "nice", "sh -c", "timeout 5", "nohup"]).map(str::to_owned));
    }
    let marked = |(at, word): (usize, &&str)| if at == fed { mark.to_owned() } else { (*word).to_owned() };
    words.extend(target.iter().enumerate().map(marked).filter(|word| !word.is_empty()));
    format!("echo {} | {}", target.get(fed).copied().unwrap_or_default(), words.join(" "))
}

/// One word, quoted at random.
fn spelled(word: &str, dice: &mut Dice<'_>) -> String {
    let (head, tail) = word.split_at_checked(1).unwrap_or((word, ""));
    match dice.below(16) {
        0..=6 => word.to_owned(),
        7 | 8 => format!("'{word}'"),
        9 => format!("\"{word}\""),
        10 => format!("\\{word}"),
        11 => format!("{head}''{tail}"),
        12 => format!("{head}\"{tail}\""),
        13 => format!("{head}${{X}}{tail}"),
        14 => format!("$(echo {word})"),
        _ => format!("${{X:-{word}}}"),
    }
}

/// A text as one word.
fn quoted(text: &str, dice: &mut Dice<'_>) -> String {
    if dice.hits(4) {
        let escaped: String = text
            .chars()
            .flat_map(|letter| Some('\\').filter(|_| "\"\\$`".contains(letter)).into_iter().chain([letter]))
            .collect();
        return format!("\"{escaped}\"");
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn blank(dice: &mut Dice<'_>) -> &'static str {
    if dice.hits(16) { dice.pick(&["  ", "\t", " \\\n"]).unwrap_or(" ") } else { " " }
}

/// A command that ran although rules deny it.
#[derive(Clone, Debug)]
pub struct Milder {
    /// The line.
    pub line: String,
    /// The shell that ran it.
    pub shell: &'static str,
    /// Name and arguments of the recorded command.
    pub ran: Vec<String>,
}

/// The commands recorded for one line, and those that the rules missed.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    /// Number of different commands recorded.
    pub ran: usize,
    /// Commands that the rules should have stopped.
    pub milder: Vec<Milder>,
}

/// Runs a line under both shells, and checks for every command that ran whether a rule that denies it stops the line.
///
/// `is_held_back` receives the first two words of the command, and the line.
///
/// # Errors
/// Returns an error if the room failed.
pub fn compare(
    room: &mut ShellRoom,
    line: &str,
    is_held_back: impl Fn(&[String], &str) -> bool,
) -> Result<Compared, BrokenShellRoom> {
    let mut seen = BTreeSet::new();
    let mut compared = Compared::default();
    for shell in ["sh", "bash"] {
        let run = room.run(&ShellJob {
            shell: shell.to_owned(),
            command: line.to_owned(),
            stubs: STUBS.map(str::to_owned).to_vec(),
            has_repository: false,
            milliseconds_max: LINE_MILLISECONDS_MAX,
        })?;
        for ran in run.ran {
            let words: Vec<String> = ran.iter().take(2).cloned().collect();
            // A program without arguments may be denied as a whole, by another rule.
            if seen.insert(words.clone()) {
                compared.ran += 1;
                if !is_held_back(&words, line) {
                    compared.milder.push(Milder { line: line.to_owned(), shell, ran });
                }
            }
        }
    }
    Ok(compared)
}
