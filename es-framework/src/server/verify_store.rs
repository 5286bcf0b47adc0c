//! `POST /api/v1/verify-store`: walks the whole hash chain and says where it breaks.
//!
//! A walk takes as long as there are events, so it is a stream: lines that say how far it is, and
//! one at the end with the result.

use std::{convert::Infallible, sync::Arc};

use axum::{extract::State, response::Response};
use futures_util::stream;
use serde::Serialize;
use tokio::sync::mpsc;

use super::{
    Server,
    auth::Authorized,
    lines::write_error,
    rows::{ndjson, write_row},
};
use crate::{
    event::Hash,
    store::{StoreError, Verified, verify},
};

#[derive(Serialize)]
struct Progress {
    events: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    is_valid: bool,
    events: u64,
    hash: Hash,
    #[serde(skip_serializing_if = "Option::is_none")]
    broken_at: Option<Broken>,
}

#[derive(Serialize)]
struct Broken {
    id: String,
    reason: String,
}

pub(super) async fn verify_store(_: Authorized, State(server): State<Arc<Server>>) -> Response {
    let (lines, taken) = mpsc::channel::<Vec<u8>>(16);
    tokio::spawn(async move {
        let walking = verify(&*server.store, |events| {
            let mut line = Vec::new();
            write_row("progress", &Progress { events }, &mut line);
            // A client that does not keep up misses a word about progress, no more.
            let _ = lines.try_send(line);
        });
        tokio::select! {
            outcome = walking => {
                let _ = lines.send(last_line(outcome)).await;
            }
            // Nobody waits for the result any longer.
            () = lines.closed() => {}
        }
    });
    ndjson(stream::unfold(taken, |mut taken| async {
        let line = taken.recv().await?;
        Some((Ok::<_, Infallible>(line), taken))
    }))
}

fn last_line(outcome: Result<Verified, StoreError>) -> Vec<u8> {
    let mut line = Vec::new();
    match outcome {
        Ok(Verified { events, hash, flaw }) => {
            let outcome = Outcome {
                is_valid: flaw.is_none(),
                events,
                hash,
                broken_at: flaw.map(|flaw| Broken {
                    id: flaw.event.to_string(),
                    reason: flaw.reason,
                }),
            };
            write_row("result", &outcome, &mut line);
        }
        Err(error) => write_error(&error.to_string(), &mut line),
    }
    line
}
