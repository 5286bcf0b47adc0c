//! The port to the read models and snapshots, which this crate does not know.

use std::fmt;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, value::RawValue};
use uuid::Uuid;

/// The rows of a read model that contain the id of the person.
#[doc(hidden)]
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PersonRows {
    /// The name of the read model.
    pub read_model: &'static str,
    /// The number of rows.
    pub count: usize,
    /// The rows, in an export.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub rows: Option<Vec<Box<RawValue>>>,
    /// False if an export would not have all rows.
    #[serde(skip)]
    pub is_complete: bool,
}

/// The tables of the read models, and the snapshots.
#[doc(hidden)]
#[async_trait]
pub trait ReadModelSearch: fmt::Debug + Send + Sync + 'static {
    /// Returns the rows with the id of a person, of each read model that has some.
    async fn find_rows(&self, person: Uuid) -> Result<Vec<PersonRows>, String>;

    /// Returns the name of each place, and whether it contains one of the texts.
    async fn search(&self, texts: &[&str]) -> Vec<(String, Result<bool, String>)>;
}
