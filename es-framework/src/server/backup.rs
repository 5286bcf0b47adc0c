//! `POST /api/v1/backup`: everything, as a stream that `event-store restore` reads.

use std::{convert::Infallible, sync::Arc};

use axum::{extract::State, response::Response};
use futures_util::StreamExt as _;

use super::{Server, auth::Authorized, lines::write_error, rows::ndjson};
use crate::store::backup;

/// How many lines share a frame, if they are there already.
const LINES: usize = 256;

pub(super) async fn backup(_: Authorized, State(server): State<Arc<Server>>) -> Response {
    let lines = backup::lines(Arc::clone(&server.store));
    let frames = lines.ready_chunks(LINES).map(|lines| {
        let mut frame = Vec::new();
        for line in lines {
            match line {
                Ok(line) => line.write(&mut frame),
                Err(error) => {
                    tracing::error!(%error, "a backup broke off");
                    write_error(&error.to_string(), &mut frame);
                }
            }
        }
        Ok::<_, Infallible>(frame)
    });
    ndjson(frames)
}
