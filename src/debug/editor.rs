//! Where commands come from.

use std::io::{self, BufRead, IsTerminal};

use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;

/// What people see in front of what they type.
const PROMPT: &str = "(a4emu) ";

/// Lines that somebody types, or that stand in a file or pipe.
pub enum Commands {
    /// From a terminal, with history and editing.
    Typed(Box<DefaultEditor>),
    /// From anything else.
    Piped(Box<dyn BufRead>),
}

impl Commands {
    /// From stdin.
    ///
    /// # Errors
    /// The terminal is none that lines can be edited on.
    pub fn stdin() -> io::Result<Self> {
        if io::stdin().is_terminal() {
            return Ok(Self::Typed(Box::new(DefaultEditor::new().map_err(io::Error::other)?)));
        }
        Ok(Self::Piped(Box::new(io::stdin().lock())))
    }

    /// The next; `None` at the end. What is interrupted is an empty line that does nothing.
    pub fn next(&mut self) -> io::Result<Option<String>> {
        match self {
            Self::Piped(input) => {
                let mut line = String::new();
                Ok((input.read_line(&mut line)? > 0).then_some(line))
            }
            Self::Typed(editor) => loop {
                match editor.readline(PROMPT) {
                    Ok(line) => {
                        // A history that is full or takes no repetition is no reason to stop.
                        let _ = editor.add_history_entry(line.as_str());
                        return Ok(Some(line));
                    }
                    Err(ReadlineError::Interrupted) => {}
                    Err(ReadlineError::Eof) => return Ok(None),
                    Err(error) => return Err(io::Error::other(error)),
                }
            },
        }
    }
}
