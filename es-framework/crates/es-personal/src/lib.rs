//! Personal data: keys of persons, the encryption of declared values in stored events, and their erasure.

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

mod cipher;
mod erasure;
mod erasure_announcement;
mod erasure_target;
mod key_link;
mod key_store;
mod master_keys;
mod person;
mod person_keys;
mod personal_store;
mod read_model_search;
mod redacted_store;
mod sealed_event;
mod search;
mod shared_key;
mod sql_key_store;
mod verification;

pub use erasure::{ErasureReport, PersonalData};
pub use erasure_target::ErasureTarget;
pub use key_link::find_key_store;
pub use key_store::{KeyRewrite, KeyStore, KeyStoreError, StoredKey};
pub use master_keys::MasterKeys;
pub use person::person_of;
pub use person_keys::PersonKeys;
pub use personal_store::PersonalStore;
pub use read_model_search::{PersonRows, ReadModelSearch};
pub use redacted_store::RedactedStore;
pub use sealed_event::PersonalEvents;
pub use search::{PersonReport, StoredForm};
pub use shared_key::SharedKey;
pub use sql_key_store::SqlKeyStore;
pub use verification::Verification;
