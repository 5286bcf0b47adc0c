//! Queries over HTTP: `GET` of a read model or of one row.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, Query, State},
    http::{HeaderMap, HeaderValue, Uri, header},
    response::{IntoResponse as _, Response},
    routing::get,
};

use super::{Problem, Surface, command::EVENT_POSITION};
use crate::{
    event::{EventId, Subject},
    projection::ReadModelDescriptor,
    query::{self, Browse},
};

/// Adds `GET /<name>` and `GET /<name>/{key}`.
pub(super) fn routes(
    router: Router<Arc<Surface>>,
    model: ReadModelDescriptor,
) -> Router<Arc<Surface>> {
    let browse = move |State(surface): State<Arc<Surface>>,
                       parameters: Parameters,
                       headers: HeaderMap| async move {
        let Query(parameters) = parameters.map_err(|_| malformed_parameters())?;
        let pairs = parameters
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        let browse = Browse::parse(pairs)?;
        await_position(&surface, &headers).await?;
        let page = browse.run(&surface.database, &model).await?;
        Ok::<_, Problem>(axum::Json(page).into_response())
    };
    let find = move |State(surface): State<Arc<Surface>>,
                     uri: Uri,
                     key: KeyOrNot,
                     headers: HeaderMap| async move {
        await_position(&surface, &headers).await?;
        let subject = key.ok().and_then(|Path(key)| subject_of(&model, &key));
        let row = match subject {
            Some(subject) => query::find(&surface.database, &model, &subject).await?,
            None => None,
        };
        let row = row.ok_or_else(|| Problem::no_such_row(uri.path()))?;
        let json = [(header::CONTENT_TYPE, "application/json")];
        Ok::<Response, Problem>((json, row.get().to_owned()).into_response())
    };
    router
        .route(&format!("/{}", model.name), get(browse))
        .route(&format!("/{}/{{key}}", model.name), get(find))
}

type Parameters = Result<Query<Vec<(String, String)>>, axum::extract::rejection::QueryRejection>;
type KeyOrNot = Result<Path<String>, axum::extract::rejection::PathRejection>;

fn malformed_parameters() -> Problem {
    query::QueryError::Invalid {
        parameter: "list".into(),
        message: "is malformed: write name=value pairs with & between them".into(),
    }
    .into()
}

/// What cannot be a subject was never written about.
fn subject_of(model: &ReadModelDescriptor, key: &str) -> Option<Subject> {
    format!("/{}/{key}", model.name).parse().ok()
}

/// Waits until the read models are rebuilt and have seen the event that the caller names, if any,
/// so that callers read what they wrote.
async fn await_position(surface: &Surface, headers: &HeaderMap) -> Result<(), Problem> {
    let position = headers
        .get(EVENT_POSITION)
        .map(parse_position)
        .transpose()?;
    let wait = surface.limits.position_wait;
    Ok(surface.progress.reach(position, wait).await?)
}

fn parse_position(value: &HeaderValue) -> Result<EventId, Problem> {
    let id = value.to_str().ok().and_then(|text| text.parse().ok());
    id.ok_or_else(|| {
        let detail = "must be an event id, as a command's answer gives it";
        Problem::invalid_header("Event-Position", detail)
    })
}
