//! `POST /api/v1/backup`: everything, as a stream that `event-store restore` reads.

use std::sync::Arc;

use axum::{extract::State, response::Response};

use super::{Server, auth::Authorized, lines::Lines};
use crate::store::backup;

pub(super) async fn backup(_: Authorized, State(server): State<Arc<Server>>) -> Response {
    Lines::written(backup::frames(&server.store))
}
