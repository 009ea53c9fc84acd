//! Formats a diagnostic with the line of its source.

use std::io::IsTerminal;

use a4emu_decoder::asm::Diagnostic;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use crate::options::When;
use crate::terminal::Shown;

/// The message with the file, line and column, and the line itself with a mark.
pub fn snippet(diagnostic: &Diagnostic, color: When) -> String {
    let Diagnostic { file, source, range, message, .. } = diagnostic;
    let coloured = match color {
        When::Auto => std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
        When::Always => true,
        When::Never => false,
    };
    let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
    let mark = AnnotationKind::Primary.span(range.clone());
    let snippet = Snippet::source(source.as_str()).path(Shown(file).to_string()).annotation(mark);
    renderer.render(&[Level::ERROR.primary_title(message.as_str()).element(snippet)]).to_string()
}
