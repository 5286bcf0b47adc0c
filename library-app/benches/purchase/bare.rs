//! The route without a store: parses the purchase and answers.

use axum::{
    Json, Router,
    http::{StatusCode, header},
    routing::post,
};
use serde::Deserialize;
use uuid::Uuid;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(dead_code, reason = "parsing is all that is measured")]
struct Purchase {
    id: Uuid,
    isbn: String,
    title: String,
    author: String,
    num_pages: i64,
}

pub(crate) fn serve() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let purchase = |Json(purchase): Json<Purchase>| async move {
            let location = format!("/books/{}", purchase.id);
            (StatusCode::CREATED, [(header::LOCATION, location)])
        };
        let router = Router::new().route("/books/purchase", post(purchase));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        eprintln!("bare route on http://{}", listener.local_addr().unwrap());
        axum::serve(
            axum::serve::ListenerExt::tap_io(listener, |stream| {
                let _ = stream.set_nodelay(true);
            }),
            router,
        )
        .await
        .unwrap();
    });
}
