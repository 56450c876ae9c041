//! `results.parquet`: the same table, typed.

use super::columns::{Column, Data};
use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use std::sync::Arc;

/// The bytes of a Parquet file.
pub fn parquet(columns: &[Column]) -> Result<Vec<u8>, ParquetError> {
    let fields: Result<Vec<_>, _> = columns.iter().map(|c| field(c).map(Arc::new)).collect();
    let schema = Type::group_type_builder("results")
        .with_fields(fields?)
        .build()?;
    // The same bytes from every version of warpsim that computes the same values.
    let properties = WriterProperties::builder()
        .set_created_by("warpsim".into())
        .build();
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for column in columns {
        if let Some(mut writer) = group.next_column()? {
            write(&mut writer, &column.data)?;
            writer.close()?;
        }
    }
    group.close()?;
    file.close()?;
    Ok(bytes)
}

fn field(column: &Column) -> Result<Type, ParquetError> {
    let (physical, repetition) = match column.data {
        Data::Text(_) => (Physical::BYTE_ARRAY, Repetition::REQUIRED),
        Data::Whole(_) => (Physical::INT64, Repetition::OPTIONAL),
        Data::Real(_) => (Physical::DOUBLE, Repetition::OPTIONAL),
    };
    let mut builder =
        Type::primitive_type_builder(&column.name, physical).with_repetition(repetition);
    if physical == Physical::BYTE_ARRAY {
        builder = builder
            .with_logical_type(Some(LogicalType::String))
            .with_converted_type(ConvertedType::UTF8);
    }
    builder.build()
}

fn write(writer: &mut SerializedColumnWriter, data: &Data) -> Result<(), ParquetError> {
    match data {
        Data::Text(values) => {
            let values: Vec<ByteArray> = values.iter().map(|v| v.as_str().into()).collect();
            writer
                .typed::<ByteArrayType>()
                .write_batch(&values, None, None)?;
        }
        Data::Whole(values) => {
            let (present, levels) = present(values);
            writer
                .typed::<Int64Type>()
                .write_batch(&present, Some(&levels), None)?;
        }
        Data::Real(values) => {
            let (present, levels) = present(values);
            writer
                .typed::<DoubleType>()
                .write_batch(&present, Some(&levels), None)?;
        }
    }
    Ok(())
}

/// The values that are there, and for each row whether it has one.
fn present<T: Copy>(values: &[Option<T>]) -> (Vec<T>, Vec<i16>) {
    let levels = values.iter().map(|v| i16::from(v.is_some())).collect();
    (values.iter().flatten().copied().collect(), levels)
}
