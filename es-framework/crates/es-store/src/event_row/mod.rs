//! The rows of events that the SQL engines store: their columns and their checksums.

mod checksum;
mod event_columns;
mod neighbours;
mod row_flaw;
mod stored_hash;
mod stored_row;

pub use checksum::compute_schema_checksum;
pub use event_columns::EventColumns;
pub use neighbours::check_neighbours;
pub use row_flaw::{RowFlaw, sql_number, to_event_id};
pub use stored_hash::{hash_bytes, parse_hash};
pub use stored_row::{StoredRow, StoredRowDecoder};
