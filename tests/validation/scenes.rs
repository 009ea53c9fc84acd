//! Frames that break rules of docs/hardware/hazards.md but still render. There is at least one for each rule
//! of sections 5 to 8; each is a good capture with a change.

use std::collections::BTreeSet;

use a4emu_decoder::adreno::capture::Sections;
use a4emu_decoder::asm::{Bounds, assemble};
use a4emu_gpu::cp::Renderer;
use a4emu_gpu::playback::Playback;
use a4emu_rules::{Watch, rules};

use super::mutations::ALL;
use super::{Good, NoFiles};

/// A rule, a good capture, and replacements in its text that break the rule, or seem to.
struct Scene {
    rule: &'static str,
    /// Whether the changed capture breaks the rule. Where the rule has a `!` before it, it does not.
    breaks: bool,
    capture: &'static str,
    /// Texts of the source, each with its replacement.
    changes: Vec<[String; 2]>,
}

/// The scenes of `scenes.txt`.
fn scenes() -> Vec<Scene> {
    include_str!("scenes.txt").split("\n\n").skip(1).map(Scene::read).collect()
}

impl Scene {
    fn read(text: &'static str) -> Self {
        let (head, lines) = text.split_once('\n').expect("a head and lines");
        let (named, capture) = head.split_once(' ').expect("a rule and a capture");
        let rule = named.trim_start_matches('!');
        let changes = lines.split("\n@\n").map(|lines| ['-', '+'].map(|mark| marked(lines, mark)));
        Self { rule, breaks: rule == named, capture, changes: changes.collect() }
    }

    /// The changed text of the capture, or what it lacks.
    fn changed(&self, good: &str) -> Result<String, String> {
        self.changes.iter().try_fold(good.to_owned(), |text, [from, to]| match text.contains(from.as_str()) {
            true => Ok(text.replace(from.as_str(), to)),
            false => Err(format!("no `{from}` in {}", self.capture)),
        })
    }
}

fn marked(lines: &str, mark: char) -> String {
    let lines: Vec<&str> = lines.lines().filter_map(|line| line.strip_prefix(mark)).collect();
    lines.join("\n")
}

/// The rules that a rendered capture breaks, and whether its last picture has more than one colour.
fn rendered(capture: &[u8]) -> (BTreeSet<&'static str>, bool) {
    let (mut playback, mut watch) = (Playback::default(), Watch::default());
    playback.run(Sections::new(capture).unwrap(), &mut Renderer, &mut watch);
    watch.finish(&mut playback.gpu);
    let said = watch.findings().map(|finding| finding.broken.rule.rule().id).collect();
    let hung = playback.gpu.budget.cut().is_some();
    (said, playback.gpu.at.draws > 0 && !hung)
}

/// Each scene renders and breaks its rule, or seems to. The good capture does not break it.
#[test]
fn each_rule_of_state_has_a_scene() {
    let mut failed = Vec::new();
    let scenes = scenes();
    for name in scenes.iter().map(|scene| scene.capture).collect::<BTreeSet<_>>() {
        let good = Good::named(name);
        let bytes = assemble("good", &good.text, &mut NoFiles, Bounds::default()).unwrap();
        let (before, _) = rendered(&bytes);
        for scene in scenes.iter().filter(|scene| scene.capture == name) {
            let assembled = scene.changed(&good.text).and_then(|text| {
                assemble("scene", &text, &mut NoFiles, Bounds::default()).map_err(|error| error.to_string())
            });
            let Scene { rule, breaks, .. } = scene;
            match assembled {
                Err(error) => failed.push(format!("{rule}: {error}")),
                Ok(bytes) => {
                    let (after, renders) = rendered(&bytes);
                    let right = after.contains(rule) == *breaks && !before.contains(rule) && renders;
                    if !right {
                        let changes = &scene.changes;
                        failed.push(format!(
                            "{rule} of {name}: said {after:?}, before {before:?}: {changes:?}"
                        ));
                    }
                }
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Rules without a scene, because no good capture can break them with one change. src/rules tests
/// S15 and Y7, and C34 and F6 to F10 on streams of an A6xx; S29, S33, C9 and F2 have no test.
const ELSEWHERE: [&str; 12] = ["Y7", "S15", "S29", "S33", "C9", "F2", "C34", "F6", "F7", "F8", "F9", "F10"];

#[test]
fn no_rule_is_without_a_broken_stream() {
    let scenes: BTreeSet<&str> =
        scenes().iter().filter(|scene| scene.breaks).map(|scene| scene.rule).collect();
    let mutated: BTreeSet<&str> = ALL.iter().flat_map(|mutation| mutation.rules).copied().collect();
    let ids = rules::all().map(|id| id.rule().id);
    let without: Vec<&str> = ids.filter(|id| !scenes.contains(id) && !mutated.contains(id)).collect();
    let state: Vec<&&str> = without.iter().filter(|id| id.starts_with(['P', 'M', 'T', 'R'])).collect();
    assert!(state.is_empty(), "{state:?} want scenes");
    let unknown: Vec<&&str> = without.iter().filter(|id| !ELSEWHERE.contains(id)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// A batch begins where RBBM_PERFCTR_CTL is written, and GRAS_DEBUG_ECO_CONTROL next. A write to one of them alone
/// begins none: the draw after it may use what the batch has written.
#[test]
fn two_registers_in_a_row_begin_a_batch() {
    let draw = "CP_DRAW_INDX_OFFSET({ PRIM_TYPE = DI_PT_TRILIST";
    let good = Good::named("triangle-by-hand");
    for (registers, begins) in [
        ("RBBM_PERFCTR_CTL = 1", false),
        ("RBBM_PERFCTR_CTL = 0\nRBBM_PERFCTR_CTL = 1", false),
        ("GRAS_DEBUG_ECO_CONTROL = 0", false),
        ("GRAS_DEBUG_ECO_CONTROL = 0\nRBBM_PERFCTR_CTL = 1", false),
        ("RBBM_PERFCTR_CTL = 1\nSP_PERFCTR_SP_SEL_0 = SP_FS_INSTRUCTIONS\nGRAS_DEBUG_ECO_CONTROL = 0", false),
        ("RBBM_PERFCTR_CTL = 1\nGRAS_DEBUG_ECO_CONTROL = 0", true),
        ("RBBM_PERFCTR_CTL = 0\nCP_NOP(0)\nGRAS_DEBUG_ECO_CONTROL = 0", true),
    ] {
        let text = good.text.replacen(draw, &format!("{registers}\n{draw}"), 1);
        assert_ne!(text, good.text);
        let bytes = assemble("changed", &text, &mut NoFiles, Bounds::default()).unwrap();
        assert_eq!(rendered(&bytes).0.contains("R1"), begins, "{registers}");
    }
}
