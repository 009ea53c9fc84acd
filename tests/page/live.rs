//! The controls of the page under `serve`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::json;

use super::devtools::Browser;
use super::{Outcome, click_draw, many, same, text};

/// A server that is ended when the value is dropped.
pub struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}

/// Serves a capture and opens its page.
pub fn open(capture: &Path) -> Result<(Server, Browser), libtest_mimic::Failed> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_a4emu"))
        .args(["serve", text(capture), "-q"])
        .stdout(Stdio::piped())
        .spawn()?;
    let out = child.stdout.take().expect("piped");
    let server = Server(child);
    let mut address = String::new();
    BufReader::new(out).read_line(&mut address)?;
    let browser = Browser::at(address.trim())?;
    Ok((server, browser))
}

/// The browser has no errors or warnings, and has sent requests only to the server.
fn is_quiet(browser: &Browser) -> Outcome {
    same("console", browser.complaints(), Vec::new())?;
    same("strangers", browser.requests().into_iter().find(|url| !url.starts_with("http://127.0.0.1:")), None)
}

pub fn a_lane_is_stepped_through() -> Outcome {
    let (_server, mut browser) = open(&many())?;
    click_draw(&mut browser, 339)?;
    browser.click("#zoom-one")?;
    browser.click_in("#view", [128, 128])?;
    browser.wait("document.querySelector('#events button[aria-label^=Step]') !== null")?;
    browser.click("#events button[aria-label^=Step]")?;
    browser.wait("document.querySelectorAll('.step').length > 1")?;
    let note = browser.text("#step-note")?;
    same("what was stepped through", note.contains("pixel 128,128") && note.ends_with("ended"), true)?;
    let chosen =
        "Array.from(document.querySelectorAll('.step')).findIndex(step => step.getAttribute('aria-current'))";
    same("first instruction", browser.value(chosen)?, json!(0))?;
    browser.click("#step [role=group] button:nth-child(3)")?;
    same("forward", browser.value(chosen)?, json!(1))?;
    browser.press("ArrowUp")?;
    same("back by key", browser.value(chosen)?, json!(0))?;
    let register = browser.text(".step-registers")?;
    same("registers of the first", register.contains("r0.x") && register.contains("c0.x"), true)?;
    // Selects a vertex with the form.
    browser.value("document.querySelector('#step-stage').value = 'VS'; page.details.step.offer()")?;
    browser.click("#step form button")?;
    browser.wait("document.querySelector('#step-note').textContent.includes('VS')")?;
    // An invalid request shows a message.
    browser.value("document.querySelector('#step-number').value = '99999'; 0")?;
    browser.click("#step form button")?;
    browser.wait("document.querySelector('#step-note').textContent.startsWith('draw')")?;
    same("no list", browser.value("document.querySelectorAll('.step').length")?, json!(0))
}

pub fn a_draw_is_edited() -> Outcome {
    let (_server, mut browser) = open(&many())?;
    click_draw(&mut browser, 339)?;
    browser.press("9")?;
    browser.wait("document.querySelector('#edit-note').textContent.startsWith('Nothing')")?;
    let note = "document.querySelector('#edit-note').textContent";
    let pictures = "Array.from(document.querySelectorAll('#edit-pictures img'), image => image.src)";
    browser.click("#edit [aria-label='Usual edits'] button:last-child")?;
    browser.wait(&format!("{note}.includes('349 pixels differ')"))?;
    same(
        "two pictures",
        browser.value(&format!("{pictures}.length === 2 && {pictures}[0] !== {pictures}[1]"))?,
        json!(true),
    )?;
    // The draws after it run with the edit too.
    browser.press("j")?;
    browser.wait(&format!("{note}.startsWith('After f340, with f339 edited')"))?;
    browser.click("#edits button")?;
    browser.wait(&format!("{note}.startsWith('Nothing')"))?;
    browser.click("#edit-text")?;
    let offers = "Array.from(document.querySelectorAll('#edit-names option'), option => option.value)";
    browser.type_text("GRAS_SU_MODE")?;
    same("registers that can follow", browser.value(offers)?, json!(["GRAS_SU_MODE_CONTROL"]))?;
    browser.type_text("_CONTROL.")?;
    let has = format!("{offers}.includes('GRAS_SU_MODE_CONTROL.CULL_FRONT:')");
    same("fields that can follow", browser.value(&has)?, json!(true))?;
    browser.type_text("CULL_FRONT:1")?;
    browser.press("Enter")?;
    browser.wait(&format!("{note}.startsWith('After f340, with f340 edited')"))?;
    // The shader of the draw stands in a field, to be changed and run.
    browser.click("#edits button")?;
    browser.wait(&format!("{note}.startsWith('Nothing')"))?;
    browser.value("document.querySelector('#edit details').open = true, 0")?;
    let source = "document.querySelector('#edit-source').value";
    same(
        "the stage of the field",
        browser.value("document.querySelector('#edit-stage').value")?,
        json!("FS"),
    )?;
    same("its program", browser.value(&format!("{source}.includes('mov.u32u32 r0.x, c0.x')"))?, json!(true))?;
    browser.value(&format!("{source} = {source}.replace('r0.x, c0.x', 'r0.x, 0x3f800000'), 0"))?;
    browser.click("#edit details form button")?;
    browser.wait(&format!("{note}.includes('pixels differ')"))?;
    is_quiet(&browser)
}

pub fn a_register_is_explained() -> Outcome {
    let (_server, mut browser) = open(&many())?;
    browser.value("page.registers.explain('RB_STENCILREFMASK_BF'), 0")?;
    browser.wait("document.querySelector('#register-text').textContent.includes('STENCILWRITEMASK')")?;
    browser.press("Escape")?;
    // A register that the capture does not write: the page requests it from the server.
    browser.value("page.registers.explain('SP_CS_CTRL_REG0'), 0")?;
    browser.wait("document.querySelector('#register-text').textContent.startsWith('SP_CS_CTRL_REG0')")?;
    is_quiet(&browser)
}
