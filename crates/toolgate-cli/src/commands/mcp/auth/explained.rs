//! `toolgate mcp auth explain SERVER`: every step of a login, and the rule that stops it.

use toolgate::auth::journal::{Step, StepOutcome};
use toolgate::shape::visible;
use toolgate::{Host, Interest};

use crate::error::Result;
use crate::exit_code::Ending;
use crate::json::JsonWriter;
use crate::printer::{Form, Printer};
use crate::session::Session;

/// Runs the command.
pub(super) fn run(session: &mut Session, name: &str) -> Result<Ending> {
    let configured = session.configured()?;
    let servers = configured.chosen(Some(name))?;
    session.with_host(&configured.plan(Interest::NONE).without_login(), async |host: &Host, printer| {
        let steps = host.explain_login(servers).await?.steps();
        match printer.form() {
            Form::Json => printer.json(|json| write(json, name, &steps))?,
            Form::Text => print(printer, name, &steps)?,
        }
        let has_failed = steps.iter().any(|step| step.outcome == StepOutcome::Failed);
        Ok(if has_failed { Ending::Found } else { Ending::Done })
    })
}

fn print(printer: &mut Printer, name: &str, steps: &[Step]) -> Result<()> {
    let paint = printer.paint();
    printer.line(&paint.bold(visible::line(name)).to_string())?;
    for step in steps {
        let mark = match step.outcome {
            StepOutcome::Good => paint.green("✓"),
            StepOutcome::Nothing => paint.yellow("–"),
            StepOutcome::Failed => paint.red("✗"),
        };
        printer.line(&format!("  {mark} {}: {}", visible::line(&step.what), visible::line(&step.detail)))?;
        if let Some(rule) = step.rule {
            printer.line(&format!("      {}", paint.dim(rule)))?;
        }
    }
    Ok(())
}

fn write(json: &mut JsonWriter<'_>, name: &str, steps: &[Step]) -> std::io::Result<()> {
    json.object(|object| {
        object.string("server", name)?;
        object.array("steps", steps, |json, step| {
            json.object(|object| {
                object.string("step", &step.what)?;
                object.string(
                    "outcome",
                    match step.outcome {
                        StepOutcome::Good => "good",
                        StepOutcome::Nothing => "nothing",
                        StepOutcome::Failed => "failed",
                    },
                )?;
                object.string("detail", &step.detail)?;
                object.optional_string("rule", step.rule)
            })
        })
    })
}
