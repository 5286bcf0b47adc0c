//! `GET /actuator/prometheus`: all metrics, with the current lag of read models and reactions.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    extract::State,
    http::header,
    response::{IntoResponse as _, Response},
};
use es_event::EventId;
use es_observe::metrics::{
    catalogue::{
        LIVE_QUERIES, REACTION_DEADLINES, REACTION_HELD, REACTION_LAG, REACTION_STOPPED,
        REACTION_WAITING, READ_MODEL_HELD, READ_MODEL_HELD_FIRST, READ_MODEL_HELD_LAST,
        READ_MODEL_LAG, READ_MODEL_LAG_SECONDS, READ_MODEL_STOPPED,
    },
    gauge, render,
};
use es_subscribe::{HeldKeyGroup, ProgressRegistry, SubscriberProgress, status::seconds_behind};
use jiff::Timestamp;

use super::{HttpContext, health::load_newest_id};

/// The path of the metrics.
pub(super) const PATH: &str = "/actuator/prometheus";

/// Time to measure the lag. After it, the response has the lag of the last measurement.
const LAG_LIMIT: Duration = Duration::from_secs(3);
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(super) async fn show_metrics(State(context): State<Arc<HttpContext>>) -> Response {
    gauge(&LIVE_QUERIES, &[]).set(context.live.open_count());
    let _ = tokio::time::timeout(LAG_LIMIT, measure_lag(&context)).await;
    ([(header::CONTENT_TYPE, TEXT)], render()).into_response()
}

async fn measure_lag(context: &HttpContext) {
    let store = &*context.health.store;
    let newest = load_newest_id(store).await;
    measure_reactions(&context.health.reactions, newest);
    for progress in context.positions.iter() {
        let model = [("read_model", progress.name())];
        gauge(&READ_MODEL_STOPPED, &model).set(flag(progress.is_stopped()));
        measure_held_rows(progress);
        // Without the newest event, the lag is unknown.
        if newest.is_none() && progress.position().is_some() {
            continue;
        }
        gauge(&READ_MODEL_LAG, &model).set(number(progress.events_behind(newest)));
        if let Some(seconds) = seconds_behind(progress, store, newest).await {
            gauge(&READ_MODEL_LAG_SECONDS, &model).set(seconds);
        }
    }
}

fn measure_reactions(reactions: &ProgressRegistry, newest: Option<EventId>) {
    for progress in reactions.iter() {
        let reaction = [("reaction", progress.name())];
        gauge(&REACTION_STOPPED, &reaction).set(flag(progress.is_stopped()));
        for (fingerprint, group) in held_groups(progress) {
            let labels = [("reaction", progress.name()), ("fingerprint", &fingerprint)];
            let [keys, waiting] =
                group.map_or([0, 0], |group| [group.keys, group.waiting].map(whole));
            gauge(&REACTION_HELD, &labels).set(number(keys));
            gauge(&REACTION_WAITING, &labels).set(number(waiting));
        }
        let open = whole(progress.open_deadlines().count);
        gauge(&REACTION_DEADLINES, &reaction).set(number(open));
        if newest.is_some() {
            gauge(&REACTION_LAG, &reaction).set(number(progress.events_behind(newest)));
        }
    }
}

/// The components with the fingerprints of failures at which keys were held. A gauge stays, so its value becomes 0
/// when no key is held any more.
static HELD_BEFORE: Mutex<BTreeSet<(&str, String)>> = Mutex::new(BTreeSet::new());

/// Returns the fingerprints of all failures at which a component has held keys, with the keys that it holds now.
fn held_groups(progress: &SubscriberProgress) -> Vec<(String, Option<HeldKeyGroup>)> {
    let name = progress.name();
    let groups = progress.held_keys().group_by_failure();
    let mut known = HELD_BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    let groups_now = groups.iter().map(|group| (name, group.fingerprint.clone()));
    known.extend(groups_now);
    let of_component = known.iter().filter(|(known, _)| *known == name);
    let with_group = of_component.map(|(_, fingerprint)| {
        let mut groups = groups.iter();
        let group = groups.find(|group| group.fingerprint == *fingerprint);
        (fingerprint.clone(), group.cloned())
    });
    with_group.collect()
}

fn measure_held_rows(progress: &SubscriberProgress) {
    for (fingerprint, group) in held_groups(progress) {
        let labels = [
            ("read_model", progress.name()),
            ("fingerprint", &fingerprint),
        ];
        let group = group.as_ref();
        let count = group.map_or(0, |group| whole(group.keys));
        let time = |of: fn(&HeldKeyGroup) -> Timestamp| {
            group.map_or(0.0, |group| of(group).as_duration().as_secs_f64())
        };
        gauge(&READ_MODEL_HELD, &labels).set(number(count));
        gauge(&READ_MODEL_HELD_FIRST, &labels).set(time(|group| group.first));
        gauge(&READ_MODEL_HELD_LAST, &labels).set(time(|group| group.last));
    }
}

fn whole(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Converts a flag to 1 or 0.
fn flag(is_so: bool) -> f64 {
    f64::from(u8::from(is_so))
}

/// Converts a count, exactly up to 2^53.
#[allow(clippy::cast_precision_loss)]
const fn number(count: u64) -> f64 {
    count as f64
}
