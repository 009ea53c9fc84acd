//! The code blocks of a page that contain commands.

use std::ops::Range;

use pretty_assertions::StrComparison;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};
use snapbox::Data;
use snapbox::filter::NormalizeToExpected;

/// A code block with commands.
pub struct Block {
    pub line: usize,
    /// Whether the block has only commands, without output.
    bare: bool,
    inside: Range<usize>,
    pub needs: Vec<String>,
    pub by: Option<String>,
}

/// A command, its exit status, and the place of its output in the page.
pub struct Step {
    pub command: String,
    pub status: i32,
    pub output: Option<Range<usize>>,
}

/// Markdown events of a page, with their ranges.
pub fn events(text: &str) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter()
}

/// The code blocks, each with its info string (or an empty one) and the range between its fences.
pub fn code(text: &str) -> Vec<(String, Range<usize>)> {
    let mut found = Vec::new();
    for (event, range) in events(text) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                let whole = &text[range.clone()];
                let first = whole.find('\n').map_or(whole.len(), |at| at + 1);
                let last = whole.trim_end().rfind('\n').map_or(first, |at| at + 1);
                found.push((info.to_string(), range.start + first..range.start + last.max(first)));
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) => found.push((String::new(), range)),
            _ => {}
        }
    }
    found
}

/// The blocks of a page that have commands.
pub fn of(text: &str) -> Vec<Block> {
    code(text).into_iter().filter_map(|(info, inside)| Block::new(text, &info, inside)).collect()
}

impl Block {
    fn new(text: &str, info: &str, inside: Range<usize>) -> Option<Self> {
        let mut words = info.split_whitespace();
        let bare = match words.next()? {
            "sh" => true,
            "console" => false,
            // Code that a test of another file runs.
            "python" | "rust" if info.contains("by=") => true,
            _ => return None,
        };
        let line = text[..inside.start].lines().count();
        let mut block = Self { line, bare, inside, needs: Vec::new(), by: None };
        for word in words {
            match word.split_once('=') {
                Some(("needs", list)) => block.needs.extend(list.split(',').map(str::to_owned)),
                Some(("by", by)) => block.by = Some(by.to_owned()),
                _ => panic!("line {line}: {word}?"),
            }
        }
        Some(block)
    }

    /// Whether this test runs the block's commands.
    pub fn runs(&self) -> bool {
        self.by.is_none()
    }

    /// The command lines of the block as written in the page, without comments.
    pub fn lines(&self, text: &str) -> Vec<String> {
        let lines = text[self.inside.clone()].lines();
        let commands = lines.filter_map(|line| if self.bare { Some(line) } else { line.strip_prefix("$ ") });
        let plain = commands.map(|line| line.split("  #").next().unwrap_or_default().trim());
        plain.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
    }

    pub fn steps(&self, text: &str) -> Vec<Step> {
        if self.bare {
            let step = |command| Step { command, status: 0, output: None };
            return self.lines(text).into_iter().map(step).collect();
        }
        let mut steps: Vec<Step> = Vec::new();
        let mut at = self.inside.start;
        for line in text[self.inside.clone()].split_inclusive('\n') {
            at += line.len();
            let fresh = steps.last().is_some_and(|step| step.output.as_ref().is_some_and(Range::is_empty));
            if let Some(command) = line.strip_prefix("$ ") {
                steps.push(Step { command: command.trim_end().to_owned(), status: 0, output: Some(at..at) });
                continue;
            }
            let step = steps.last_mut().unwrap_or_else(|| panic!("line {}: no command", self.line));
            if let Some(more) = line.strip_prefix("> ").filter(|_| fresh) {
                step.command += &format!("\n{}", more.trim_end());
                step.output = Some(at..at);
            } else if let Some(status) = line.strip_prefix("? ").filter(|_| fresh) {
                step.status = status.trim().parse().expect("a status");
                step.output = Some(at..at);
            } else {
                step.output = step.output.take().map(|output| output.start..at);
            }
        }
        steps
    }
}

/// The output with the page's `...` and `[..]` inserted where they match.
pub fn with_gaps(printed: &str, page: &str) -> String {
    let normal = NormalizeToExpected::new().redact().normalize(Data::text(printed), &Data::text(page));
    normal.render().expect("text stays text")
}

pub fn difference(page: &str, printed: &str) -> String {
    StrComparison::new(page, printed).to_string()
}
