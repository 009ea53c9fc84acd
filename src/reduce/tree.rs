//! The numbered statements of a capture, and the capture without some of them.
//!
//! Each statement, and each line of a shader, has a number. The numbers follow the order of the source; a
//! statement comes before its content.

use a4emu_decoder::asm::ast::{Block, Buffer, Kind, LoadSource, Packet, Statement};

/// The class of a statement. Each class is reduced in its own pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A packet that draws or dispatches.
    Draw,
    /// A submit.
    Submit,
    /// Any packet.
    Packet,
    /// A buffer, or another section.
    Section,
    /// Numbers, text and other data.
    Data,
    /// A line of a shader.
    Instruction,
}

/// A statement or a line of a shader.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// Its class, if it can be removed.
    class: Option<Class>,
    /// Whether it draws. Then it is also a packet.
    draws: bool,
    /// Whether it continues the packet before it.
    continues: bool,
    /// Number of nodes of the statement and its content.
    size: usize,
}

/// All statements of a capture.
#[derive(Clone, Debug, Default)]
pub struct Tree(Vec<Node>);

impl Tree {
    /// The tree of a source without macros and loops, as the disassembler writes it.
    pub fn of(block: &Block) -> Self {
        let mut tree = Self::default();
        tree.add(block, Where::Top);
        tree
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    fn add(&mut self, block: &Block, at: Where) {
        for statement in block {
            let (class, draws) = class(&statement.kind, at);
            let continues = matches!(statement.kind, Kind::More(..));
            let index = self.0.len();
            self.0.push(Node { class, draws, continues, size: 0 });
            if let Kind::Shader(lines) = &statement.kind {
                let line = |class| Node { class, draws: false, continues: false, size: 1 };
                // Labels stay, since a jump may need them.
                let class = |text: &str| (!text.trim_end().ends_with(':')).then_some(Class::Instruction);
                self.0.extend(lines.iter().map(|one| line(class(&one.text))));
            }
            if let Some((inner, at)) = inner(&statement.kind, at) {
                self.add(inner, at);
            }
            self.0[index].size = self.0.len() - index;
        }
    }

    /// The remaining units of a class. Each is a node together with the nodes that continue it.
    pub fn units(&self, class: Class, removed: &[bool]) -> Vec<Vec<usize>> {
        let mut units: Vec<Vec<usize>> = Vec::new();
        let mut last = None;
        for index in self.present(removed) {
            let node = self.0[index];
            if node.continues && class == Class::Packet {
                // A continuation cannot stay without its packet.
                if let Some(unit) = last.and_then(|last: usize| units.get_mut(last)) {
                    unit.push(index);
                }
            } else if node.is(class) {
                last = Some(units.len());
                units.push(vec![index]);
            }
        }
        units
    }

    /// Number of remaining units of a class.
    pub fn count(&self, class: Class, removed: &[bool]) -> usize {
        self.units(class, removed).len()
    }

    /// The remaining nodes, without those inside of removed ones.
    fn present(&self, removed: &[bool]) -> Vec<usize> {
        let (mut present, mut index) = (Vec::new(), 0);
        while let Some(node) = self.0.get(index) {
            if removed[index] {
                index += node.size;
            } else {
                present.push(index);
                index += 1;
            }
        }
        present
    }
}

impl Node {
    fn is(&self, class: Class) -> bool {
        self.class == Some(class) || (class == Class::Draw && self.draws)
    }
}

/// The place of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Where {
    /// The top level, with sections.
    Top,
    /// The contents of a buffer.
    Buffer,
    /// The contents of a packet, which are removed together with it.
    Packet,
}

/// The class of a statement, and whether it draws.
fn class(kind: &Kind, at: Where) -> (Option<Class>, bool) {
    let class = match (kind, at) {
        (Kind::Submit(..), Where::Top) => Some(Class::Submit),
        // The chip stays.
        (Kind::GpuId(_) | Kind::ChipId(_) | Kind::Form(_) | Kind::Origin(_), _) => None,
        (_, Where::Top) => Some(Class::Section),
        (_, Where::Packet) => None,
        (
            Kind::Write(..) | Kind::OneReg(..) | Kind::Packet(_) | Kind::Load(..) | Kind::Call(_) | Kind::Pad,
            _,
        ) => Some(Class::Packet),
        (Kind::More(..) | Kind::Label(..) | Kind::Shader(_), _) => None,
        _ => Some(Class::Data),
    };
    let draws = |packet: &Packet| {
        packet.name.text.starts_with("CP_DRAW")
            || packet.name.text.starts_with("CP_RUN_OPENCL")
            || packet.name.text.starts_with("CP_EXEC_CS")
    };
    (class, matches!(kind, Kind::Packet(packet) if draws(packet)))
}

/// The statements inside of a statement.
fn inner(kind: &Kind, at: Where) -> Option<(&Block, Where)> {
    let below = if at == Where::Top { Where::Buffer } else { at };
    match kind {
        Kind::Section(_, block) | Kind::Raw(block) => Some((block, Where::Packet)),
        Kind::Buffer(buffer) => Some((buffer.contents.as_ref()?, below)),
        Kind::Again(_, block) | Kind::Label(_, block) => Some((block.as_ref()?, below)),
        Kind::Load(_, _, LoadSource::Inline(block)) => Some((block, Where::Packet)),
        Kind::Packet(packet) => Some((packet.data.as_ref()?, Where::Packet)),
        _ => None,
    }
}

/// `block` without the statements and lines in `removed`.
pub fn without(block: &Block, removed: &[bool]) -> Block {
    Pruner { next: 0, removed }.block(block)
}

/// Copies a block without removed nodes. It numbers nodes like [`Tree::add`].
struct Pruner<'a> {
    next: usize,
    removed: &'a [bool],
}

impl Pruner<'_> {
    fn block(&mut self, block: &Block) -> Block {
        let mut kept = Vec::with_capacity(block.len());
        for statement in block {
            let is_removed = self.removed[self.next];
            self.next += 1;
            let pruned = self.statement(statement);
            if !is_removed {
                kept.push(pruned);
            }
        }
        kept
    }

    fn statement(&mut self, statement: &Statement) -> Statement {
        let mut optional = |block: &Option<Block>| block.as_ref().map(|block| self.block(block));
        let kind = match &statement.kind {
            Kind::Buffer(buffer) => {
                let contents = optional(&buffer.contents);
                let Buffer { name, address, size, .. } = &**buffer;
                let (name, address, size) = (name.clone(), address.clone(), size.clone());
                // The submit between two buffers may be removed.
                let overlaps = address.is_some();
                Kind::Buffer(Box::new(Buffer { name, address, overlaps, size, contents }))
            }
            Kind::Packet(packet) => {
                let data = optional(&packet.data);
                let Packet { name, predicated, args, .. } = &**packet;
                let (name, predicated, args) = (name.clone(), *predicated, args.clone());
                Kind::Packet(Box::new(Packet { name, predicated, args, data }))
            }
            Kind::Again(name, block) => Kind::Again(name.clone(), optional(block)),
            Kind::Label(name, block) => Kind::Label(name.clone(), optional(block)),
            Kind::Section(id, block) => Kind::Section(id.clone(), self.block(block)),
            Kind::Raw(block) => Kind::Raw(self.block(block)),
            Kind::Load(owner, first, LoadSource::Inline(block)) => {
                Kind::Load(owner.clone(), first.clone(), LoadSource::Inline(self.block(block)))
            }
            Kind::Shader(lines) => {
                let from = self.next;
                self.next += lines.len();
                let kept = lines.iter().zip(&self.removed[from..]).filter(|(_, removed)| !**removed);
                Kind::Shader(kept.map(|(line, _)| line.clone()).collect())
            }
            other => other.clone(),
        };
        Statement { span: statement.span, kind }
    }
}

#[cfg(test)]
mod tests {
    use a4emu_decoder::asm::parse;

    use super::*;

    const SOURCE: &str = "gpu_id 420
        buffer fs { shader {
            nop
            end
        } }
        buffer main { part: {
            RB_MODE_CONTROL { WIDTH = 32 }
            GRAS_CL_VPORT_XOFFSET_0 = 128.0
            + GRAS_CL_VPORT_XSCALE_0 = 128.0
            load FS.constants at 2 { f32 1.0, 0.0, 0.0, 1.0 }
            CP_DRAW_INDX_OFFSET({ PRIM_TYPE = DI_PT_TRILIST }, NUM_INSTANCES = 1, NUM_INDICES = 3)
        } u32 1, 2 }
        submit part";

    #[test]
    fn everything_has_a_class_and_what_belongs_together_goes_together() {
        let block = parse("x", SOURCE).unwrap();
        let tree = Tree::of(&block);
        let none = vec![false; tree.len()];
        let count = |class| tree.count(class, &none);
        let all =
            [Class::Draw, Class::Submit, Class::Packet, Class::Section, Class::Data, Class::Instruction];
        assert_eq!(all.map(count), [1, 1, 4, 2, 1, 2]);
        let packets = tree.units(Class::Packet, &none);
        assert_eq!(packets.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2, 1, 1]);
        assert_eq!(without(&block, &none), block);
    }

    #[test]
    fn removing_a_statement_removes_its_content() {
        let block = parse("x", SOURCE).unwrap();
        let tree = Tree::of(&block);
        let mut removed = vec![false; tree.len()];
        let packets = tree.units(Class::Packet, &removed);
        packets[..3].iter().flatten().for_each(|node| removed[*node] = true);
        assert_eq!(tree.count(Class::Packet, &removed), 1);
        let left = without(&block, &removed);
        assert_eq!(
            Tree::of(&left).len(),
            tree.len() - 5,
            "three packets, a second value, and the data of one"
        );
        let sections = tree.units(Class::Section, &removed);
        removed[sections[1][0]] = true;
        assert_eq!((tree.count(Class::Packet, &removed), tree.count(Class::Draw, &removed)), (0, 0));
    }
}
