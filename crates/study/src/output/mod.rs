//! What a study leaves: tables, files, pictures, a report.

pub mod asserted;
pub mod beside;
mod brief;
pub mod columns;
pub mod conclusions;
pub mod csv;
pub mod grid;
pub mod kept;
pub mod learned;
pub mod parquet;
pub mod picture;
pub mod report;
pub mod table;
pub mod terminal;
pub mod timeline;
pub mod values;
