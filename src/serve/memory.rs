//! Lists memory, as `memory` does.

use anyhow::anyhow;

use super::query::Query;
use a4emu_inspect::describe::Capture;
use a4emu_inspect::memory::{Answer, Asked, Form, Place, Point, Question, ask};
use a4emu_inspect::selection::Draws;
use a4emu_support::limits::Limits;
use a4emu_support::options::Shared;

/// The range `place` before or after a draw (`when`), in the form `as`; with `changed`, only what changed since before
/// that draw; with `who`, what uses the range in the whole capture.
///
/// # Errors
/// The call fails if there is no such draw, or if its state does not name the place.
pub fn listed(capture: &Capture, limits: &Limits, query: &Query, shared: &Shared) -> anyhow::Result<Answer> {
    let draws = |name| query.get::<Draws>(name);
    let place: Place = query.needed("place")?;
    let point = match (draws("draw")?, query.all("when").next()) {
        (None, _) => Point::End,
        (Some(draw), Some("before")) => Point::Before(draw),
        (Some(draw), Some("after") | None) => Point::After(draw),
        (Some(_), Some(other)) => return Err(anyhow!("`{other}` is neither before nor after")),
    };
    let form: Option<Form> = query.get("as")?;
    let asked = if query.all("who").next().is_some() { Asked::Users } else { Asked::Bytes };
    let since = draws("changed")?;
    let question = Question { capture, place: &place, point, since, form: form.as_ref(), asked, limits };
    Ok(ask(question, shared)?.1)
}
