//! Texts of settings and of the command line, on a machine that is a table.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::{Ground, INCLUDE_DIRECTORIES};
use crate::limits::INCLUDED_FOLDERS_MAX;
use crate::settings::load::Settings;
use crate::settings::read::read_text;
use crate::settings::source::SettingsSource;

/// `/w` is the workspace. `/link` is a link to `/data`, `/loop` to nothing.
fn look(path: &Path) -> io::Result<PathBuf> {
    let text = path.to_str().unwrap();
    let real = match text.trim_end_matches('/') {
        "" => "/",
        "/link" => "/data",
        "/link/sub" => "/data/sub",
        "/w/../lib" => "/lib",
        "/w/." => "/w",
        "/file" => return Err(io::ErrorKind::NotADirectory.into()),
        "/closed" => return Err(io::ErrorKind::PermissionDenied.into()),
        other if other.contains("gone") => return Err(io::ErrorKind::NotFound.into()),
        other => other,
    };
    Ok(real.into())
}

/// The folders of these layers and texts of the command line with their places, and the warnings.
fn included(layers: &[(SettingsSource, &str)], of_run: &[&str], home: Option<&Path>) -> (Vec<String>, Vec<String>) {
    let variables = BTreeMap::from([("DATA".to_owned(), "/data".to_owned()), ("EMPTY".to_owned(), String::new())]);
    let read = |(source, list): &(SettingsSource, &str)| {
        let text = format!("{{\n  \"context\": {{\n    \"includeDirectories\": {list}\n  }}\n}}");
        read_text(&text, Path::new(&format!("/{source}.json")), *source).unwrap()
    };
    let settings = Settings { layers: layers.iter().map(read).collect(), ..Settings::default() };
    let ground =
        Ground { workspace: Path::new("/w"), home, variables: &variables, own: Some("/own".into()), look: &look };
    let of_run: Vec<String> = of_run.iter().map(|text| (*text).to_owned()).collect();
    let found = settings.included(&of_run, &ground);
    let folders = found.folders.iter().map(|one| format!("{} {}", one.path.display(), one.origin)).collect();
    (folders, found.diagnostics.iter().map(ToString::to_string).collect())
}

#[test]
fn texts_become_folders_or_warnings() {
    let key = INCLUDE_DIRECTORIES;
    let left_out = |text: &str, why: &str| vec![format!("/user.json:3: {key}: `{text}` is left out: {why}")];
    let rows: Vec<(&str, Vec<&str>, Vec<String>)> = vec![
        (r#"["/a", "/b"]"#, vec!["/a", "/b"], vec![]),
        (r#""/a""#, vec!["/a"], vec![]),
        ("[]", vec![], vec![]),
        (r#"["~/x", "~"]"#, vec!["/h/x", "/h"], vec![]),
        (r#"["$DATA", "${DATA}/sub2", "${NONE:-/d}"]"#, vec!["/data", "/d"], vec![]),
        (r#"["../lib", " /a "]"#, vec!["/lib", "/a"], vec![]),
        (r#"["/link", "/data", "/data/", "/link/sub"]"#, vec!["/data"], vec![]),
        (r#"[".", "/w", "sub", "/w/deep"]"#, vec![], vec![]),
        (r#"["/"]"#, vec!["/"], vec![]),
        (r#"["/gone"]"#, vec![], left_out("/gone", "there is no such folder")),
        (r#"["/file"]"#, vec![], left_out("/file", "it is no folder")),
        (r#"["/closed"]"#, vec![], left_out("/closed", "it cannot be looked at: permission denied")),
        (r#"["/own/x"]"#, vec![], left_out("/own/x", "it is toolgate's own, which tools do not open")),
        (r#"["$NONE/x"]"#, vec![], left_out("$NONE/x", "`NONE` is not set")),
        (r#"["$EMPTY"]"#, vec![], left_out("$EMPTY", "it is empty")),
        (r#"[""]"#, vec![], left_out("", "it is empty")),
        (r#"["${env:DATA}"]"#, vec![], left_out("${env:DATA}", "a path takes no reference to a secret")),
        (r#"["/gone\n"]"#, vec![], left_out("/gone\\n", "there is no such folder")),
    ];
    for (list, folders, warnings) in rows {
        let folders: Vec<String> = folders.iter().map(|path| format!("{path} /user.json:3")).collect();
        let found = included(&[(SettingsSource::User, list)], &[], Some(Path::new("/h")));
        assert_eq!(found, (folders, warnings), "{list}");
    }
    let (folders, warnings) = included(&[(SettingsSource::User, r#"["~/x"]"#)], &[], None);
    assert_eq!(folders, [] as [&str; 0]);
    assert!(warnings[0].ends_with("no home folder is known, so `~` has no meaning"), "{warnings:?}");
}

#[test]
fn only_the_person_and_the_administrator_have_a_say() {
    use SettingsSource as S;
    let layers = [
        (S::SystemOverrides, r#"["/d", "/a"]"#),
        (S::User, r#"["/b", "/c"]"#),
        (S::Workspace, r#"["/evil"]"#),
        (S::SystemDefaults, r#"["/a"]"#),
        (S::Extension, r#"["/evil"]"#),
    ];
    let (folders, warnings) = included(&layers, &["/e", "/b", "/gone"], None);
    let expected = [
        "/a /system-defaults.json:3",
        "/b /user.json:3",
        "/c /user.json:3",
        "/d /system-overrides.json:3",
        "/e command-line settings",
    ];
    assert_eq!(folders, expected);
    let expected = [
        "/extension.json:3: context.includeDirectories: an extension has no say in this, so it does not count here",
        "/workspace.json:3: context.includeDirectories: a workspace folder has no say in this, so it does not count here",
        "command-line settings: --include-directories: `/gone` is left out: there is no such folder",
    ];
    assert_eq!(warnings, expected);
}

#[test]
fn the_number_of_folders_is_bounded() {
    let list: Vec<String> = (0..INCLUDED_FOLDERS_MAX + 2).map(|number| format!("\"/f{number}\"")).collect();
    let (folders, warnings) = included(&[(SettingsSource::User, &format!("[{}]", list.join(",")))], &["/f0"], None);
    assert_eq!((folders.len(), warnings.len()), (INCLUDED_FOLDERS_MAX, 2));
    assert!(warnings[0].contains("INCLUDED_FOLDERS_MAX"), "{warnings:?}");
}
