//! Lists the pages, and checks the targets of their links.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, Tag, TagEnd};

use crate::{Outcome, blocks, read, root};

/// The table of contents of the book.
const SUMMARY: &str = "docs/SUMMARY.md";
/// Prefixes of lines that are commands.
const COMMANDS: [&str; 6] = ["$ ", "a4emu ", "cargo ", "scripts/", "git ", "duckdb "];

fn collect(folder: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(root().join(folder)).expect("a folder").map(|entry| entry.expect("an entry")) {
        let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&name, found);
        } else if name.ends_with(".md") {
            found.push(name);
        }
    }
}

/// All pages, from the root of the tree.
pub fn pages() -> Vec<String> {
    let mut found = ["README.md", "CONTRIBUTING.md"].map(str::to_owned).to_vec();
    collect("docs", &mut found);
    found.sort();
    found
}

/// The anchor of a heading in links, on GitHub and in the book.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().trim().to_lowercase().replace(' ', "-")
}

/// The targets of a page's links, and the anchors of its headings.
fn links(text: &str) -> (Vec<String>, BTreeSet<String>) {
    let (mut leads, mut headings, mut times) = (Vec::new(), BTreeSet::new(), BTreeMap::new());
    let mut heading: Option<String> = None;
    for (event, _) in blocks::events(text) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                leads.push(dest_url.to_string());
            }
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(part) | Event::Code(part) => heading.iter_mut().for_each(|text| *text += &part),
            Event::End(TagEnd::Heading(_)) => {
                let name = slug(&heading.take().unwrap_or_default());
                let time = times.entry(name.clone()).or_insert(0);
                headings.insert(if *time == 0 { name } else { format!("{name}-{time}") });
                *time += 1;
            }
            _ => {}
        }
    }
    (leads, headings)
}

/// The path without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// The error in a link of a page, if there is one.
fn complaint(page: &str, link: &str) -> Option<String> {
    if link.contains("://") {
        return None;
    }
    let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let path = match file {
        "" => PathBuf::from(page),
        file => plain(&Path::new(page).parent()?.join(file)),
    };
    if !root().join(&path).exists() {
        return Some(format!("{page}: {link}: there is no {}", path.display()));
    }
    if page.starts_with("docs/") && !path.starts_with("docs") {
        return Some(format!("{page}: {link}: the book has only what is in docs/"));
    }
    let anchor = anchor?;
    let there = links(&read(path.to_str()?)).1.contains(anchor);
    (!there).then(|| format!("{page}: {link}: no such heading"))
}

pub fn lead_somewhere(pages: &[&str]) -> Outcome {
    let mut all = 0;
    let mut wrong = Vec::new();
    for page in pages {
        let leads = links(&read(page)).0;
        all += leads.len();
        wrong.extend(leads.iter().filter_map(|link| complaint(page, link)));
    }
    assert_eq!(wrong, [""; 0]);
    assert!(all > 50, "only {all} links found");
    for (page, link) in
        [("README.md", "docs/no.md"), ("docs/SUMMARY.md", "../README.md"), ("README.md", "#no")]
    {
        assert!(complaint(page, link).is_some(), "{link} on {page} is not complained of");
    }
    Ok(())
}

pub fn every_page_is_in_the_book(pages: &[&str]) -> Outcome {
    let listed = links(&read(SUMMARY)).0.into_iter().map(|link| format!("docs/{link}"));
    let mut expected: Vec<&str> = pages.iter().copied().filter(|page| page.starts_with("docs/")).collect();
    expected.retain(|page| *page != SUMMARY);
    let mut listed: Vec<String> = listed.collect();
    listed.sort();
    assert_eq!(listed, expected);
    Ok(())
}

/// Every command is in a block whose commands run. (The reference is made of the program's own examples,
/// which have a test of their own.)
pub fn commands_are_where_they_are_run(pages: &[&str]) -> Outcome {
    let mut wrong = Vec::new();
    for page in
        pages.iter().filter(|page| !page.starts_with("docs/hardware/") && **page != "docs/reference.md")
    {
        let text = read(page);
        let others = blocks::code(&text)
            .into_iter()
            .filter(|(info, _)| !matches!(info.split_whitespace().next(), Some("sh" | "console")));
        for (_, inside) in others {
            let lines = text[inside].lines().map(str::trim);
            let commands = lines.filter(|line| COMMANDS.iter().any(|start| line.starts_with(start)));
            wrong.extend(commands.map(|line| format!("{page}: {line}")));
        }
    }
    assert_eq!(wrong, [""; 0]);
    Ok(())
}
