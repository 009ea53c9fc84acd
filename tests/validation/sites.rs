//! Finds places in a disassembled capture that a mutation can change, and changes them.

use a4emu_decoder::asm::ast::{
    Arg, Block, Expr, ExprKind, Kind, LoadSource, Name, Part, RegName, ShaderLine, Span, Word,
};

/// One way to break a good stream.
#[derive(Clone, Copy)]
pub enum Edit {
    /// Changes a line of a shader. The function receives the lines before and after it too.
    Line(fn(&str, &str, &str) -> Option<String>),
    /// Exchanges a line with the next one.
    Swap(fn(&str, &str) -> bool),
    /// Changes a number in a field of a register.
    Field(&'static str, &'static str, fn(u64) -> u64),
    /// Sets a field of a register to a name.
    Named(&'static str, &'static str, &'static str),
    /// Sets a field of a register to another name, if it has a name already.
    Renamed(&'static str, &'static str, &'static str),
    /// Clears a flag or a field of a register.
    Clear(&'static str, &'static str),
    /// Sets a flag of a register.
    Set(&'static str, &'static str),
    /// Changes the whole value of a register.
    Value(&'static str, fn(u64) -> u64),
    /// Replaces a packet by a CP_NOP of its length. The function receives the statements after it too.
    Drop(fn(&Kind, &[Kind]) -> bool),
    /// Changes an argument of a packet.
    Argument(&'static str, &'static str, fn(u64) -> u64),
    /// Changes the source or the first unit of a CP_LOAD_STATE4 of this owner and kind.
    Load(&'static str, fn(&mut LoadSource, &mut Option<Expr>) -> bool),
    /// Moves all writes of a register to a register that no stage reads.
    Forget(&'static str),
    /// Inserts a register write before a write of this register.
    Insert(&'static str, u32, u32),
}

fn span() -> Span {
    Span::default()
}

/// A number as an expression.
pub fn number(value: u64) -> Expr {
    Expr { span: span(), kind: ExprKind::Number(format!("{value:#x}")) }
}

/// The value of an expression that is a whole number.
pub fn value_of(expr: &Expr) -> Option<u64> {
    let ExprKind::Number(text) = &expr.kind else { return None };
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

fn named(value: &str) -> Expr {
    Expr { span: span(), kind: ExprKind::Name(value.to_owned()) }
}

fn has(parts: &[Part], field: &str) -> bool {
    parts.iter().any(|part| is_field(part, field))
}

fn is_field(part: &Part, field: &str) -> bool {
    matches!(part, Part::Set(name, _) if name.text == field)
}

fn name(text: &str) -> Name {
    Name { text: text.to_owned(), span: span() }
}

/// A context register that no stage reads.
const NOBODY: u32 = 0x20ee;

fn unnamed(offset: u32) -> RegName {
    RegName { span: span(), name: format!("UNKNOWN_{offset:04X}"), element: None }
}

impl Edit {
    /// Makes the change at place `chosen`, counted over the whole block. Returns the number of places.
    pub fn make(self, block: &mut Block, chosen: Option<usize>) -> usize {
        let mut places = Places { edit: self, chosen, seen: 0 };
        places.block(block);
        places.seen
    }
}

struct Places {
    edit: Edit,
    chosen: Option<usize>,
    seen: usize,
}

impl Places {
    /// Counts a place. Returns whether it is the chosen one.
    fn is_here(&mut self) -> bool {
        self.seen += 1;
        self.chosen == Some(self.seen - 1)
    }

    fn forgets(&self, register: &RegName) -> bool {
        matches!(self.edit, Edit::Forget(wanted) if spelt(register) == wanted)
    }

    fn block(&mut self, block: &mut Block) {
        if let Edit::Drop(fits) = self.edit {
            self.drop(block, fits);
        }
        if let Edit::Insert(register, offset, value) = self.edit {
            self.insert(block, register, offset, value);
        }
        for statement in block.iter_mut() {
            self.kind(&mut statement.kind);
        }
    }

    fn drop(&mut self, block: &mut Block, fits: fn(&Kind, &[Kind]) -> bool) {
        let kinds: Vec<Kind> = block.iter().map(|statement| statement.kind.clone()).collect();
        for (at, statement) in block.iter_mut().enumerate() {
            let Kind::Packet(packet) = &mut statement.kind else { continue };
            if fits(&kinds[at], &kinds[at + 1..]) && self.is_here() {
                packet.name = name("CP_NOP");
                let words = packet.args.len().max(1);
                packet.args = (0..words).map(|_| Arg::Next(Word::Plain(number(0)))).collect();
            }
        }
    }

    fn insert(&mut self, block: &mut Block, register: &str, offset: u32, value: u32) {
        let is_it = |kind: &Kind| matches!(kind, Kind::Write(reg, _) if spelt(reg) == register);
        let places: Vec<usize> = (0..block.len()).filter(|at| is_it(&block[*at].kind)).collect();
        for at in places {
            if self.is_here() {
                let mut statement = block[at].clone();
                statement.kind = Kind::Write(unnamed(offset), Word::Plain(number(value.into())));
                block.insert(at, statement);
                return;
            }
        }
    }

    fn kind(&mut self, kind: &mut Kind) {
        match kind {
            Kind::Buffer(buffer) => buffer.contents.iter_mut().for_each(|body| self.block(body)),
            Kind::Label(_, Some(body)) | Kind::Again(_, Some(body)) => self.block(body),
            Kind::Shader(lines) => self.shader(lines),
            Kind::Write(register, _) | Kind::More(register, _) if self.forgets(register) => {
                self.seen = 1;
                if self.chosen.is_some() {
                    *kind = Kind::Write(unnamed(NOBODY), Word::Plain(number(0)));
                }
            }
            Kind::Write(register, word) | Kind::More(register, word) => {
                let register = spelt(register);
                self.word(&register, word);
            }
            Kind::Packet(packet) => {
                if let Edit::Argument(wanted, argument, to) = self.edit
                    && packet.name.text == wanted
                {
                    self.argument(&mut packet.args, argument, to);
                }
            }
            Kind::Load(owner, at, source) => {
                if let Edit::Load(wanted, to) = self.edit
                    && owner.text.ends_with(wanted)
                    && to(&mut source.clone(), &mut at.clone())
                    && self.is_here()
                {
                    to(source, at);
                }
            }
            _ => {}
        }
    }

    #[expect(clippy::collapsible_match, reason = "is_here counts places: it is no guard")]
    fn shader(&mut self, lines: &mut [ShaderLine]) {
        for at in 0..lines.len() {
            let text = |at: Option<usize>| {
                at.and_then(|at| lines.get(at)).map_or(String::new(), |line| line.text.clone())
            };
            let (before, behind) = (text(at.checked_sub(1)), text(Some(at + 1)));
            match self.edit {
                Edit::Line(to) => {
                    let changed = to(lines[at].text.trim(), before.trim(), behind.trim());
                    if let Some(changed) = changed
                        && self.is_here()
                    {
                        lines[at].text = changed;
                    }
                }
                Edit::Swap(fits) if at + 1 < lines.len() && fits(lines[at].text.trim(), behind.trim()) => {
                    if self.is_here() {
                        lines.swap(at, at + 1);
                    }
                }
                _ => {}
            }
        }
    }

    #[expect(clippy::collapsible_match, reason = "is_here counts places: it is no guard")]
    fn word(&mut self, register: &str, word: &mut Word) {
        match (self.edit, word) {
            (Edit::Field(wanted, field, to), Word::Fields(parts)) if wanted == register => {
                self.field(parts, field, to);
            }
            (Edit::Named(wanted, field, value), Word::Fields(parts)) if wanted == register => {
                if !self.rename(parts, field, value) && !has(parts, field) && self.is_here() {
                    parts.push(Part::Set(name(field), named(value)));
                }
            }
            (Edit::Renamed(wanted, field, value), Word::Fields(parts)) if wanted == register => {
                self.rename(parts, field, value);
            }
            (Edit::Clear(wanted, flag), Word::Fields(parts)) if wanted == register => {
                let is_it = |part: &Part| is_flag(part, flag) || is_field(part, flag);
                if parts.iter().any(is_it) && self.is_here() {
                    parts.retain(|part| !is_it(part));
                    if parts.is_empty() {
                        parts.push(Part::Bare(number(0)));
                    }
                }
            }
            (Edit::Set(wanted, flag), Word::Fields(parts)) if wanted == register => {
                if !parts.iter().any(|part| is_flag(part, flag)) && self.is_here() {
                    let flag = ExprKind::Name(flag.to_owned());
                    parts.push(Part::Bare(Expr { span: span(), kind: flag }));
                }
            }
            (Edit::Value(wanted, to), Word::Plain(value)) if wanted == register => {
                let changed = value_of(value).map(|old| (old, to(old))).filter(|(old, new)| old != new);
                if let Some((_, new)) = changed
                    && self.is_here()
                {
                    *value = number(new);
                }
            }
            _ => {}
        }
    }

    /// Sets the field to `value`. False if the field is missing or has the value already.
    fn rename(&mut self, parts: &mut [Part], field: &str, value: &str) -> bool {
        let known = parts.iter_mut().find_map(|part| match part {
            Part::Set(name, old) if name.text == field && *old != named(value) => Some(old),
            _ => None,
        });
        match known {
            Some(old) if self.is_here() => *old = named(value),
            Some(_) => {}
            None => return false,
        }
        true
    }

    /// Changes the number in a field. A field that is missing is zero.
    fn field(&mut self, parts: &mut Vec<Part>, field: &str, to: fn(u64) -> u64) {
        let known = parts.iter_mut().find_map(|part| match part {
            Part::Set(name, value) if name.text == field => Some(value),
            _ => None,
        });
        let old = known.as_ref().map_or(Some(0), |value| value_of(value));
        let Some(new) = old.map(to).filter(|new| Some(*new) != old) else { return };
        if !self.is_here() {
            return;
        }
        match known {
            Some(value) => *value = number(new),
            None => parts.push(Part::Set(name(field), number(new))),
        }
    }

    fn argument(&mut self, args: &mut [Arg], argument: &str, to: fn(u64) -> u64) {
        for arg in args {
            if let Arg::Named(name, value) = arg
                && name.text == argument
                && let Some(old) = value_of(value)
                && to(old) != old
                && self.is_here()
            {
                *value = number(to(old));
            }
        }
    }
}

/// `NAME`, or `NAME[i].SUB` as `NAME.SUB`.
fn spelt(register: &RegName) -> String {
    match &register.element {
        Some((_, sub)) if sub != "REG" => format!("{}.{sub}", register.name),
        _ => register.name.clone(),
    }
}

fn is_flag(part: &Part, flag: &str) -> bool {
    matches!(part, Part::Bare(Expr { kind: ExprKind::Name(name), .. }) if name == flag)
}
