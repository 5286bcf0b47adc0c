//! The model of an application as plain data: a graph of its declarations, and pictures of the graph. `cargo es` reads
//! it from JSON.

#![allow(
    clippy::arithmetic_side_effects,
    reason = "only declarations of the application set the sizes of a model"
)]

mod application_model;
mod edge;
mod finding;
#[cfg(feature = "drawing")]
mod layout;
#[cfg(feature = "drawing")]
mod mermaid;
mod node;
#[cfg(feature = "drawing")]
mod svg;
#[cfg(test)]
mod tests;

pub use application_model::ApplicationModel;
pub use edge::{EdgeKind, ModelEdge};
pub use finding::{FindingKind, ModelFinding};
pub use node::{ModelNode, ModelRule, NodeKind};
#[cfg(feature = "drawing")]
pub use svg::STYLE;
