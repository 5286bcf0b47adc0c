//! The published contract: the OpenAPI document and the schemas of stored events. The checks of the
//! document take the longest, and this folder is the first in the alphabet, so they run beside the others.

mod generated_clients;
mod model;
mod openapi;
pub(crate) mod tools;
