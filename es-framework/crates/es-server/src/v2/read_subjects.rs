//! `QUERY /api/v2/data/read-subjects` streams a subject and, with `recursive`, the subjects below it in order,
//! including those that have no events themselves.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde::Deserialize;
use serde_json::json;

use super::{
    error_envelope::ErrorEnvelope,
    options::StrictRecursiveOptions,
    safe_query::QueryMethod,
    strict_body::{OptionalObject, StrictBody},
    values::{OptionalText, parse_subject},
};
use crate::{auth::RequireApiToken, state::ServerState, stream_format::StreamFormat};
use es_event::Subject;
use es_store::{EventLog, SubjectStream, latest_event};

/// The body of read-subjects.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SubjectsBody {
    subject: OptionalText,
    options: OptionalObject<StrictRecursiveOptions>,
}

pub(super) async fn read_subjects(
    _: QueryMethod,
    _: RequireApiToken,
    State(server): State<Arc<ServerState>>,
    StrictBody(body): StrictBody<SubjectsBody>,
) -> Result<Response, ErrorEnvelope> {
    let base = parse_subject(body.subject)?;
    let options = body.options.into_object().unwrap_or_default();
    let subjects = if options.is_recursive() {
        server.store.read_subjects(base)
    } else {
        find_subject(server.store.clone(), base)
    };
    let rows = subjects.map_ok(|subject| json!({"subject": subject}));
    Ok(StreamFormat::V2.rows_response("subject", rows, &server.settings))
}

/// Returns the subject if it exists, which means that it or a subject below it has an event. A listing would read
/// all subjects below it.
fn find_subject(log: Arc<dyn EventLog>, subject: Subject) -> SubjectStream {
    let found = async move {
        let newest = latest_event(&*log, subject.clone(), true).await?;
        Ok(newest.map(|_| subject))
    };
    stream::once(found)
        .try_filter_map(async |found| Ok(found))
        .boxed()
}
