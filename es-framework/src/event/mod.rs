//! Events before and after the store records them, with their subjects, types and hash chain. This
//! module does no I/O.

mod candidate;
mod codec;
mod descriptor;
mod dialect;
mod envelope;
mod event_fields;
mod event_type;
mod event_view;
mod hash;
mod id;
mod invalid_stream_line;
mod parse_cache;
mod raw_event;
mod recorded_event;
mod subject;
mod subject_value;
mod time;
mod trace;
mod upcast;
mod upcasters;

pub use candidate::{EventCandidate, InvalidData, compact_object};
pub use codec::StreamLine;
pub(crate) use codec::StreamLineParser;
pub use descriptor::{Event, EventDescriptor, UnreadablePayload};
pub use dialect::Dialect;
pub use envelope::{DecodeError, Metadata, encode};
pub use event_type::{EventType, InvalidEventType};
pub use event_view::EventView;
pub use hash::{Hash, HashedMetadata, InvalidHash};
pub use id::{EventId, InvalidEventId};
pub use invalid_stream_line::InvalidStreamLine;
pub(crate) use parse_cache::ParseCache;
pub use raw_event::LineShape;
pub(crate) use raw_event::RawEvent;
pub use recorded_event::{BrokenChain, DATA_CONTENT_TYPE, RecordedEvent, SPEC_VERSION};
pub use subject::{InvalidSubject, InvalidSubjectPart, Subject, SubjectPart};
pub use subject_value::SubjectValue;
pub use time::EventTime;
pub use trace::{InvalidTrace, TraceContext};
pub use upcast::{IntoUpcast, Upcast, UpcastEvent, UpcasterDescriptor};
pub use upcasters::{Upcasters, UpcastersError};
