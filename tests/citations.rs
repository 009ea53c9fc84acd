//! Citations in comments resolve: each `NAME.md` is a file, each section named after it is a heading of the
//! file, and no comment refers to a place outside of the repository.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders whose comments are checked.
const PLACES: [&str; 7] = ["src", "decoder", "tests", "benches", "examples", "scripts", "captures"];

/// Words that refer to documents outside of the tree.
const FORBIDDEN: [&str; 8] = [
    "seeds/",
    "design/",
    "shared/hardware",
    "shared/tools",
    "wiki page",
    "wiki's",
    "hardware page",
    " page, section",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() && entry.file_name().is_some_and(|name| name != "target") {
            files(&entry, found);
        } else if comment_mark(&entry).is_some() {
            found.push(entry);
        }
    }
}

/// The mark with which a comment begins in the file.
fn comment_mark(path: &Path) -> Option<&'static str> {
    match path.extension().map(|extension| extension.to_str().unwrap()) {
        Some("rs" | "a4" | "a4i" | "c") => Some("//"),
        Some("toml" | "py" | "txt") => Some("#"),
        None if path.parent().is_some_and(|folder| folder.ends_with("scripts")) => Some("#"),
        _ => None,
    }
}

/// The comments of a file. Adjacent lines are joined, so that a citation may be wrapped.
fn comments(text: &str, mark: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    for line in text.lines() {
        let comment = line.find(mark).map(|start| line[start..].trim_start_matches(['/', '!', '#']));
        match comment {
            Some(comment) => {
                let paragraph = found.last_mut().unwrap();
                paragraph.push(' ');
                paragraph.push_str(comment.trim());
            }
            None if !found.last().unwrap().is_empty() => found.push(String::new()),
            None => {}
        }
    }
    found
}

/// The sections named after a citation: `, section 9.3` or `, sections 2 and 3`.
fn sections(behind: &str) -> Vec<&str> {
    let Some(rest) = behind.strip_prefix(", section") else { return Vec::new() };
    let words = rest.trim_start_matches('s').split_whitespace();
    let number = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
    words
        .take_while(|word| number(word) || ["and", "to"].contains(word))
        .filter(number)
        .map(|word| word.trim_end_matches(|last: char| !last.is_ascii_digit()))
        .collect()
}

/// The errors in the citations of one comment.
fn complaints(comment: &str) -> Vec<String> {
    let mut wrong: Vec<String> = FORBIDDEN
        .iter()
        .filter(|word| comment.contains(*word))
        .map(|word| format!("says {word:?}"))
        .collect();
    for (end, _) in comment.match_indices(".md") {
        let begin = comment[..end].rfind([' ', '(', '`', '"', '[']).map_or(0, |at| at + 1);
        let name = &comment[begin..end + 3];
        let Ok(page) = fs::read_to_string(root().join(name)) else {
            wrong.push(format!("cites {name}, which is not there"));
            continue;
        };
        let headings: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix('#')).collect();
        for section in sections(&comment[end + 3..]) {
            let is = |heading: &&str| {
                heading
                    .trim_start_matches('#')
                    .split_whitespace()
                    .next()
                    .map(|word| word.trim_end_matches('.'))
                    == Some(section)
            };
            if !headings.iter().any(is) {
                wrong.push(format!("cites section {section} of {name}, which has none"));
            }
        }
    }
    wrong
}

#[test]
fn citations_resolve() {
    let mut found = Vec::new();
    PLACES.iter().for_each(|place| files(&root().join(place), &mut found));
    let (mut cited, mut wrong) = (0, Vec::new());
    for path in found.iter().filter(|path| !path.ends_with("tests/citations.rs")) {
        let text = fs::read_to_string(path).unwrap();
        for comment in comments(&text, comment_mark(path).unwrap()) {
            cited += comment.matches("docs/hardware/").count();
            let place = path.strip_prefix(root()).unwrap().display();
            wrong.extend(complaints(&comment).iter().map(|complaint| format!("{place} {complaint}")));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(cited > 30, "only {cited} citations found");
}

/// Whether `name` is a rule or an exception of the hazards, a frame with a reference picture, a path, or a test.
fn is_there(name: &str, hazards: &str, frames: &str, sources: &str) -> bool {
    hazards.contains(&format!(" {name} "))
        || frames.lines().any(|line| line.starts_with(&format!("{name} ")))
        || (name.starts_with("tests") || name.contains("/tests")) && root().join(name).exists()
        || sources.contains(&format!("fn {name}()"))
        || name == "none"
        || name.starts_with("see ")
}

/// The tests that the page of the driver's history names exist.
#[test]
fn tests_of_the_history_are_there() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let (page, hazards, frames) =
        (read("docs/hardware/driver-history.md"), read("docs/hardware/hazards.md"), read("tests/frames.txt"));
    let mut found = Vec::new();
    PLACES.iter().for_each(|place| files(&root().join(place), &mut found));
    let sources: String = found.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let part = page.split("\n## ").find(|part| part.starts_with("2014")).expect("the first table");
    let rows = part.lines().filter_map(|line| match line.split(" | ").collect::<Vec<_>>()[..] {
        [_, _, a4emu, tests] if a4emu.contains(':') => Some(tests.trim_end_matches(" |")),
        _ => None,
    });
    let names: Vec<&str> = rows.flat_map(|tests| tests.split([',', ';'])).map(str::trim).collect();
    let wrong: Vec<&&str> =
        names.iter().filter(|name| !is_there(name, &hazards, &frames, &sources)).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(names.len() > 60, "only {} names", names.len());
}

#[test]
fn unresolved_citations_are_reported() {
    let none: [String; 0] = [];
    assert_eq!(complaints("as docs/hardware/registers.md, section 9.3, says; README.md too"), none);
    assert_eq!(complaints("(docs/hardware/driver-flow.md, sections 3 to 6). A restore"), none);
    for wrong in [
        "docs/hardware/registers.md, section 9.31",
        "docs/hardware/registers.md, sections 1 and 77.",
        "(registers.md, section 5)",
        "see the wiki page A4xx-Geometry-Shaders",
        "ir3-isa page, section 9.3",
    ] {
        assert_eq!(complaints(wrong).len(), 1, "{wrong}");
    }
}

/// Pages cite other pages and source files by paths that exist.
#[test]
fn pages_cite_what_is_there() {
    let pages = fs::read_dir(root().join("docs/hardware")).unwrap().map(|entry| entry.unwrap().path());
    for page in pages.chain(["README.md", "CONTRIBUTING.md", "docs/schema.md"].map(|name| root().join(name)))
    {
        let text = fs::read_to_string(&page).unwrap();
        for word in text.split([' ', '\n', '(', ')', '`', '|', ',', ';', '"']) {
            let word = word.trim_end_matches(['.', ':']);
            let folder = page.parent().unwrap();
            if word.ends_with(".md") {
                assert!(
                    root().join(word).exists() || folder.join(word).exists(),
                    "{}: {word}",
                    page.display()
                );
            }
        }
    }
}
