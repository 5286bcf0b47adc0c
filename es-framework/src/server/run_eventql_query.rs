//! `POST /api/v1/run-eventql-query`: the rows of a query as they come.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{extract::State, response::Response};
use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::sleep;

use super::{
    Server,
    auth::Authorized,
    body::Json,
    error::Failure,
    lines::{FRAME, HEARTBEAT},
    rows::{ndjson, write_row},
};
use crate::eventql::{EventQlQuery, EventSource, QueryError, QueryRows};

#[derive(Deserialize)]
pub(super) struct Request {
    query: String,
}

pub(super) async fn run_eventql_query(
    _: Authorized,
    State(server): State<Arc<Server>>,
    Json(request): Json<Request>,
) -> Result<Response, Failure> {
    let query = EventQlQuery::parse(&request.query)
        .map_err(|error| Failure::invalid(format!("invalid query: {error}")))?;
    let source: Arc<dyn EventSource> = Arc::new(Arc::clone(&server.store));
    let answer = Answer {
        rows: query.run(source, server.settings.query_limits),
        heartbeat: server.settings.heartbeat,
        ended: false,
    };
    let frames = stream::unfold(answer, |mut answer| async {
        let frame = answer.frame().await?;
        Some((Ok::<_, Infallible>(frame), answer))
    });
    Ok(ndjson(frames))
}

/// The rows that are still to be sent. They are taken from the query only as the client takes
/// frames.
struct Answer {
    rows: QueryRows,
    heartbeat: Duration,
    ended: bool,
}

impl Answer {
    /// Whatever is ready, at least one line: a sign of life while there is no row.
    async fn frame(&mut self) -> Option<Bytes> {
        if self.ended {
            return None;
        }
        let mut frame = Vec::new();
        tokio::select! {
            biased;
            row = self.rows.next() => self.write(row, &mut frame),
            () = sleep(self.heartbeat) => frame.extend_from_slice(HEARTBEAT),
        }
        while !self.ended && frame.len() < FRAME {
            let Some(row) = self.rows.next().now_or_never() else {
                break;
            };
            self.write(row, &mut frame);
        }
        (!frame.is_empty()).then(|| frame.into())
    }

    fn write(&mut self, row: Option<Result<Box<RawValue>, QueryError>>, frame: &mut Vec<u8>) {
        match row {
            Some(Ok(row)) => write_row("row", &row, frame),
            Some(Err(error)) => {
                write_row("error", &error.payload(), frame);
                self.ended = true;
            }
            None => self.ended = true,
        }
    }
}
