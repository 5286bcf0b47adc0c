//! The declarations of an application: collected, sorted and checked once, with the graph of their connections.
//! Routes, the OpenAPI document, the console, the model and the checks at start read this one graph.

#![warn(unreachable_pub)]

#[cfg(feature = "declarations")]
mod declarations;
#[doc(hidden)]
pub mod model;

#[cfg(feature = "declarations")]
pub use declarations::{
    Catalog, CatalogBuilder, CatalogError, Finding, ServiceUser, StateParameter,
};
