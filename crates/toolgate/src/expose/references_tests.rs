//! Prompts and what they refer to.

use std::sync::Arc;

use toolgate_wire::view::{Resource, ResourceTemplate};

use super::*;

fn server(name: &str) -> ServerName {
    ServerName::new(name).unwrap()
}

fn raw() -> toolgate_wire::RawJson {
    serde_json::json!({}).into()
}

fn resource(of: &str, uri: &str) -> CatalogResource {
    let (uri, name) = (uri.to_owned(), "r".to_owned());
    let resource = Resource { uri, name, title: None, description: None, mime_type: None, size: None, raw: raw() };
    CatalogResource { server: server(of), resource: Arc::new(resource) }
}

fn template(of: &str, uri_template: &str) -> CatalogTemplate {
    let (uri_template, name) = (uri_template.to_owned(), "t".to_owned());
    let template = ResourceTemplate { uri_template, name, title: None, description: None, mime_type: None, raw: raw() };
    CatalogTemplate { server: server(of), template: Arc::new(template) }
}

/// The targets, and the text when it is another than the prompt.
fn told(prompt: &str) -> String {
    let servers = [server("docs"), server("git hub"), server("c")];
    let resources = [resource("docs", "docs://start"), resource("docs", "plain"), resource("other", "note://1")];
    let templates = [template("c", "page-{n}")];
    let known = Known { servers: &servers, resources: &resources, templates: &templates };
    let found = find(prompt, &known);
    let targets = found.references.iter().map(|reference| match &reference.target {
        Target::Resource { server, uri } => format!("<{server}|{uri}>"),
        Target::File(path) => format!("[{path}]"),
    });
    let text = (found.text != prompt).then(|| format!("= {}", found.text));
    targets.chain(text).collect::<Vec<_>>().join(" ")
}

#[test]
fn references_are_found_by_their_tokens() {
    let cases = [
        // Files, and where a token ends.
        ("no reference", ""),
        ("@src/main.rs", "[src/main.rs]"),
        ("see @a.rs, @b.rs; and (@c.rs)!", "[a.rs] [b.rs] [c.rs]"),
        ("read @a.rs.", "[a.rs]"),
        ("read @a.rs. And", "[a.rs]"),
        ("@a.b.c @../x @.hidden", "[a.b.c] [../x] [.hidden]"),
        ("@what? @[x] @{y}", "[what]"),
        ("@a\n@b\t@c", "[a] [b] [c]"),
        ("@", ""),
        ("@ x", ""),
        ("@. x", ""),
        ("ana@example.org", "[example.org]"),
        ("@größe/名前.txt", "[größe/名前.txt]"),
        // Escapes and quotes.
        (r"@my\ file.txt x", "[my file.txt]"),
        (r"@a\,b\?.txt", "[a,b?.txt]"),
        (r"@end\.", "[end.]"),
        (r#"@"my file, (1).txt" x"#, "[my file, (1).txt]"),
        (r#"@dir/"my file".txt"#, "[dir/my file.txt]"),
        (r#"@"open file"#, r#"["open]"#),
        (r"\@a @b", r"[b] = @a @b"),
        (r"a\b \@ c", r"= a\b @ c"),
        (r"@a\", "[a]"),
        ("@a@b", "[a@b]"),
        // Resources.
        ("@docs:docs://start", "<docs|docs://start>"),
        ("sum up @docs:docs://start.", "<docs|docs://start>"),
        ("@docs:plain", "<docs|plain>"),
        ("@docs:unlisted://x", "<docs|unlisted://x>"),
        ("@docs:nothing", "[docs:nothing]"),
        ("@c:page-7", "<c|page-7>"),
        ("@c:page-", "[c:page-]"),
        (r"@git\ hub:repo://a/b", "<git hub|repo://a/b>"),
        (r#"@"git hub:repo://a?b=(1)""#, "<git hub|repo://a?b=(1)>"),
        ("@note://1", "<other|note://1>"),
        ("@note://2", "[note://2]"),
        ("@unknown:docs://start", "[unknown:docs://start]"),
    ];
    for (prompt, expected) in cases {
        assert_eq!(told(prompt), expected, "{prompt}");
    }
}

#[test]
fn places_are_those_of_the_prompt_and_targets_are_told_once() {
    let prompt = r"\@ ü @a, @b and @a";
    let found = find(prompt, &Known::default());
    let written: Vec<&str> = found.references.iter().map(|one| prompt.get(one.range.clone()).unwrap()).collect();
    assert_eq!(written, ["@a", "@b", "@a"]);
    assert_eq!(found.targets(), [&Target::File("a".into()), &Target::File("b".into())]);
}

#[test]
fn there_is_an_end_to_references() {
    let found = find(&"@a ".repeat(REFERENCES_MAX + 3), &Known::default());
    assert_eq!((found.references.len(), found.left_out), (REFERENCES_MAX, 3));
}

#[test]
fn what_is_typed_is_found_again() {
    for name in ["docs:docs://start", "my file (1), x.txt", "a.", "a. b", "a.b", r#"q"u\o"#, "x\ty"] {
        let typed = typed(name);
        let found = find(&typed, &Known::default());
        let target = match &found.references.first().unwrap().target {
            Target::File(path) => path.clone(),
            Target::Resource { .. } => panic!("{name}"),
        };
        assert_eq!(target, name, "{typed}");
    }
}
