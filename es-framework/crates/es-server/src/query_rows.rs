//! The rows of an EventQL query as a stream of lines.

use std::{convert::Infallible, time::Duration};

use axum::response::Response;
use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::{sync::OwnedSemaphorePermit, time::sleep};

use super::{
    api_error::ApiError,
    envelope::write_error,
    ndjson::{FRAME_SIZE, ndjson_response},
    state::ServerState,
    stream_format::StreamFormat,
};
use es_eventql::{EventQlQuery, QueryError, QueryRows};

/// Runs a query and responds with its rows. The permit is held until the last row is sent.
pub(super) fn query_response(
    server: &ServerState,
    query: &EventQlQuery,
    format: StreamFormat,
    permit: OwnedSemaphorePermit,
) -> Response {
    let rows = QueryRowFrames {
        rows: query.run(server.store.clone(), server.settings.query_limits),
        format,
        heartbeat: server.settings.heartbeat,
        has_ended: false,
        _permit: permit,
    };
    ndjson_response(stream::unfold(rows, |mut rows| async {
        let frame = rows.next_frame().await?;
        Some((Ok::<_, Infallible>(frame), rows))
    }))
}

/// A row in version 2. The value is written as it is: decoding it would take much more memory and change
/// the digits of its numbers.
#[derive(Serialize)]
struct ValueRow<'a> {
    value: &'a RawValue,
}

/// The rows that are not sent yet, in frames. The query runs only as fast as the client reads frames.
struct QueryRowFrames {
    rows: QueryRows,
    format: StreamFormat,
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
            () = sleep(self.heartbeat) => frame.extend_from_slice(self.format.heartbeat()),
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
            Some(Ok(row)) => self.write_row(&row, frame),
            Some(Err(error)) => {
                self.write_failure(&error, frame);
                self.has_ended = true;
            }
            None => {
                frame.extend_from_slice(self.format.end());
                self.has_ended = true;
            }
        }
    }

    fn write_row(&self, row: &RawValue, frame: &mut Vec<u8>) {
        match self.format {
            StreamFormat::V1(_) => self.format.write_row("row", &row, frame),
            StreamFormat::V2 => {
                let value = ValueRow { value: row };
                self.format.write_row("row", &value, frame);
            }
        }
    }

    fn write_failure(&self, error: &QueryError, frame: &mut Vec<u8>) {
        match self.format {
            StreamFormat::V1(_) => self.format.write_row("error", &error.payload(), frame),
            StreamFormat::V2 => write_error(&ApiError::failed_query(error), frame),
        }
    }
}
