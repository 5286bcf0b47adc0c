//! Ends a streamed response when its reader's credential becomes invalid. A reader that has a new one
//! reconnects.

use std::{future::Future, time::Instant};

use axum::{
    body::Body,
    http::{HeaderMap, header},
    response::Response,
};
use es_net::{bearer, reloaded_value::ReloadedValue};
use futures_util::StreamExt as _;
use sha2::{Digest as _, Sha256};

use super::{Auth, VerifiedCaller, tokens::FileTokens};
use crate::media_type::NDJSON;

/// Returns whether a response is a stream that may last long.
pub(super) fn is_stream(answer: &Response) -> bool {
    let kind = answer.headers().get(header::CONTENT_TYPE);
    let is_kind = |media_type: &str| {
        kind.is_some_and(|kind| kind.as_bytes().starts_with(media_type.as_bytes()))
    };
    is_kind("text/event-stream") || is_kind(NDJSON)
}

/// Returns the same response, which ends when the future completes.
pub(super) fn end_when(
    answer: Response,
    end: impl Future<Output = ()> + Send + 'static,
) -> Response {
    answer.map(|body| Body::from_stream(body.into_data_stream().take_until(end)))
}

impl Auth {
    /// Waits until the credential in these headers becomes invalid.
    pub(super) fn wait_until_credential_invalid(
        &self,
        headers: &HeaderMap,
        caller: &VerifiedCaller,
    ) -> impl Future<Output = ()> + Send + 'static {
        let tokens = self.0.as_ref().and_then(|guard| guard.tokens());
        let hash = bearer::read_credential(headers).map(|token| Sha256::digest(token).into());
        let caller = caller.clone();
        async move {
            match (caller.expiry(), tokens, hash) {
                (Some(expiry), _, _) => wait_until_expired(expiry).await,
                (None, Some(tokens), Ok(hash)) => wait_until_revoked(tokens, hash, &caller).await,
                (None, _, _) => std::future::pending().await,
            }
        }
    }
}

async fn wait_until_expired(at: Instant) {
    tokio::time::sleep_until(at.into()).await;
}

/// A change of the token's roles ends the stream, too.
async fn wait_until_revoked(
    mut tokens: ReloadedValue<FileTokens>,
    hash: [u8; 32],
    caller: &VerifiedCaller,
) {
    while tokens.current().find_caller_by_hash(&hash).as_ref() == Some(caller) {
        tokens.changed().await;
    }
}
