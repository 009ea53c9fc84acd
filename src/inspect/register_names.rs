//! Finds registers and fields by name: in any case, with `*` and `?`, or by offset as listings print it.

use std::iter;

use a4emu_decoder::adreno::registers::{RegName, RegRef, RegisterTable};
use a4emu_decoder::bits::{FieldRow, Naming};
use a4emu_decoder::generation::Generation;
use a4emu_decoder::names::{fits, is_pattern};
use a4emu_decoder::similar::{hint, near, near_by};

use a4emu_support::status::{Failure, Status};

/// Separator between a register and its field.
const FIELD: char = '.';

/// A register, or one field of it.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The registers in which it was found.
    pub registers: &'static RegisterTable,
    /// Dword offset.
    pub offset: u32,
    /// The field, if the text names only a field.
    pub field: Option<&'static FieldRow>,
    /// Whether the text is a pattern, which may match several registers.
    pub by_pattern: bool,
}

impl Asked {
    /// The fields that the text names.
    pub fn fields(&self) -> &'static [FieldRow] {
        match self.field {
            Some(field) => std::slice::from_ref(field),
            None => self.registers.fields(self.offset),
        }
    }

    /// The name of the register.
    pub fn register(&self) -> RegName {
        self.registers.name(self.offset)
    }

    /// The mask of the bits that the text names.
    pub fn mask(&self) -> u32 {
        self.field.map_or(u32::MAX, FieldRow::mask)
    }
}

/// The registers of a generation that `text` names: one, or all that match a pattern.
///
/// # Errors
/// The call fails if `text` names no register. The message has similar names.
pub fn find(generation: &'static Generation, text: &str) -> Result<Vec<Asked>, Failure> {
    let found = found(generation, text);
    if found.is_empty() { Err(unknown(generation.registers, text)) } else { Ok(found) }
}

/// The registers of a generation that `text` names, as [`find`] finds them. None if it names none.
pub fn found(generation: &'static Generation, text: &str) -> Vec<Asked> {
    let registers = generation.registers;
    let by_pattern = is_pattern(text);
    let asked = |reg: RegRef, field| Asked { registers, offset: reg.offset(), field, by_pattern };
    if let Some(offset) = listed(generation, text).or_else(|| registers.by_name(text)) {
        return vec![Asked { registers, offset, field: None, by_pattern }];
    }
    let mut found: Vec<Asked> = fitting(registers, text).map(|reg| asked(reg, None)).collect();
    if found.is_empty()
        && let Some((register, field)) = text.rsplit_once(FIELD)
    {
        let all = fitting(registers, register).flat_map(|reg| reg.fields().iter().map(move |row| (reg, row)));
        let fits = all.filter(|(_, row)| fits(field, row.name));
        found = fits.map(|(reg, row)| asked(reg, Some(row))).collect();
    }
    if found.is_empty() {
        found = headers(generation, text).map(|(reg, field)| asked(reg, field)).collect();
    }
    if found.is_empty() && generation.address_bits > 32 {
        found = halves(generation, text).map(|reg| asked(reg, None)).collect();
    }
    found
}

/// The offsets of the halves of a register of 64 bits, the low one first, if that is what [`find`] found.
pub fn halves_of(found: &[Asked]) -> Option<[u32; 2]> {
    let &[low, high] = found else { return None };
    let is_both = !low.by_pattern && low_half(low.registers, high.offset) == Some(low.offset);
    is_both.then_some([low.offset, high.offset])
}

/// The offset of the low half of the register of 64 bits whose high half is at `offset`. Their names end in `LO` and `HI`.
pub fn low_half(registers: &RegisterTable, offset: u32) -> Option<u32> {
    let name = |offset| registers.lookup(offset).map(|reg| reg.to_string());
    let (high, before) = (name(offset)?, offset.checked_sub(1)?);
    let low = format!("{}LO", high.strip_suffix("HI")?);
    (name(before)? == low).then_some(before)
}

/// Both halves of the register of 64 bits that `text` names: `SP_CS_OBJ_START`, `RB_MRT[0].BASE`, also as headers do.
fn halves(generation: &'static Generation, text: &str) -> impl Iterator<Item = RegRef> + use<> {
    let half = |half: &str| match text.split_once('(') {
        Some((name, element)) => format!("{name}_{half}({element}"),
        None if text.ends_with(']') => format!("{text}.{half}"),
        None => format!("{text}_{half}"),
    };
    ["LO", "HI"].map(half).into_iter().flat_map(move |name| {
        let exact =
            generation.registers.by_name(&name).and_then(|offset| generation.registers.lookup(offset));
        let fitting = fitting(generation.registers, &name).filter(|_| exact.is_none());
        let by_name: Vec<RegRef> = exact.into_iter().chain(fitting).collect();
        let by_header = headers(generation, &name).filter(|(_, field)| field.is_none()).map(|(reg, _)| reg);
        if by_name.is_empty() { by_header.collect() } else { by_name }
    })
}

/// The registers and fields that `text` names as Mesa's headers do: `REG_A4XX_RB_MRT_CONTROL(0)`, which is an
/// element, and `A4XX_RB_MRT_CONTROL_BLEND__MASK`. An array without an index is all its elements.
fn headers(
    generation: &Generation,
    text: &str,
) -> impl Iterator<Item = (RegRef, Option<&'static FieldRow>)> + use<> {
    let (name, index) = spelled(generation, text);
    let of_element = move |reg: &RegRef| index.is_none_or(|index| index == reg.index);
    generation.registers.all().filter(of_element).flat_map(move |reg| {
        let header = match (reg.row.naming, reg.row.sub) {
            (Naming::Indexed, sub) if !sub.is_empty() => format!("{}_{sub}", reg.row.name),
            _ => reg.to_string(),
        };
        let rest = name.get(header.len()..).filter(|_| name[..header.len()].eq_ignore_ascii_case(&header));
        let field = rest.and_then(|rest| rest.strip_prefix('_')).map(str::to_owned);
        let is_whole = rest == Some("");
        let fields = reg
            .fields()
            .iter()
            .filter(move |row| field.as_ref().is_some_and(|field| field.eq_ignore_ascii_case(row.name)));
        is_whole.then_some((reg, None)).into_iter().chain(fields.map(move |row| (reg, Some(row))))
    })
}

/// The name in `text` without what Mesa's headers put around it, and the index behind it.
fn spelled(generation: &Generation, text: &str) -> (String, Option<u32>) {
    let upper = text.to_ascii_uppercase();
    let number = |text: &str| match text.strip_prefix("0X") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    let element = upper.strip_suffix(')').and_then(|text| text.split_once('('));
    let (name, index) = match element.and_then(|(name, index)| Some((name, number(index)?))) {
        Some((name, index)) => (name, Some(index)),
        None => (upper.as_str(), None),
    };
    let name = name.strip_prefix("REG_").unwrap_or(name);
    let name = generation.unprefixed(name);
    let name = ["__MASK", "__SHIFT"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
    (name.to_owned(), index)
}

fn fitting<'a>(registers: &RegisterTable, pattern: &'a str) -> impl Iterator<Item = RegRef> + use<'a> {
    registers.all().filter(move |reg| fits(pattern, &reg.to_string()))
}

/// An offset as listings print it: four hexadecimal digits. Fewer are enough if one of them is a letter, unless a field
/// has this name, such as `64B`.
fn listed(generation: &Generation, text: &str) -> Option<u32> {
    let is_short =
        || text.len() < 4 && !text.bytes().all(|byte| byte.is_ascii_digit()) && !is_field(generation, text);
    let is_long = text.len() == 4 || is_short();
    let digits = is_long && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let offset = digits.then(|| u32::from_str_radix(text, 16).ok()).flatten()?;
    ((offset as usize) < generation.registers.space()).then_some(offset)
}

fn is_field(generation: &Generation, text: &str) -> bool {
    let packets = generation.packets.rows().iter();
    let of_packets = packets.flat_map(|row| row.dwords.iter().chain(row.repeat)).map(|row| row.fields);
    let mut fields = generation.registers.rows().map(|row| row.fields).chain(of_packets).flatten();
    fields.any(|row| row.name == text)
}

/// The failure that `text` names no register, with similar names.
pub fn unknown(registers: &RegisterTable, text: &str) -> Failure {
    let near = near_registers(registers, text);
    let message = match near.is_empty() {
        true => {
            format!("`{text}` is no register: give a name of the database (* and ? fit any) or an offset")
        }
        false => format!("`{text}` is no register{}", hint(&near)),
    };
    Failure { status: Status::Usage, message }
}

/// Names of registers or fields like `text`, the most similar first. An array has one entry.
fn near_registers(registers: &RegisterTable, text: &str) -> Vec<String> {
    match text.rsplit_once(FIELD) {
        Some((register, field)) if fitting(registers, register).next().is_some() => {
            let fields = fitting(registers, register)
                .flat_map(|reg| reg.fields().iter().map(move |row| format!("{}.{}", reg, row.name)));
            near_by(field, fields, |name| name.rsplit(FIELD).next().unwrap_or(""))
        }
        _ => near_names(registers, text, iter::empty()),
    }
}

/// Names of registers, and of `others`, like `text`, which may be a pattern. An array has one entry.
pub fn near_names(
    registers: &RegisterTable,
    text: &str,
    others: impl Iterator<Item = String>,
) -> Vec<String> {
    let firsts = registers.all().filter(|reg| reg.index == 0).map(|reg| reg.to_string());
    near(&text.replace(['*', '?'], ""), firsts.chain(others))
}

#[cfg(test)]
mod tests {
    use a4emu_decoder::a4xx::A4XX;
    use a4emu_decoder::a6xx::A6XX;

    use super::*;

    fn find(text: &str) -> Result<Vec<Asked>, Failure> {
        super::find(&A4XX, text)
    }

    fn offsets(text: &str) -> Vec<u32> {
        find(text).unwrap_or_else(|error| panic!("{error}")).iter().map(|asked| asked.offset).collect()
    }

    #[test]
    fn registers_by_any_of_their_names() {
        assert_eq!((offsets("9e"), offsets("84"), offsets("64b")), (vec![0x9e], vec![84], vec![0x64b]));
        assert!(find("64B").is_err(), "it is a field of CP_REG_TO_MEM");
        for text in ["RB_DEPTH_CONTROL", "rb_depth_control", "2101", "0x2101", "8449", "Rb_Depth_Contro?"] {
            assert_eq!(offsets(text), [0x2101], "{text}");
        }
        assert_eq!(offsets("RB_MRT[0x1].CONTROL"), [0x20a9]);
        assert_eq!(offsets("rb_mrt[*].control").len(), 8);
        assert_eq!(offsets("UNKNOWN_3ABC"), [0x3abc]);
    }

    #[test]
    fn registers_as_headers_name_them() {
        for text in ["REG_A4XX_RB_DEPTH_CONTROL", "A4XX_RB_DEPTH_CONTROL", "reg_a4xx_rb_depth_control"] {
            assert_eq!(offsets(text), [0x2101], "{text}");
        }
        assert_eq!(offsets("REG_A4XX_RB_MRT_CONTROL(1)"), [0x20a9]);
        assert_eq!(offsets("REG_A4XX_RB_MRT_CONTROL(0x1)"), [0x20a9]);
        assert_eq!(offsets("REG_A4XX_RB_MRT_CONTROL").len(), 8);
        assert_eq!(offsets("REG_AXXX_CP_RB_BASE"), offsets("CP_RB_BASE"));
        for text in ["A4XX_RB_DEPTH_CONTROL_ZFUNC__MASK", "A4XX_RB_DEPTH_CONTROL_ZFUNC"] {
            let found = find(text).unwrap();
            assert_eq!((found[0].offset, found[0].field.unwrap().name), (0x2101, "ZFUNC"), "{text}");
        }
        assert!(find("REG_A4XX_RB_MRT_CONTROL(9)").is_err());
    }

    #[test]
    fn fields_of_registers() {
        let found = find("rb_depth_control.z_test_enable").unwrap();
        assert_eq!(
            (found[0].offset, found[0].field.unwrap().name, found[0].mask()),
            (0x2101, "Z_TEST_ENABLE", 2)
        );
        assert_eq!(find("RB_MRT[*].CONTROL.BLEND*").unwrap().len(), 16);
    }

    #[test]
    fn near_misses_are_named() {
        let said = |text: &str| find(text).unwrap_err().message;
        assert!(
            said("RB_DEPTH_CONTRL").contains("did you mean `RB_DEPTH_CONTROL`"),
            "{}",
            said("RB_DEPTH_CONTRL")
        );
        assert!(said("DEPTH_CONTROL").contains("`RB_DEPTH_CONTROL`"));
        assert!(said("RB_DEPTH_CONTROL.Z_TEST").contains("`RB_DEPTH_CONTROL.Z_TEST_ENABLE`"));
        assert!(!said("QQQQQQQQ").contains("did you mean"));
        assert!(!said("0x9000").contains("did you mean"));
    }

    #[test]
    fn a_register_of_64_bits_is_both_of_its_halves() {
        let offsets = |text: &str| -> Vec<u32> {
            super::find(&A6XX, text)
                .map_or(Vec::new(), |found| found.iter().map(|asked| asked.offset).collect())
        };
        for text in ["SP_CS_OBJ_START", "sp_cs_obj_start", "REG_A6XX_SP_CS_OBJ_START", "A6XX_SP_CS_OBJ_START"]
        {
            assert_eq!(offsets(text), [0xa9b4, 0xa9b5], "{text}");
        }
        for text in ["RB_MRT[1].BASE", "REG_A6XX_RB_MRT_BASE(1)"] {
            assert_eq!(offsets(text), [0x882d, 0x882e], "{text}");
        }
        for text in ["RBBM_PERFCTR_CP[1]", "RBBM_PERFCTR_CP[0x1]"] {
            assert_eq!(offsets(text).len(), 2, "{text}");
        }
        assert!(super::find(&A4XX, "RBBM_ALWAYSON_COUNTER").is_err());
    }
}
