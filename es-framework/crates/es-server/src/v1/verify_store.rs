//! `POST /api/v1/verify-store` checks the whole hash chain and reports where it breaks.
//!
//! The time depends on the number of events, so the response is a stream: lines with the progress, and a
//! last line with the result.

use std::{convert::Infallible, sync::Arc};

use axum::{extract::State, response::Response};
use futures_util::stream;
use serde::Serialize;
use tokio::sync::mpsc;

use crate::{
    auth::RequireApiToken,
    ndjson::{ndjson_response, write_error_line, write_row},
    state::ServerState,
};
use es_event::Hash;
use es_store::{DamagePlace, StoreError, VerificationProgress, VerificationReport, verify};

/// The payload of a progress line.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProgressLine {
    events: u64,
    /// The number of events and rows that were compared with each other, after all events were verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    compared_entries: Option<u64>,
}

/// The payload of the last line.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct VerificationResult {
    is_valid: bool,
    events: u64,
    hash: Hash,
    #[serde(skip_serializing_if = "Option::is_none")]
    broken_at: Option<BrokenEvent>,
    /// The first difference between the events and a table that follows from them.
    #[serde(skip_serializing_if = "Option::is_none")]
    broken_table: Option<String>,
}

/// The first place where the chain breaks.
#[derive(Serialize)]
struct BrokenEvent {
    id: String,
    reason: String,
}

pub(super) async fn verify_store(
    _: RequireApiToken,
    State(server): State<Arc<ServerState>>,
) -> Response {
    let (lines, receiver) = mpsc::channel::<Vec<u8>>(16);
    tokio::spawn(async move {
        let mut verified = 0;
        let verification = verify(&*server.store, |progress| {
            let compared_entries = match progress {
                VerificationProgress::Chain { events } => {
                    verified = events;
                    None
                }
                VerificationProgress::Tables { entries } => Some(entries),
            };
            let progress = ProgressLine {
                events: verified,
                compared_entries,
            };
            let mut line = Vec::new();
            write_row("progress", &progress, &mut line);
            // A slow client misses lines about the progress only.
            let _ = lines.try_send(line);
        });
        tokio::select! {
            outcome = verification => {
                let _ = lines.send(encode_result(outcome)).await;
            }
            // The client is gone.
            () = lines.closed() => {}
        }
    });
    ndjson_response(stream::unfold(receiver, |mut receiver| async {
        let line = receiver.recv().await?;
        Some((Ok::<_, Infallible>(line), receiver))
    }))
}

fn encode_result(outcome: Result<VerificationReport, StoreError>) -> Vec<u8> {
    let mut line = Vec::new();
    match outcome {
        Ok(VerificationReport {
            events,
            hash,
            damage,
        }) => {
            let (mut broken_at, mut broken_table) = (None, None);
            let is_valid = damage.is_empty();
            if let Some(damage) = damage.into_iter().next() {
                match damage.place {
                    DamagePlace::Event(id) => {
                        broken_at = Some(BrokenEvent {
                            id: id.to_string(),
                            reason: damage.reason,
                        });
                    }
                    DamagePlace::Table(_) => broken_table = Some(damage.to_string()),
                }
            }
            let result = VerificationResult {
                is_valid,
                events,
                hash,
                broken_at,
                broken_table,
            };
            write_row("result", &result, &mut line);
        }
        Err(error) => write_error_line(&error.to_string(), &mut line),
    }
    line
}
