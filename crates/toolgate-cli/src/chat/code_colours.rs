//! Source code, coloured line by line: comments, texts, numbers, keywords and what is called, in the languages that models write most. A few
//! tables instead of grammars: what they get wrong is a colour.

use super::markdown::{CYAN, DIM, GREEN, OFF, YELLOW};

const MAGENTA: &str = "\u{1b}[35m";

/// How a language is written, as far as colours show it.
#[derive(Debug)]
struct Grammar {
    names: &'static [&'static str],
    /// What makes the rest of a line a comment.
    comments: &'static [&'static str],
    /// What may go on over lines: its beginning, its end, its colour.
    blocks: &'static [(&'static str, &'static str, &'static str)],
    /// What texts stand in.
    quotes: &'static str,
    /// Words of the language, between blanks.
    keywords: &'static str,
}

const SLASHES: &[(&str, &str, &str)] = &[("/*", "*/", DIM)];

const GRAMMARS: [Grammar; 14] = [
    Grammar {
        names: &["rust", "rs"],
        comments: &["//"],
        blocks: SLASHES,
        quotes: "\"",
        keywords: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while",
    },
    Grammar {
        names: &["javascript", "js", "jsx", "mjs", "typescript", "ts", "tsx"],
        comments: &["//"],
        blocks: &[("/*", "*/", DIM), ("`", "`", GREEN)],
        quotes: "\"'",
        keywords: "abstract as async await break case catch class const continue default delete do else enum export extends false finally for from function if implements import in instanceof interface let new null of private protected public readonly return static super switch this throw true try type typeof undefined var void while yield",
    },
    Grammar {
        names: &["python", "py", "python3"],
        comments: &["#"],
        blocks: &[("\"\"\"", "\"\"\"", GREEN), ("'''", "'''", GREEN)],
        quotes: "\"'",
        keywords: "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield",
    },
    Grammar {
        names: &["bash", "sh", "shell", "zsh", "console", "dockerfile", "docker", "makefile", "make"],
        comments: &["#"],
        blocks: &[],
        quotes: "\"'",
        keywords: "case do done echo elif else esac exit export fi for function if in local read return set then unset until while ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM RUN USER VOLUME WORKDIR",
    },
    Grammar {
        names: &["go", "golang"],
        comments: &["//"],
        blocks: &[("/*", "*/", DIM), ("`", "`", GREEN)],
        quotes: "\"'",
        keywords: "any break case chan const continue default defer else fallthrough false for func go goto if import interface map nil package range return select struct switch true type var",
    },
    Grammar {
        names: &["java", "kotlin", "kt", "scala", "groovy", "c#", "cs", "csharp", "dart", "swift"],
        comments: &["//"],
        blocks: SLASHES,
        quotes: "\"'",
        keywords: "abstract as async await break case catch class const continue data def default defer do else enum extends extension false final finally for foreach fun func guard if implements import in init instanceof interface internal is let namespace new nil null object open override package private protected public record return sealed self static struct super switch this throw throws true try using val var void when where while yield",
    },
    Grammar {
        names: &["c", "h", "cpp", "c++", "cc", "hpp", "objective-c", "proto", "protobuf"],
        comments: &["//"],
        blocks: SLASHES,
        quotes: "\"'",
        keywords: "auto bool break case char class const constexpr continue default delete do double else enum explicit extern false float for if include inline int long message namespace new nullptr operator private protected public repeated return short signed sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void while",
    },
    Grammar {
        names: &["php"],
        comments: &["//", "#"],
        blocks: SLASHES,
        quotes: "\"'",
        keywords: "abstract array as break case catch class const continue default do echo else elseif extends false final fn for foreach function if implements interface match namespace new null private protected public return static switch this throw trait true try use while yield",
    },
    Grammar {
        names: &["ruby", "rb", "elixir", "ex", "perl", "pl", "r"],
        comments: &["#"],
        blocks: &[],
        quotes: "\"'",
        keywords: "and begin break case class def defmodule do else elsif end ensure false for if in module my next nil not or package rescue require return self sub super then true unless until use when while yield",
    },
    Grammar {
        names: &["sql", "postgres", "postgresql", "mysql", "sqlite"],
        comments: &["--"],
        blocks: SLASHES,
        quotes: "'\"",
        keywords: "add all alter and as asc begin between by case commit constraint create default delete desc distinct drop else end exists foreign from full group having in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then union unique update using values view when where with",
    },
    Grammar {
        names: &["yaml", "yml", "toml", "ini", "conf", "properties", "env"],
        comments: &["#", ";"],
        blocks: &[("\"\"\"", "\"\"\"", GREEN)],
        quotes: "\"'",
        keywords: "false no null off on true yes",
    },
    Grammar {
        names: &["lua", "haskell", "hs"],
        comments: &["--"],
        blocks: &[("[[", "]]", GREEN), ("{-", "-}", DIM)],
        quotes: "\"'",
        keywords: "and break case class data do else elseif end false for function if import in instance let local module newtype nil not of or repeat return then true type until where while",
    },
    Grammar {
        names: &["html", "xml", "svg", "vue"],
        comments: &[],
        blocks: &[("<!--", "-->", DIM)],
        quotes: "\"",
        keywords: "",
    },
    Grammar {
        names: &["css", "scss", "less"],
        comments: &[],
        blocks: SLASHES,
        quotes: "\"'",
        keywords: "@import @media @keyframes !important",
    },
];

/// The colours of one block of code.
#[derive(Debug, Clone, Copy)]
pub(super) struct CodeColours {
    grammar: &'static Grammar,
    /// What ends the comment or text that goes on from the line before, and its colour.
    open: Option<(&'static str, &'static str)>,
}

impl CodeColours {
    /// For the language of that name, when it is known.
    pub(super) fn of(language: &str) -> Option<Self> {
        let name = language.to_lowercase();
        let grammar = GRAMMARS.iter().find(|grammar| grammar.names.contains(&name.as_str()))?;
        Some(Self { grammar, open: None })
    }

    /// The next line of the block.
    pub(super) fn line(&mut self, line: &str) -> String {
        let mut shown = String::with_capacity(line.len() * 2);
        let (mut rest, mut before) = (line, ' ');
        while !rest.is_empty() {
            let (length, colour) = self.token(rest, before);
            let (token, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
            match colour {
                Some(colour) => shown.extend([colour, token, OFF]),
                None => shown.push_str(token),
            }
            before = token.chars().next_back().unwrap_or(' ');
            rest = after;
        }
        shown
    }

    /// How long the token is that stands at the beginning of `rest`, and its colour.
    fn token(&mut self, rest: &str, before: char) -> (usize, Option<&'static str>) {
        if let Some((end, colour)) = self.open {
            return (self.until(rest, 0, end, colour), Some(colour));
        }
        let Grammar { comments, blocks, quotes, .. } = self.grammar;
        // `$#` and `http://` are no comments.
        if !is_of_word(before) && !"$:".contains(before) && comments.iter().any(|mark| rest.starts_with(mark)) {
            return (rest.len(), Some(DIM));
        }
        if let Some((start, end, colour)) = blocks.iter().find(|(start, ..)| rest.starts_with(start)) {
            return (self.until(rest, start.len(), end, colour), Some(colour));
        }
        let Some(letter) = rest.chars().next() else { return (0, None) };
        if quotes.contains(letter) {
            return (text_length(rest, letter), Some(GREEN));
        }
        if !is_of_word(letter) && !"@!".contains(letter) {
            return (letter.len_utf8(), None);
        }
        let first = letter.len_utf8();
        let word =
            first + rest.chars().skip(1).take_while(|letter| is_of_word(*letter)).map(char::len_utf8).sum::<usize>();
        (word, self.colour_of_word(rest, word))
    }

    /// Up to the end of what goes on; it stays open when that is not in this line.
    fn until(&mut self, rest: &str, from: usize, end: &'static str, colour: &'static str) -> usize {
        let found = rest.get(from..).and_then(|inner| inner.find(end));
        self.open = if found.is_some() { None } else { Some((end, colour)) };
        found.map_or(rest.len(), |at| from + at + end.len())
    }

    fn colour_of_word(&self, rest: &str, length: usize) -> Option<&'static str> {
        let (word, after) = rest.split_at_checked(length)?;
        let is_keyword = self.grammar.keywords.split(' ').any(|keyword| match self.grammar.names {
            ["sql", ..] => keyword.eq_ignore_ascii_case(word),
            _ => keyword == word,
        });
        match word.chars().next() {
            _ if is_keyword => Some(MAGENTA),
            Some('0'..='9') => Some(YELLOW),
            Some(letter) if is_of_word(letter) && after.starts_with('(') => Some(CYAN),
            _ => None,
        }
    }
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// How long a text in quotes is, with them; to the end of the line when it has no end there.
pub(super) fn text_length(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            letter if letter == quote => return at + letter.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::CodeColours;

    /// Colours as words, so that they can be read.
    fn coloured(language: &str, lines: &str) -> String {
        let mut colours = CodeColours::of(language).unwrap();
        let shown: Vec<String> = lines.lines().map(|line| colours.line(line)).collect();
        let names = [("0", "/"), ("2", "d"), ("32", "g"), ("33", "y"), ("35", "m"), ("36", "c")];
        let words =
            |text: String, (code, name): &(&str, &str)| text.replace(&format!("\u{1b}[{code}m"), &format!("<{name}>"));
        names.iter().fold(shown.join("\n"), words)
    }

    #[test]
    fn what_languages_have_in_common_is_coloured() {
        let cases = [
            ("rust", "fn main() { // \"x\"", "<m>fn</> <c>main</>() { <d>// \"x\"</>"),
            ("rs", "let s: &'a str = \"a\\\"b\";", "<m>let</> s: &'a str = <g>\"a\\\"b\"</>;"),
            ("Rust", "a /* b\nc */ 0x1f", "a <d>/* b</>\n<d>c */</> <y>0x1f</>"),
            (
                "python",
                "def f(x):  # no\n  \"\"\"one\n  two\"\"\"",
                "<m>def</> <c>f</>(x):  <d># no</>\n  <g>\"\"\"one</>\n<g>  two\"\"\"</>",
            ),
            ("sh", "echo $# 'a b' # c", "<m>echo</> $# <g>'a b'</> <d># c</>"),
            ("ts", "const u = `http://${h}`", "<m>const</> u = <g>`http://${h}`</>"),
            ("sql", "SELECT 1 -- one", "<m>SELECT</> <y>1</> <d>-- one</>"),
            ("yaml", "url: http://a.example # x", "url: http://a.example <d># x</>"),
            ("html", "<a href=\"x\"><!-- é\n--></a>", "<a href=<g>\"x\"</>><d><!-- é</>\n<d>--></></a>"),
            ("go", "größe := \"unended", "größe := <g>\"unended</>"),
            ("c", "", ""),
        ];
        for (language, lines, expected) in cases {
            assert_eq!(coloured(language, lines), expected, "{language}");
        }
        assert!(CodeColours::of("klingon").is_none());
    }
}
