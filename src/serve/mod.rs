//! `a4emu serve`: serves the page of [`report`](a4emu_inspect::report) to a browser on this machine, and
//! answers its queries.
//!
//! [`gate`] checks the address of requests, and [`desk`] limits how many are served at once. [`site`]
//! answers queries: about shaders with [`step`], about changed registers with [`edit`]. [`http`] reads
//! requests and writes responses. No data from the network is used as a file name.

mod desk;
mod edit;
mod gate;
mod http;
mod memory;
mod query;
mod site;
mod step;

use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use a4emu_decoder::generation::{DEFAULT, Generation};
use anyhow::Context;

use crate::flags::Flags;
use a4emu_gpu::ambient;
use a4emu_inspect::describe::Capture;
use a4emu_support::limits::Limits;
use a4emu_support::options::{Shared, Threads};
use a4emu_support::status::{Failure, Status};
use a4emu_support::terminal;
use desk::{Desk, Visit};
use gate::Gate;
use http::{Refused, Response};
use site::Site;

/// Pause after a connection that could not be accepted.
const PAUSE: Duration = Duration::from_millis(50);

/// Arguments of `serve`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A .rd or .rd.gz file, or - for stdin
    pub capture: PathBuf,
    /// Port of the loopback address (0: any free port)
    #[arg(long, value_name = "N", default_value = "0", hide_default_value = true)]
    pub port: u16,
    /// Threads that render
    #[command(flatten)]
    pub threads: Flags<Threads>,
    /// Bounds of each run
    #[command(flatten)]
    pub limits: Flags<Limits>,
}

/// Runs the subcommand until the process is killed.
///
/// # Errors
/// The call fails if the capture cannot be opened, or if the port cannot be used.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port))
        .with_context(|| format!("cannot listen on port {}", args.port))?;
    let gate = Gate::new(listener.local_addr()?.port())?;
    let capture = Capture::new(&args.capture, shared)?;
    capture.accept(&args.limits, shared)?;
    let generation = capture.generation(&args.limits, shared)?;
    if generation.number != DEFAULT.number {
        return Err(without_pictures(args, generation).into());
    }
    let site = Site::new((capture, generation), args, shared, gate.path());
    let mut out = terminal::text();
    writeln!(out, "http://127.0.0.1:{}{}", gate.port(), gate.path())?;
    out.flush()?;
    let desk = Desk::default();
    let (gate, site) = (&gate, &site);
    thread::scope(|scope| {
        // The page asks for the data at once. If no thread can be started, requests make what they need.
        let _refused = ambient::spawn_scoped(scope, "a4emu-frame", || site.prepare());
        loop {
            // The client may have gone, or the process or the system has as many files open as it may have.
            let Ok((stream, _)) = listener.accept() else {
                desk.dismiss();
                thread::sleep(PAUSE);
                continue;
            };
            let stream = Arc::new(stream);
            let Some(visit) = desk.visit(&stream) else { continue };
            // A client that disconnects early does not get the response.
            let serve = move || drop(answer(&stream, visit, gate, site));
            // If no thread can be started, the connection ends.
            let _refused = ambient::spawn_scoped(scope, "a4emu-serve", serve);
        }
    })
}

/// The failure that the capture has no pictures. What the served page has more than that of `report` needs draws that run.
fn without_pictures(args: &Args, generation: &Generation) -> Failure {
    let (name, number) = (args.capture.display(), generation.number);
    let message = format!(
        "{name}: draws of an A{number}xx are not rendered yet, so nothing is served; `report` writes what is known without"
    );
    Failure { status: Status::Unsupported, message }
}

fn answer(stream: &TcpStream, mut visit: Visit<'_>, gate: &Gate, site: &Site) -> io::Result<()> {
    let request = http::read(stream);
    visit.asked();
    let response = match request {
        Err(Refused::Gone) => return Ok(()),
        Err(Refused::With(response)) => response,
        Ok(request) => match gate.question(&request) {
            Err(response) => response,
            Ok(question) => {
                let _turn = visit.turn();
                site.answer(question).unwrap_or_else(|| Response::text(404, "there is nothing here"))
            }
        },
    };
    http::write(stream, &response)
}
