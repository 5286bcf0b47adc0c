//! Events before and after the store records them, with their subjects, types, hash chain and upcasters.
//! It does no I/O, except that it reads the files that people name.

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

#[cfg(test)]
mod facade;
#[cfg(test)]
pub use facade::*;

mod application_error;
mod borrowed_event;
mod caller;
mod candidate;
#[doc(hidden)]
pub mod checked_json;
mod clock;
mod codec;
mod const_text;
mod declaration;
mod declared;
mod descriptor;
mod dialect;
#[doc(hidden)]
pub mod doc_text;
mod envelope;
mod error_chain;
mod event_fields;
mod event_selection;
mod event_type;
mod event_view;
mod field_interner;
mod finite_numbers;
#[doc(hidden)]
pub mod foreign_text;
mod hash;
mod hash_version;
mod hexadecimal;
mod hidden_values;
mod id;
#[doc(hidden)]
pub mod integer_format;
mod invalid_stream_line;
mod json_impls;
#[doc(hidden)]
pub mod json_numbers;
#[doc(hidden)]
pub mod json_pointer;
mod line_batches;
#[doc(hidden)]
pub mod map_keys;
#[doc(hidden)]
pub mod personal;
mod poison_event;
mod readable;
mod recorded_event;
mod services;
mod subject;
#[doc(hidden)]
pub mod subject_template;
mod subject_value;
mod text_visitor;
mod time;
#[doc(hidden)]
pub mod time_text;
mod trace;
mod unique;
mod unreadable_value;
mod upcast;
mod upcasters;

#[doc(hidden)]
pub use application_error::NotLinked;
pub use application_error::{Error, Result};
pub use borrowed_event::{BorrowedEvent, LineFormat};
pub use caller::{AuthenticatedCaller, Caller, NotOwner, OwnerId, OwnerRule};
pub use candidate::{EventCandidate, InvalidData, compact_object};
pub use clock::Clock;
pub use codec::{StreamFailure, StreamLine, StreamLineParser};
#[doc(hidden)]
pub use const_text::are_equal;
pub use declaration::Declaration;
pub use declared::{DuplicateDeclaration, NamedKind};
#[doc(hidden)]
pub use declared::{check_unique, sort_by_unique_name, sort_declarations};
pub use descriptor::{Event, EventDescriptor, UnreadablePayload};
pub use dialect::Dialect;
pub use envelope::{DecodeError, Metadata, encode};
pub use error_chain::describe_chain;
pub use event_selection::EventSelection;
#[doc(hidden)]
pub use event_selection::InvalidEventSelection;
pub use event_type::{EventType, InvalidEventType};
pub use event_view::EventView;
pub use field_interner::FieldInterner;
pub use hash::{Hash, HashedMetadata, InvalidHash};
pub use hash_version::{HashVersion, InvalidHashVersion};
pub use hexadecimal::hex;
pub use id::{EventId, InvalidEventId};
pub use invalid_stream_line::InvalidStreamLine;
#[doc(hidden)]
pub use line_batches::LINE_BATCHES_HEADER;
pub use poison_event::PoisonEvent;
#[doc(hidden)]
pub use poison_event::shorten_reason;
pub use readable::encode_event;
#[doc(hidden)]
pub use readable::{encode_finite, encode_readable};
pub use recorded_event::{BrokenChain, DATA_CONTENT_TYPE, RecordedEvent, SPEC_VERSION};
pub use services::{ServiceType, Services};
pub use subject::{InvalidSubject, InvalidSubjectValue, Subject, SubjectTemplatePart};
pub use subject_value::SubjectValue;
pub use time::EventTime;
pub use trace::{InvalidTrace, TraceContext};
#[doc(hidden)]
pub use unique::UniqueValue;
pub use unique::{UnicodeForm, UniqueField, UniqueNormalization, UniqueRules, UniqueText};
pub use unreadable_value::UnreadableValue;
pub use upcast::{Upcast, UpcastOutput, UpcastedEvent, UpcasterDescriptor};
pub use upcasters::{Upcasters, UpcastersError};

/// The items that expanded macros use, for the facade.
#[doc(hidden)]
pub mod __private {
    pub use crate::json_impls::{HasJson, Itself, MissingJson, check_json};
    pub use inventory;
    pub use schemars;
    pub use serde;

    /// Brings the name of the crate into the scope of generated code.
    pub mod serde_crate {
        pub use serde;
    }
}
