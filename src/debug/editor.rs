//! Reads the commands of the debugger.

use std::io::{self, BufRead, IsTerminal};

use a4emu_support::folders::read_line;
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;

/// The prompt of the terminal.
const PROMPT: &str = "(a4emu) ";

/// The source of commands.
pub enum Commands {
    /// A terminal, with history and editing.
    Typed(Box<DefaultEditor>),
    /// A file or pipe.
    Piped(Box<dyn BufRead>),
}

impl Commands {
    /// Reads commands from stdin.
    ///
    /// # Errors
    /// The call fails if the terminal does not support line editing.
    pub fn stdin() -> io::Result<Self> {
        if io::stdin().is_terminal() {
            return Ok(Self::Typed(Box::new(DefaultEditor::new().map_err(io::Error::other)?)));
        }
        Ok(Self::Piped(Box::new(io::stdin().lock())))
    }

    /// The next command; `None` at the end.
    ///
    /// # Errors
    /// The call fails if the input cannot be read, or a line is too long.
    pub fn next(&mut self) -> io::Result<Option<String>> {
        match self {
            Self::Piped(input) => read_line(input),
            Self::Typed(editor) => loop {
                match editor.readline(PROMPT) {
                    Ok(line) => {
                        // The history may be full, or drop a repetition; that is no error.
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
