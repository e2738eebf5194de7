//! The mode of a run: what was asked for, and what the settings and the folder allow of it.

use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::grants::Lasting;
use crate::policy::Mode;
use crate::settings::Settings;
use crate::settings::raw::RawValue;
use crate::trust::Folder;

const PLAN_SWITCH: &str = "general.plan.enabled";

const SECONDS_OF_A_DAY: f64 = 24.0 * 60.0 * 60.0;

/// The mode of a run. `asked` is the flag; without one the settings say.
///
/// # Errors
/// Returns an error if the mode that never asks is forbidden, or the mode `plan` is disabled.
pub fn mode_of_run(asked: Option<Mode>, settings: &Settings, folder: &Folder) -> Result<Mode> {
    if asked == Some(Mode::Plan) && is_switched_off(settings, PLAN_SWITCH) {
        return Err(switched_off());
    }
    let written = settings.word("general.defaultApprovalMode").or_else(|| settings.word("tools.approvalMode"));
    // A file cannot ask for the mode that asks nothing.
    let written = written.and_then(Mode::of).filter(|mode| *mode != Mode::Yolo);
    if !folder.is_trusted() {
        // The strictest mode counts everywhere.
        let is_strict = asked.or(written) == Some(Mode::Plan) && !is_switched_off(settings, PLAN_SWITCH);
        return Ok(if is_strict { Mode::Plan } else { Mode::Default });
    }
    match asked.or(written).unwrap_or_default() {
        Mode::Yolo if forbids_yolo(settings) => {
            let error = Error::new(ErrorKind::Settings, "the mode `yolo` is forbidden by your settings");
            Err(error.hinting("`security.disableYoloMode` or `admin.secureModeEnabled` says so"))
        }
        Mode::Plan if is_switched_off(settings, PLAN_SWITCH) => Ok(Mode::Default),
        mode => Ok(mode),
    }
}

/// Every other mode permits more, so there is no substitute for `plan`.
fn switched_off() -> Error {
    let error = Error::new(ErrorKind::Settings, "the mode `plan` is switched off by your settings");
    error.hinting(format!("remove `{PLAN_SWITCH}`, or use another mode"))
}

fn forbids_yolo(settings: &Settings) -> bool {
    settings.restricting_switch("security.disableYoloMode") || settings.restricting_switch("admin.secureModeEnabled")
}

fn is_switched_off(settings: &Settings, path: &str) -> bool {
    let others = settings.layers.iter().filter(|layer| !layer.is_of_workspace());
    let mut written = others.filter_map(|layer| layer.kept(path));
    written.next_back().is_some_and(|value| matches!(value.value, RawValue::Bool(false)))
}

/// How long an answer is remembered for good: the shortest time that anybody wants, also a folder. For ever, when nobody says.
#[must_use]
pub fn grants_last_in_run(settings: &Settings) -> Option<Duration> {
    let written = settings.layers.iter().filter_map(|layer| layer.kept("security.grantDays"));
    let days = written.filter_map(|value| match &value.value {
        RawValue::Number(number) => number.parse::<f64>().ok(),
        _ => None,
    });
    days.filter_map(|days| Duration::try_from_secs_f64(days * SECONDS_OF_A_DAY).ok()).min()
}

/// Whether answers may be remembered beyond the call.
#[must_use]
pub fn lasting_of_run(settings: &Settings) -> Lasting {
    let forbidden = ["security.disableAlwaysAllow", "admin.secureModeEnabled"];
    if forbidden.iter().any(|path| settings.restricting_switch(path)) { Lasting::Never } else { Lasting::Always }
}

#[cfg(test)]
#[path = "mode_tests.rs"]
mod tests;
