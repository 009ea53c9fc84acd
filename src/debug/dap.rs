//! The Debug Adapter Protocol over stdin and stdout, with which editors step through shaders.
//!
//! Source: the specification at microsoft.github.io/debug-adapter-protocol. The lanes of the warp are the
//! threads; they stop and run together. No maintained crate has the types of the protocol, so messages are
//! plain JSON.
//!
//! - [`wire`]: messages; [`adapter`]: the requests of a session; [`variables`]: the values of a lane.
mod adapter;
mod variables;
mod wire;

use std::io::{self, BufRead, Write};

use anyhow::{Context, anyhow};
use serde_json::{Value, json};

use super::session::Session;
use super::subject::Subject;
use a4emu_support::status::Status;
use a4emu_support::terminal;
use adapter::Adapter;
use wire::{Request, Wire};

/// Runs a session with the launched program.
pub type Begin<'b> = &'b mut dyn FnMut(Session<'_>, &Subject) -> io::Result<()>;

/// The capabilities of this adapter.
fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsStepBack": true,
        "supportsDataBreakpoints": true,
        "supportsInstructionBreakpoints": true,
        "supportsDisassembleRequest": true,
        "supportsReadMemoryRequest": true,
        "supportsSteppingGranularity": true,
        "supportsEvaluateForHovers": true,
        "supportsTerminateRequest": true,
    })
}

/// Serves one client on stdin and stdout. `launch` begins a session from launch arguments.
///
/// # Errors
/// The call fails if the client violates the protocol or closes the connection.
pub fn serve(launch: impl Fn(&Value, Begin<'_>) -> anyhow::Result<Status>) -> anyhow::Result<Status> {
    let mut wire = Wire::new(io::stdin().lock(), terminal::bytes());
    let mut lines_from = 1;
    while let Some(request) = wire.receive().context("debug adapter protocol")? {
        match request.command.as_str() {
            "initialize" => {
                let from_one = request.arguments["linesStartAt1"].as_bool().unwrap_or(true);
                lines_from = u32::from(from_one);
                wire.answer(&request, Ok(capabilities()))?;
            }
            "launch" | "attach" => {
                let mut ended = None;
                let result = launch(&request.arguments, &mut |session, subject| {
                    ended = Some(attend(&mut wire, &request, session, subject, lines_from));
                    Ok(())
                });
                match (ended, result) {
                    (Some(ended), status) => {
                        ended?;
                        return status;
                    }
                    (None, Ok(_)) => wire.answer(&request, Err(anyhow!("nothing was launched")))?,
                    (None, Err(error)) => wire.answer(&request, Err(error))?,
                }
            }
            "disconnect" | "terminate" => {
                wire.answer(&request, Ok(Value::Null))?;
                return Ok(Status::Fine);
            }
            other => wire.answer(&request, Err(anyhow!("{other}: nothing has been launched")))?,
        }
    }
    Ok(Status::Fine)
}

/// Serves a session until the client disconnects.
fn attend<R: BufRead, W: Write>(
    wire: &mut Wire<R, W>,
    launch: &Request,
    session: Session<'_>,
    subject: &Subject,
    lines_from: u32,
) -> io::Result<()> {
    let stops_first = launch.arguments["stopOnEntry"].as_bool().unwrap_or(true);
    let mut adapter = Adapter::new(session, subject, lines_from);
    wire.answer(launch, Ok(Value::Null))?;
    wire.event("initialized", Value::Null)?;
    while let Some(request) = wire.receive()? {
        if request.command == "configurationDone" {
            wire.answer(&request, Ok(Value::Null))?;
            let event = if stops_first { adapter.entry() } else { adapter.start() };
            wire.event("stopped", event)?;
            continue;
        }
        let is_last = matches!(request.command.as_str(), "disconnect" | "terminate");
        let answer = adapter.answer(&request.command, &request.arguments);
        wire.answer(&request, answer)?;
        if is_last {
            wire.event("terminated", Value::Null)?;
            return Ok(());
        }
        for (name, body) in adapter.events() {
            wire.event(name, body)?;
        }
    }
    Ok(())
}
