//! The stored events of an observation, from a store that encodes lines without decoding events.

use std::sync::Arc;

use futures_util::{FutureExt as _, StreamExt as _};

use super::{state::ServerState, stream_format::StreamFormat};
use es_event::Subject;
use es_store::{Bound, EventStream, IdRange, LineStream, ObserveOptions, ReadOptions, newest_id};

/// Reads the lines of all events that are stored now, and returns the options for observing the events
/// after them. Returns `None` if the observation itself has to read the stored events.
pub(super) async fn read_stored_lines(
    server: &ServerState,
    subject: &Subject,
    options: &ObserveOptions,
    format: StreamFormat,
) -> Option<(LineStream, ObserveOptions)> {
    // The start of such an observation may depend on an event that is not stored yet.
    if options.from_latest_event.is_some() {
        return None;
    }
    let shape = format.unsigned_shape(&server.settings)?;
    // The observation reports errors of the store.
    let newest = newest_id(&*server.store).await.ok()??;
    let read = ReadOptions {
        recursive: options.recursive,
        lower_bound: options.lower_bound,
        upper_bound: Some(Bound::Inclusive(newest)),
        ..ReadOptions::default()
    };
    if IdRange::from_bounds(read.lower_bound, read.upper_bound).is_empty() {
        return None;
    }
    let lines = server.store.read_lines(subject, &read, shape)?;
    let after = ObserveOptions {
        recursive: options.recursive,
        ..ObserveOptions::recursive_after(Some(newest))
    };
    Some((lines, after))
}

/// Creates an observation that starts when its stream is polled first.
pub(super) fn observe_lazily(
    server: &ServerState,
    subject: Subject,
    options: ObserveOptions,
) -> EventStream {
    let store = Arc::clone(&server.store);
    async move { store.observe(subject, options) }
        .flatten_stream()
        .boxed()
}
