//! What a feature's file needs.

pub use uuid::Uuid;
