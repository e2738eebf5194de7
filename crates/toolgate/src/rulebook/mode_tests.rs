//! The mode of a run: requested, configured, and restricted by settings.

use std::path::Path;
use std::sync::Arc;

use super::mode_of_run;
use crate::env::{HostDirs, HostEnv, SystemClock};
use crate::policy::Mode;
use crate::settings::read::read_text;
use crate::settings::{Settings, SettingsSource};
use crate::trust::judge;

#[test]
fn the_mode_plan_can_be_switched_off() {
    let off = r#""general": {"plan": {"enabled": false}}"#;
    let written = r#""general": {"plan": {"enabled": false}, "defaultApprovalMode": "plan"}"#;
    // Requested mode, configured mode, and the result, or the key that the error names.
    let cases = [
        (None, "", Ok(Mode::Default)),
        (None, r#""general": {"defaultApprovalMode": "plan"}"#, Ok(Mode::Plan)),
        (None, written, Ok(Mode::Default)),
        (Some(Mode::Plan), "", Ok(Mode::Plan)),
        (Some(Mode::Plan), r#""general": {"plan": {"enabled": true}}"#, Ok(Mode::Plan)),
        // Every other mode permits more, so there is no substitute.
        (Some(Mode::Plan), off, Err("general.plan.enabled")),
        (Some(Mode::AutoEdit), off, Ok(Mode::AutoEdit)),
        (Some(Mode::Yolo), off, Ok(Mode::Yolo)),
        (Some(Mode::Yolo), r#""security": {"disableYoloMode": true}"#, Err("security.disableYoloMode")),
    ];
    let dirs = HostDirs { user: "/none/u".into(), system: "/none/s".into(), home: None };
    let env = HostEnv { vars: Default::default(), dirs, workspace: "/none/w".into(), clock: Arc::new(SystemClock) };
    for (asked, text, expected) in cases {
        let layer = read_text(&format!("{{{text}}}"), Path::new("/s.json"), SettingsSource::User).unwrap();
        let settings = Settings { layers: vec![layer], ..Settings::default() };
        for is_trusted in [true, false] {
            let folder = judge(&env, &settings, Some(is_trusted)).unwrap();
            let found = mode_of_run(asked, &settings, &folder);
            match (expected, found) {
                (Ok(expected), Ok(Mode::Default)) if !is_trusted => {
                    assert_ne!(expected, Mode::Plan, "{asked:?} {text}")
                }
                (Ok(expected), Ok(found)) if is_trusted => assert_eq!(found, expected, "{asked:?} {text}"),
                (Ok(_), Ok(found)) => assert_eq!(found, Mode::Plan, "{asked:?} {text}"),
                (Err(key), Err(error)) => assert!(error.hint().unwrap_or_default().contains(key), "{error}"),
                (Err(_), Ok(Mode::Default)) if !is_trusted => assert_eq!(asked, Some(Mode::Yolo), "{text}"),
                (expected, found) => panic!("{asked:?} {text}: expected {expected:?}, found {found:?}"),
            }
        }
    }
}
