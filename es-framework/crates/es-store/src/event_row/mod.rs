//! The rows of events that the SQL engines store: their columns, their checksums, and the links by which a
//! missing row is noticed.

mod checksum;
mod event_columns;
mod row_flaw;
mod row_links;
mod stored_hash;
mod stored_row;

pub use checksum::compute_schema_checksum;
pub use event_columns::EventColumns;
pub use row_flaw::{RowFlaw, sql_number, to_event_id};
pub use row_links::{LinkCheck, RowLinks, check_neighbours};
pub use stored_hash::{hash_bytes, parse_hash};
pub use stored_row::{StoredRow, StoredRowDecoder};
