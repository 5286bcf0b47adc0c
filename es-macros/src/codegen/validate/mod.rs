//! `#[validate(…)]` on a field: what may stand there (`rule`), the checks that it becomes
//! (`expand`) and what the JSON schema says of it (`schema`).

mod bound;
mod expand;
mod pattern;
mod rule;
mod schema;

pub(crate) use expand::{Checked, checks};
pub(crate) use rule::{Rule, read};
pub(crate) use schema::constraints;
