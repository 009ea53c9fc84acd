//! A column of a table, in memory until its row group is written.

use hashbrown::HashMap;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::Result;
use parquet::schema::types::Type;

/// The number of values that a row has in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One value.
    One,
    /// One value, or null.
    Maybe,
    /// A list of values.
    Many,
}

/// A type of values that a row can hold.
pub trait Cell {
    /// Number of values in a row.
    const SHAPE: Shape = Shape::One;
    /// Makes an empty list of the type's values.
    fn values() -> Values;
    /// Adds the value to `column`, which must have the type's kind.
    fn put(self, column: &mut Column);
}

/// Values of a column, without nulls.
#[derive(Clone, Debug)]
pub enum Values {
    /// Unsigned numbers of 32 bits.
    Words(Vec<i32>),
    /// Unsigned numbers of 64 bits.
    Longs(Vec<i64>),
    /// Booleans.
    Flags(Vec<bool>),
    /// Text, each distinct text stored once.
    Texts(Texts),
}

/// Texts with a table of the distinct ones, because texts repeat often.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    known: HashMap<String, usize>,
    texts: Vec<ByteArray>,
    rows: Vec<usize>,
    bytes: usize,
}

impl Texts {
    fn put(&mut self, text: &str) {
        let next = self.texts.len();
        let index = *self.known.entry_ref(text).or_insert(next);
        if index == next {
            self.texts.push(text.as_bytes().to_vec().into());
            self.bytes += 2 * text.len();
        }
        self.rows.push(index);
    }
}

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    name: &'static str,
    shape: Shape,
    values: Values,
    /// Definition levels: for each value, and for each row without one, whether there is a value.
    defined: Vec<i16>,
    /// Repetition levels: for each entry of `defined`, whether it belongs to the row of the previous entry.
    repeated: Vec<i16>,
}

impl Column {
    /// An empty column for cells of type `C`.
    pub fn of<C: Cell>(name: &'static str) -> Self {
        let (defined, repeated) = Default::default();
        Self { name, shape: C::SHAPE, values: C::values(), defined, repeated }
    }

    /// Name of the column.
    #[cfg(test)]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The column's type in the schema of the file.
    pub fn schema(&self) -> Result<Type> {
        match self.shape {
            Shape::One => self.leaf(self.name, Repetition::REQUIRED),
            Shape::Maybe => self.leaf(self.name, Repetition::OPTIONAL),
            Shape::Many => {
                let list = Type::group_type_builder("list").with_repetition(Repetition::REPEATED);
                let list =
                    list.with_fields(vec![self.leaf("element", Repetition::REQUIRED)?.into()]).build()?;
                let group = Type::group_type_builder(self.name).with_repetition(Repetition::REQUIRED);
                group.with_logical_type(Some(LogicalType::List)).with_fields(vec![list.into()]).build()
            }
        }
    }

    fn leaf(&self, name: &str, repetition: Repetition) -> Result<Type> {
        let unsigned = |bit_width| Some(LogicalType::integer(bit_width, false));
        let (physical, logical) = match self.values {
            Values::Words(_) => (Physical::INT32, unsigned(32)),
            Values::Longs(_) => (Physical::INT64, unsigned(64)),
            Values::Flags(_) => (Physical::BOOLEAN, None),
            Values::Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let leaf = Type::primitive_type_builder(name, physical).with_logical_type(logical);
        leaf.with_repetition(repetition).build()
    }

    /// Estimated bytes of memory that the column holds.
    pub fn bytes(&self) -> usize {
        let levels = 2 * (self.defined.len() + self.repeated.len());
        levels
            + match &self.values {
                Values::Words(values) => 4 * values.len(),
                Values::Longs(values) => 8 * values.len(),
                Values::Flags(values) => values.len(),
                Values::Texts(texts) => 8 * texts.rows.len() + texts.bytes,
            }
    }

    /// Writes the column of a row group, and empties the column.
    pub fn write(&mut self, writer: &mut ColumnWriter<'_>) -> Result<()> {
        let defined = (self.shape != Shape::One).then_some(&self.defined[..]);
        let repeated = (self.shape == Shape::Many).then_some(&self.repeated[..]);
        match (&mut self.values, writer) {
            (Values::Words(values), ColumnWriter::Int32ColumnWriter(writer)) => {
                writer.write_batch(values, defined, repeated)?;
                values.clear();
            }
            (Values::Longs(values), ColumnWriter::Int64ColumnWriter(writer)) => {
                writer.write_batch(values, defined, repeated)?;
                values.clear();
            }
            (Values::Flags(values), ColumnWriter::BoolColumnWriter(writer)) => {
                writer.write_batch(values, defined, repeated)?;
                values.clear();
            }
            (Values::Texts(texts), ColumnWriter::ByteArrayColumnWriter(writer)) => {
                let rows: Vec<ByteArray> = texts.rows.iter().map(|row| texts.texts[*row].clone()).collect();
                writer.write_batch(&rows, defined, repeated)?;
                *texts = Texts::default();
            }
            _ => unreachable!("the schema has the kinds of the columns"),
        }
        self.defined.clear();
        self.repeated.clear();
        Ok(())
    }
}

impl Cell for u32 {
    fn values() -> Values {
        Values::Words(Vec::new())
    }

    fn put(self, column: &mut Column) {
        if let Values::Words(values) = &mut column.values {
            values.push(self.cast_signed());
        }
    }
}

impl Cell for u64 {
    fn values() -> Values {
        Values::Longs(Vec::new())
    }

    fn put(self, column: &mut Column) {
        if let Values::Longs(values) = &mut column.values {
            values.push(self.cast_signed());
        }
    }
}

impl Cell for bool {
    fn values() -> Values {
        Values::Flags(Vec::new())
    }

    fn put(self, column: &mut Column) {
        if let Values::Flags(values) = &mut column.values {
            values.push(self);
        }
    }
}

impl Cell for &str {
    fn values() -> Values {
        Values::Texts(Texts::default())
    }

    fn put(self, column: &mut Column) {
        if let Values::Texts(texts) = &mut column.values {
            texts.put(self);
        }
    }
}

impl<C: Cell> Cell for Option<C> {
    const SHAPE: Shape = Shape::Maybe;

    fn values() -> Values {
        C::values()
    }

    fn put(self, column: &mut Column) {
        column.defined.push(self.is_some().into());
        if let Some(cell) = self {
            cell.put(column);
        }
    }
}

impl<C: Cell + Copy> Cell for &[C] {
    const SHAPE: Shape = Shape::Many;

    fn values() -> Values {
        C::values()
    }

    fn put(self, column: &mut Column) {
        if self.is_empty() {
            column.defined.push(0);
            column.repeated.push(0);
        }
        for (index, cell) in self.iter().enumerate() {
            column.defined.push(1);
            column.repeated.push((index > 0).into());
            cell.put(column);
        }
    }
}
