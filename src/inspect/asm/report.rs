//! Formats a diagnostic with the line of its source.

use a4emu_decoder::asm::Diagnostic;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use a4emu_support::terminal::Shown;

/// The message with the file, line and column, and the line itself with a mark.
pub fn snippet(diagnostic: &Diagnostic) -> String {
    let Diagnostic { file, source, range, message, .. } = diagnostic;
    let coloured = anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never;
    let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
    let mark = AnnotationKind::Primary.span(range.clone());
    let snippet = Snippet::source(source.as_str()).path(Shown(file).to_string()).annotation(mark);
    renderer.render(&[Level::ERROR.primary_title(message.as_str()).element(snippet)]).to_string()
}
