//! The published contract: the OpenAPI and AsyncAPI documents and the schemas of stored events. The checks of the
//! document take the longest, and this folder is the first in the alphabet, so they run beside the others.

mod asyncapi;
mod generated_clients;
mod model;
mod openapi;
pub(crate) mod tools;
