//! The row types of the tables. The columns are the fields, in order; docs/tables.md describes them.

use crate::column::{Cell, Column};
use crate::table::{Empty, Row};

/// Makes a struct for the row of each table, and a list of the tables.
macro_rules! tables {
    ($(#[$list_doc:meta])* $list:ident: $($(#[$doc:meta])* $row:ident $(<$text:lifetime>)? in $table:literal { $($field:ident: $kind:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $row $(<$text>)? {
            $(pub $field: $kind,)*
        }

        impl $(<$text>)? Row for $row $(<$text>)? {
            const TABLE: &'static str = $table;

            fn columns() -> Vec<Column> {
                vec![$(Column::of::<$kind>(stringify!($field)),)*]
            }

            fn put(self, columns: &mut [Column]) {
                let mut columns = columns.iter_mut();
                $(if let Some(column) = columns.next() { self.$field.put(column); })*
            }
        }
    )*

    $(#[$list_doc])*
    pub const $list: &[Empty] = &[$(Empty { name: $table, columns: $row::columns },)*];
    };
}

tables! {
    /// The tables of a capture.
    OF_A_CAPTURE:

    /// The capture: one row.
    Capture<'a> in "captures" {
        name: &'a str,
        bytes: u64,
        gpu: u32,
        submits: u32,
        draws: u32,
        frame_draws: u32,
        packets: u64,
        writes: u64,
        findings: u64,
        status: u32,
        version: &'a str,
        generation: u32,
    }

    /// A submit.
    Submit<'a> in "submits" {
        submit: u32,
        process: &'a str,
        address: u64,
        dwords: u32,
        first_draw: u32,
        first_write: u64,
    }

    /// A run of a draw or a dispatch.
    Draw<'a> in "draws" {
        submit: u32,
        draw: u32,
        frame_draw: u32,
        address: u64,
        kind: &'a str,
        pass: Option<&'a str>,
        primitive: Option<&'a str>,
        tess_mode: Option<&'a str>,
        count: Option<u32>,
        instances: Option<u32>,
        groups: &'a [u32],
        writes: u64,
        vs: Option<&'a str>,
        hs: Option<&'a str>,
        ds: Option<&'a str>,
        gs: Option<&'a str>,
        fs: Option<&'a str>,
        cs: Option<&'a str>,
    }

    /// A write of a register.
    Write<'a> in "registers" {
        number: u64,
        submit: u32,
        draw: u32,
        frame_draw: Option<u32>,
        address: u64,
        register: u32,
        name: &'a str,
        value: u32,
        previous: Option<u32>,
    }

    /// A packet, as often as it runs.
    Command<'a> in "packets" {
        number: u64,
        submit: u32,
        draw: u32,
        address: u64,
        depth: u32,
        repeated: bool,
        kind: u32,
        opcode: Option<u32>,
        name: Option<&'a str>,
        dwords: u32,
        payload: &'a [u32],
    }

    /// A program of a stage.
    Program<'a> in "shaders" {
        hash: &'a str,
        stage: &'a str,
        draw: u32,
        instructions: u32,
        text: &'a str,
    }

    /// How often an operation stands in a program.
    Op<'a> in "ops" {
        hash: &'a str,
        stage: &'a str,
        op: Option<&'a str>,
        count: u32,
    }

    /// A texture that a stage of a draw names.
    Texture<'a> in "textures" {
        submit: u32,
        draw: u32,
        frame_draw: u32,
        stage: &'a str,
        slot: u32,
        samplers: &'a [u32],
        address: u64,
        bytes: u64,
        kind: &'a str,
        format: &'a str,
        width: u32,
        height: u32,
        depth: u32,
        levels: u32,
        pitch: u32,
        layer_bytes: u32,
        tiling: &'a str,
        srgb: bool,
        swap: &'a str,
        swizzle: &'a str,
        unsupported: Option<&'a str>,
    }

    /// What `validate` finds.
    Found<'a> in "findings" {
        rule: &'a str,
        severity: &'a str,
        confidence: &'a str,
        what: &'a str,
        count: u64,
        submit: u32,
        draw: u32,
        frame_draw: u32,
        address: u64,
        pass: &'a str,
        stage: Option<&'a str>,
        hash: Option<&'a str>,
        instruction: Option<u32>,
        text: Option<&'a str>,
    }

}

tables! {
    /// The tables of a capture that is rendered.
    OF_RENDERED:

    /// A range of memory that a command, or a packet behind it, stored to.
    Stored<'a> in "written" {
        frame_draw: u32,
        what: &'a str,
        by: Option<&'a str>,
        address: u64,
        bytes: u64,
        changed: u64,
        words: &'a [u64],
        before: &'a [u32],
        after: &'a [u32],
        more: u64,
    }
}

tables! {
    /// Tables that do not depend on a capture: the registers, packets and instructions that a4emu knows.
    OF_NONE:

    /// A field of a register.
    Field<'a> in "fields" {
        register: u32,
        name: &'a str,
        field: &'a str,
        low: u32,
        high: u32,
        generation: u32,
    }

    /// A name of a field's value.
    Enumerator<'a> in "enumerators" {
        register: u32,
        field: &'a str,
        value: u32,
        name: &'a str,
        generation: u32,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// The page docs/tables.md has every table and column.
    #[test]
    fn the_page_has_all_columns() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/tables.md");
        let page = fs::read_to_string(page).unwrap();
        for table in OF_A_CAPTURE.iter().chain(OF_RENDERED) {
            let row = page.lines().find(|line| line.starts_with(&format!("| `{}` |", table.name)));
            let row = row.unwrap_or_else(|| panic!("no table {}", table.name));
            for column in (table.columns)() {
                assert!(row.contains(&format!("`{}`", column.name())), "{}.{}", table.name, column.name());
            }
        }
        for table in OF_NONE {
            assert!(page.contains(&format!("`{}.parquet`", table.name)), "{}", table.name);
        }
    }
}
