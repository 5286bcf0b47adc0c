//! What clients ask: answered from the read models alone.

mod browse;

pub use browse::{Browse, Page, QueryError, find};
