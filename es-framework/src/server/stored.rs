//! The stored events of an observation, from a store that writes lines without making events of them.

use std::sync::Arc;

use futures_util::{FutureExt as _, StreamExt as _};

use super::Server;
use crate::{
    event::Subject,
    store::{Bound, EventStream, IdRange, LineStream, ObserveOptions, ReadOptions, newest_id},
};

/// The lines of what is stored by now, and what to observe after them. `None` where there are none to
/// write beforehand: the observation has all of its events then.
pub(super) async fn lines(
    server: &Server,
    subject: &Subject,
    options: &ObserveOptions,
) -> Option<(LineStream, ObserveOptions)> {
    // Where such an observation begins may be known only when its event comes.
    if options.from_latest_event.is_some() {
        return None;
    }
    let shape = server.settings.unsigned()?;
    // What is wrong with the store is told by the observation.
    let newest = newest_id(&*server.store).await.ok()??;
    let read = ReadOptions {
        recursive: options.recursive,
        lower_bound: options.lower_bound,
        upper_bound: Some(Bound::Inclusive(newest)),
        ..ReadOptions::default()
    };
    let IdRange { first, last } = IdRange::of(read.lower_bound, read.upper_bound);
    if first > last {
        return None;
    }
    let lines = server.store.read_lines(subject, &read, shape)?;
    let after = ObserveOptions {
        recursive: options.recursive,
        ..ObserveOptions::recursive_after(Some(newest))
    };
    Some((lines, after))
}

/// An observation that begins only when its first event is asked for.
pub(super) fn observe_later(
    server: &Server,
    subject: Subject,
    options: ObserveOptions,
) -> EventStream {
    let store = Arc::clone(&server.store);
    async move { store.observe(subject, options) }
        .flatten_stream()
        .boxed()
}
