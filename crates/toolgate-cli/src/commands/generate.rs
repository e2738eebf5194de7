//! `toolgate generate`: the man pages and shell completions that a package carries, written from the definition of the command line.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory as _};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::args::{COMMON_OPTIONS, Cli};
use crate::commands::completions;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::session::Session;

/// The name and version at the foot of every page.
const SOURCE: &str = concat!("toolgate ", env!("CARGO_PKG_VERSION"));

/// A page has no date. An empty word would be left out, and the next one would take its place.
const NO_DATE: &str = " ";

/// The name in the head of every page.
const MANUAL: &str = "toolgate manual";

/// The files with completions, named as each shell looks for them.
const COMPLETIONS: [(&str, &str); 3] = [("bash", "toolgate.bash"), ("zsh", "_toolgate"), ("fish", "toolgate.fish")];

/// A file in a folder of functions is run at the first completion, and has to give the answers of that one too.
const ZSH_FIRST_TIME: &str =
    "\nif [[ ${funcstack[1]} == _toolgate ]]; then\n    _clap_dynamic_completer_toolgate \"$@\"\nfi\n";

/// A heading at the end of a help text has at most so many words. Longer lines introduce what follows them.
const HEADING_WORDS_MAX: usize = 2;

/// Write the man pages and shell completions into a folder, for packages
#[derive(Debug, Args)]
#[command(
    hide = true,
    after_help = "Example:
  toolgate generate target/pages
writes target/pages/man/toolgate.1, one page for each command, and target/pages/completions/."
)]
pub(crate) struct Arguments {
    /// The folder; files of the same name are overwritten
    folder: PathBuf,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> Result<Ending> {
    let pages = pages();
    for (name, page) in &pages {
        write(&arguments.folder.join("man").join(name), page)?;
    }
    for (shell, name) in COMPLETIONS {
        let mut script = completions::script(shell)?;
        if shell == "zsh" {
            script.push_str(ZSH_FIRST_TIME);
        }
        write(&arguments.folder.join("completions").join(name), script.as_bytes())?;
    }
    let said = format!("Wrote {} man pages and {} completion files", pages.len(), COMPLETIONS.len());
    session.printer.line(&said)?;
    Ok(Ending::Done)
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, content)).map_err(|error| {
        CommandError::new(Ending::Output, "output", format!("cannot write {}: {error}", path.display()))
    })
}

/// File names and contents, one page for each command that help shows.
fn pages() -> Vec<(String, Vec<u8>)> {
    let mut grammar = Cli::command().disable_help_subcommand(true);
    grammar.build();
    let mut pages = Vec::new();
    let mut waiting = vec![(grammar, None)];
    while let Some((command, parent)) = waiting.pop() {
        let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        waiting.extend(shown.map(|command| (command.clone(), Some(name.clone()))));
        pages.push((format!("{name}.1"), page(command, parent.as_deref())));
    }
    pages.sort();
    pages
}

/// One page. Pages of commands refer to the first page for the options that all of them take.
fn page(command: clap::Command, parent: Option<&str>) -> Vec<u8> {
    let after_help = command.get_after_long_help().or_else(|| command.get_after_help()).map(ToString::to_string);
    let command = command.after_help(None).after_long_help(None).version(None).mut_args(|arg| {
        let is_common = arg.get_help_heading() == Some(COMMON_OPTIONS);
        // An option that short help leaves out would stand here without its text.
        let arg = arg.hide_short_help(false);
        if is_common && parent.is_some() { arg.hide(true) } else { arg }
    });
    let mut page = Vec::new();
    // Writing into memory does not fail.
    let _written = Man::new(command).date(NO_DATE).source(SOURCE).manual(MANUAL).render(&mut page).is_ok();
    let mut rest = Roff::new();
    append_after_help(&mut rest, &after_help.unwrap_or_default());
    if let Some(parent) = parent {
        rest.control("SH", ["SEE ALSO"]);
        rest.text([bold(parent), roman("(1)")]);
        if parent != "toolgate" {
            rest.text([roman(", "), bold("toolgate"), roman("(1)")]);
        }
        rest.control("PP", []);
        rest.text([bold("toolgate"), roman("(1) describes the options that every command takes, and the exit codes.")]);
    }
    let _written = page.write_all(rest.to_roff().as_bytes()).is_ok();
    page
}

/// The text that help ends with: examples and tables, which keep their lines.
fn append_after_help(roff: &mut Roff, text: &str) {
    let heading = |line: &str| {
        let title = line.strip_suffix(':').filter(|title| !title.starts_with(' '))?;
        (title.split_whitespace().count() <= HEADING_WORDS_MAX).then(|| title.to_uppercase())
    };
    let mut is_open = false;
    for line in text.lines() {
        let title = heading(line);
        if title.is_some() || !is_open {
            roff.control("fi", []);
            roff.control("SH", [title.as_deref().unwrap_or("NOTES")]);
            roff.control("nf", []);
            is_open = true;
        }
        if title.is_none() {
            roff.text([roman(line)]);
        }
    }
    roff.control("fi", []);
}

#[cfg(test)]
mod tests {
    use super::{append_after_help, pages};
    use clap_mangen::roff::Roff;

    fn page(name: &str) -> String {
        let found = pages().into_iter().find(|(found, _)| found == name);
        String::from_utf8(found.unwrap().1).unwrap()
    }

    #[test]
    fn every_shown_command_has_a_page() {
        let names: Vec<String> = pages().into_iter().map(|(name, _)| name).collect();
        for name in ["toolgate.1", "toolgate-tools.1", "toolgate-mcp.1", "toolgate-mcp-add.1", "toolgate-policy-list.1"]
        {
            assert!(names.iter().any(|found| found == name), "{name}: {names:?}");
        }
        let is_hidden = |name: &String| name.contains("generate") || name.contains("help");
        assert!(!names.iter().any(is_hidden), "{names:?}");
    }

    #[test]
    fn options_of_every_command_stand_on_the_first_page_only() {
        for (name, expected) in [("toolgate.1", true), ("toolgate-tools.1", false), ("toolgate-mcp-add.1", false)] {
            let page = page(name);
            assert_eq!(page.contains("OPTIONS OF EVERY COMMAND"), expected, "{name}: {page}");
            assert_eq!(page.contains("SEE ALSO"), !expected, "{name}: {page}");
        }
        let first = page("toolgate.1");
        assert!(first.contains(".SH \"EXIT CODES\""), "{first}");
        assert!(first.contains("Shorthand for `\\-\\-mode yolo`"), "{first}");
        let title = format!(".TH toolgate 1 \" \" \"toolgate {}\" \"toolgate manual\"", env!("CARGO_PKG_VERSION"));
        assert!(first.contains(&title), "{first}");
    }

    #[test]
    fn what_help_ends_with_keeps_its_lines() {
        let cases = [
            ("", ".fi\n"),
            ("Examples:\n  a -b\n  c", ".fi\n.SH EXAMPLES\n.nf\n  a \\-b\n  c\n.fi\n"),
            (
                "Do one of these:\n  a\n\nExit codes:\n  0",
                ".fi\n.SH NOTES\n.nf\nDo one of these:\n  a\n\n.fi\n.SH \"EXIT CODES\"\n.nf\n  0\n.fi\n",
            ),
        ];
        for (text, expected) in cases {
            let mut roff = Roff::new();
            append_after_help(&mut roff, text);
            assert_eq!(roff.to_roff(), expected, "{text}");
        }
    }
}
