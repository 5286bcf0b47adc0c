//! A stream is read for hours. It ends when its reader is trusted no longer: who still may comes back
//! by itself.

use std::{future::Future, time::Instant};

use axum::{
    body::Body,
    http::{HeaderMap, header},
    response::Response,
};
use futures_util::StreamExt as _;
use sha2::{Digest as _, Sha256};

use super::{Auth, Caller, tokens::Tokens};
use crate::{bearer, file_watcher::FileWatcher};

/// Whether an answer goes on for as long as its reader likes.
pub(super) fn is_stream(answer: &Response) -> bool {
    let kind = answer.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// The same answer, cut off then.
pub(super) fn until(answer: Response, end: impl Future<Output = ()> + Send + 'static) -> Response {
    answer.map(|body| Body::from_stream(body.into_data_stream().take_until(end)))
}

impl Auth {
    /// Done when the caller, who sent these headers, is trusted no longer.
    pub(super) fn end_of_trust(
        &self,
        headers: &HeaderMap,
        caller: &Caller,
    ) -> impl Future<Output = ()> + Send + 'static {
        let tokens = match self {
            Self::Open => None,
            Self::Guarded(guard) => guard.tokens(),
        };
        let hash = bearer::credential(headers).map(|token| Sha256::digest(token).into());
        let caller = caller.clone();
        async move {
            match (caller.expiry(), tokens, hash) {
                (Some(expiry), _, _) => expired(expiry).await,
                (None, Some(tokens), Ok(hash)) => revoked(tokens, hash, &caller).await,
                (None, _, _) => std::future::pending().await,
            }
        }
    }
}

async fn expired(at: Instant) {
    tokio::time::sleep_until(at.into()).await;
}

/// Also when other roles were given to the token.
async fn revoked(mut tokens: FileWatcher<Tokens>, hash: [u8; 32], caller: &Caller) {
    while tokens.current().caller_of_hash(&hash).as_ref() == Some(caller) {
        tokens.changed().await;
    }
}
