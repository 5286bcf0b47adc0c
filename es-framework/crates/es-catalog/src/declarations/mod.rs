//! Collects, sorts and checks the declarations of an application, and connects them to one graph.

mod caller_rules;
mod catalog;
mod catalog_builder;
mod catalog_error;
mod connections;
mod contradictions;
mod event_subjects;
mod finding;
mod findings;
mod json_schema;
mod model_builder;
mod query_routes;
mod reserved_path;
mod source_path;
mod state_parameter;
mod subject_lanes;
#[cfg(test)]
mod tests;
mod unique_rules;

pub use catalog::{Catalog, ServiceUser};
pub use catalog_builder::CatalogBuilder;
pub use catalog_error::CatalogError;
pub use finding::Finding;
pub use state_parameter::StateParameter;
