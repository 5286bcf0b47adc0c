//! What happened: events before and after they are stored, their subjects, types and hash chain.
//! Nothing here does I/O.

mod candidate;
mod codec;
mod declared;
mod envelope;
mod event_type;
mod fields;
mod hash;
mod id;
mod known;
mod parts;
mod recorded;
mod subject;
mod subject_value;
mod time;
mod trace;
mod upcast;
mod upcasters;
mod view;

pub use candidate::{EventCandidate, InvalidData, compact_object};
pub(crate) use codec::LineParser;
pub use codec::{Dialect, InvalidLine, Line};
pub use declared::{Event, EventDescriptor, Unreadable};
pub use envelope::{DecodeError, Metadata, encode};
pub use event_type::{EventType, InvalidEventType};
pub use hash::{Hash, HashedMetadata, InvalidHash};
pub use id::{EventId, InvalidEventId};
pub(crate) use known::Known;
pub use parts::LineShape;
pub(crate) use parts::Parts;
pub use recorded::{BrokenChain, DATA_CONTENT_TYPE, RecordedEvent, SPEC_VERSION};
pub use subject::{InvalidPart, InvalidSubject, Subject, SubjectPart};
pub use subject_value::SubjectValue;
pub use time::EventTime;
pub use trace::{InvalidTrace, TraceContext};
pub use upcast::{IntoUpcast, Upcast, UpcastEvent, UpcasterDescriptor};
pub use upcasters::{Upcasters, UpcastersError};
pub use view::EventView;
