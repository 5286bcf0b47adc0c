//! `POST /api/v1/run-eventql-query` streams the rows of a query.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{extract::State, response::Response};
use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::{sync::OwnedSemaphorePermit, time::sleep};

use crate::{
    auth::RequireApiToken,
    error_response::ErrorResponse,
    json_body::JsonBody,
    ndjson::{FRAME_SIZE, HEARTBEAT_LINE, ndjson_response, write_row},
    state::ServerState,
};
use es_eventql::{EventQlQuery, EventSource, QueryError, QueryRows};

#[derive(Deserialize)]
pub(super) struct RunEventQlQueryRequest {
    query: String,
}

pub(super) async fn run_eventql_query(
    _: RequireApiToken,
    State(server): State<Arc<ServerState>>,
    JsonBody(request): JsonBody<RunEventQlQueryRequest>,
) -> Result<Response, ErrorResponse> {
    let query = EventQlQuery::parse(&request.query)
        .map_err(|error| ErrorResponse::invalid(format!("invalid query: {error}")))?;
    let permit = server.admit_query().await?;
    let source: Arc<dyn EventSource> = Arc::new(Arc::clone(&server.store));
    let rows = QueryRowFrames {
        rows: query.run(source, server.settings.query_limits),
        heartbeat: server.settings.heartbeat,
        has_ended: false,
        _permit: permit,
    };
    let frames = stream::unfold(rows, |mut rows| async {
        let frame = rows.next_frame().await?;
        Some((Ok::<_, Infallible>(frame), rows))
    });
    Ok(ndjson_response(frames))
}

/// The rows that are not sent yet, in frames. The query runs only as fast as the client reads frames.
struct QueryRowFrames {
    rows: QueryRows,
    heartbeat: Duration,
    has_ended: bool,
    _permit: OwnedSemaphorePermit,
}

impl QueryRowFrames {
    /// Returns the rows that are ready, or a heartbeat after a while without a row.
    async fn next_frame(&mut self) -> Option<Bytes> {
        if self.has_ended {
            return None;
        }
        let mut frame = Vec::new();
        tokio::select! {
            biased;
            row = self.rows.next() => self.write_result(row, &mut frame),
            () = sleep(self.heartbeat) => frame.extend_from_slice(HEARTBEAT_LINE),
        }
        while !self.has_ended && frame.len() < FRAME_SIZE {
            let Some(row) = self.rows.next().now_or_never() else {
                break;
            };
            self.write_result(row, &mut frame);
        }
        (!frame.is_empty()).then(|| frame.into())
    }

    fn write_result(
        &mut self,
        row: Option<Result<Box<RawValue>, QueryError>>,
        frame: &mut Vec<u8>,
    ) {
        match row {
            Some(Ok(row)) => write_row("row", &row, frame),
            Some(Err(error)) => {
                write_row("error", &error.payload(), frame);
                self.has_ended = true;
            }
            None => self.has_ended = true,
        }
    }
}
