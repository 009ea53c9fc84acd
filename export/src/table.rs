//! Tables: rows are collected in memory for a row group, then written to their files.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use a4emu_support::out_file::{Inputs, OutFile};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::column::Column;

/// Estimated bytes of rows that are held in memory.
const GROUP_BYTES: usize = 8 << 20;

/// Number of rows between two counts of their bytes.
const COUNTED_ROWS: usize = 1 << 6;

/// A row of a table; [`crate::rows`] has all row types.
pub trait Row {
    /// Name of the row's table.
    const TABLE: &'static str;
    /// The columns of the table, empty.
    fn columns() -> Vec<Column>;
    /// Adds the row to the columns.
    fn put(self, columns: &mut [Column]);
}

/// A table without rows.
#[derive(Clone, Copy, Debug)]
pub struct Empty {
    /// Name of the table.
    pub name: &'static str,
    /// Makes the columns of the table.
    pub columns: fn() -> Vec<Column>,
}

/// The tables of a folder, open for writing.
pub struct Tables(BTreeMap<&'static str, Table>);

impl Tables {
    /// Creates a file in `folder` for each of `tables`.
    pub fn create(folder: &Path, tables: &[Empty], inputs: &Inputs) -> anyhow::Result<Self> {
        let table = |empty: &Empty| Ok((empty.name, Table::create(folder, empty, inputs)?));
        Ok(Self(tables.iter().map(table).collect::<anyhow::Result<_>>()?))
    }

    /// Adds a row to its table.
    pub fn put<R: Row>(&mut self, row: R) -> Result<()> {
        let missing = || ParquetError::General(format!("no table {}", R::TABLE));
        self.0.get_mut(R::TABLE).ok_or_else(missing)?.put(row)
    }

    /// Writes the remaining rows and completes the files.
    pub fn finish(self) -> anyhow::Result<()> {
        self.0.into_values().try_for_each(Table::finish)
    }
}

struct Table {
    columns: Vec<Column>,
    /// Number of rows in `columns`.
    held: usize,
    writer: SerializedFileWriter<OutFile>,
}

impl Table {
    fn create(folder: &Path, empty: &Empty, inputs: &Inputs) -> anyhow::Result<Self> {
        let out = OutFile::create(&folder.join(format!("{}.parquet", empty.name)), inputs)?;
        let columns = (empty.columns)();
        let fields = columns.iter().map(|column| column.schema().map(Arc::new)).collect::<Result<_>>()?;
        let schema = Type::group_type_builder("schema").with_fields(fields).build()?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_created_by(concat!("a4emu ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
        Ok(Self { columns, held: 0, writer })
    }

    fn put(&mut self, row: impl Row) -> Result<()> {
        row.put(&mut self.columns);
        self.held += 1;
        let full = || self.columns.iter().map(Column::bytes).sum::<usize>() >= GROUP_BYTES;
        if self.held.is_multiple_of(COUNTED_ROWS) && full() { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let mut group = self.writer.next_row_group()?;
        for column in &mut self.columns {
            let missing = || ParquetError::General("the schema has too few columns".to_owned());
            let mut writer = group.next_column()?.ok_or_else(missing)?;
            column.write(writer.untyped())?;
            writer.close()?;
        }
        group.close()?;
        self.held = 0;
        Ok(())
    }

    fn finish(mut self) -> anyhow::Result<()> {
        if self.held > 0 {
            self.flush()?;
        }
        self.writer.into_inner()?.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Row as Read;

    use super::*;
    use crate::rows::{Command, OF_A_CAPTURE, Write};

    fn write(tables: &mut Tables, number: u64) {
        let previous = number.is_multiple_of(3).then_some(number as u32);
        let name = if number.is_multiple_of(2) { "EVEN" } else { "ODD" };
        let (submit, draw, frame_draw, address, register) = (1, 2, Some(3), 4, 5);
        let value = u32::MAX - number as u32;
        let row = Write { number, submit, draw, frame_draw, address, register, name, value, previous };
        tables.put(row).unwrap();
    }

    fn read(folder: &Path, table: &str) -> SerializedFileReader<File> {
        SerializedFileReader::new(File::open(folder.join(table)).unwrap()).unwrap()
    }

    #[test]
    fn many_rows_are_several_groups_and_all_there() {
        const ROWS: u64 = 500_000;
        let folder = tempfile::tempdir().unwrap();
        let mut tables = Tables::create(folder.path(), OF_A_CAPTURE, &Inputs::default()).unwrap();
        (0..ROWS).for_each(|number| write(&mut tables, number));
        let held: usize = tables.0["registers"].columns.iter().map(Column::bytes).sum();
        assert!(held < GROUP_BYTES, "{held}");
        tables.finish().unwrap();
        let reader = read(folder.path(), "registers.parquet");
        assert!(reader.num_row_groups() > 2, "{}", reader.num_row_groups());
        for (number, row) in reader.get_row_iter(None).unwrap().map(Result::unwrap).enumerate() {
            let previous = if number.is_multiple_of(3) { number.to_string() } else { "null".to_owned() };
            let name = if number.is_multiple_of(2) { "EVEN" } else { "ODD" };
            let value = u32::MAX - number as u32;
            let plain = format!(
                "{{number: {number}, submit: 1, draw: 2, frame_draw: 3, address: 4, register: 5, name: \"{name}\", \
                 value: {value}, previous: {previous}}}"
            );
            assert_eq!(row.to_string(), plain);
        }
    }

    #[test]
    fn lists_keep_their_lengths() {
        let folder = tempfile::tempdir().unwrap();
        let mut tables = Tables::create(folder.path(), OF_A_CAPTURE, &Inputs::default()).unwrap();
        let payloads: [&[u32]; 5] = [&[], &[7], &[], &[1, u32::MAX, 3], &[0]];
        for (number, payload) in (0..).zip(payloads) {
            let dwords = payload.len() as u32;
            let (kind, opcode, name) = (3, None, None);
            let (submit, draw, address, depth, repeated) = (0, 0, 0, 0, false);
            tables
                .put(Command {
                    number,
                    submit,
                    draw,
                    address,
                    depth,
                    repeated,
                    kind,
                    opcode,
                    name,
                    dwords,
                    payload,
                })
                .unwrap();
        }
        tables.finish().unwrap();
        let reader = read(folder.path(), "packets.parquet");
        let rows: Vec<Read> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        let lists: Vec<String> = rows.iter().map(|row| row.to_string()).collect();
        for (list, payload) in lists.iter().zip(payloads) {
            assert!(list.ends_with(&format!("payload: {payload:?}}}")), "{list}");
        }
        assert_eq!(lists.len(), payloads.len());
    }
}
