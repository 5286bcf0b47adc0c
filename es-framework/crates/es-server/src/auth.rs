//! Authentication: every request except a ping must carry the API token.

use std::sync::Arc;

use axum::{extract::FromRequestParts, http::request::Parts};
use es_net::bearer;

use super::{api_error::ApiError, state::ServerState};

/// Extractor that rejects a request without the token. Put it before the body in a handler's
/// parameters, so that the server reads no body of an unauthorized client.
pub(super) struct RequireApiToken;

impl FromRequestParts<Arc<ServerState>> for RequireApiToken {
    type Rejection = ApiError;

    async fn from_request_parts(
        parts: &mut Parts,
        server: &Arc<ServerState>,
    ) -> Result<Self, Self::Rejection> {
        match bearer::read_credential(&parts.headers) {
            Ok(credential) if server.settings.api_token.matches(credential) => Ok(Self),
            _ => {
                tracing::info!(
                    path = parts.uri.path(),
                    "refused a request without the token: send Authorization: Bearer <API_TOKEN>"
                );
                Err(ApiError::unauthorized())
            }
        }
    }
}
