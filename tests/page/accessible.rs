//! axe-core checks the page with each of its panels and dialogs, in the light and the dark scheme.

use std::fs;
use std::path::Path;

use libtest_mimic::Failed;
use serde_json::json;

use super::devtools::Browser;
use super::{Outcome, same};

/// The states of the page that are checked, with scripts that reach them.
const STATES: &[(&str, &str)] = &[
    ("history", "page.picture.pick({ x: 128, y: 128 })"),
    ("overdraw", "page.picture.setHeat(1)"),
    ("help", "document.getElementById('help').showModal()"),
    ("register", "document.getElementById('help').close(), page.registers.explain('RB_DEPTH_CONTROL')"),
];

/// The rules that are checked: those of WCAG, and best practice.
const RULES: &str = "{ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }";

/// axe-core in folder `axe` finds no violation in any state.
pub fn axe_finds_nothing(axe: &Path) -> Outcome {
    let mut browser = Browser::open(super::page())?;
    let source = fs::read_to_string(axe.join("node_modules/axe-core/axe.min.js"))?;
    browser.value(&format!("{source}; 0"))?;
    // The state of this draw has changes.
    super::click_draw(&mut browser, super::DRAW)?;
    let tabs = browser.value("TABS")?;
    let tabs: Vec<&str> = tabs.as_array().into_iter().flatten().filter_map(|tab| tab.as_str()).collect();
    for scheme in ["light", "dark"] {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        browser.command("Emulation.setEmulatedMedia", json!({ "features": features }))?;
        // Waits until the colours have faded to the other scheme.
        browser.value("new Promise(done => setTimeout(done, 300))")?;
        for tab in &tabs {
            browser.value(&format!("page.showTab('{tab}')"))?;
            check(&mut browser, scheme, tab)?;
        }
        for (name, action) in STATES {
            browser.value(&format!("{action}, 0"))?;
            browser.wait("!document.querySelector('#history-note').textContent.startsWith('looking')")?;
            check(&mut browser, scheme, name)?;
        }
        browser.value("document.getElementById('register').close()")?;
    }
    Ok(())
}

fn check(browser: &mut Browser, scheme: &str, state: &str) -> Result<(), Failed> {
    let found = browser.value(&format!(
        "axe.run(document, {RULES}).then(({{ violations }}) => violations.flatMap(({{ id, nodes }}) => \
            nodes.map(({{ target }}) => `${{id}}: ${{target}}`)))"
    ))?;
    same(&format!("{scheme}, {state}"), found, json!([]))
}
