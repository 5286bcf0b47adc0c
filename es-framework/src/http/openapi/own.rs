//! What the framework answers by itself, in every application.

use serde_json::json;

use super::{OpenApiResponse, Operation, Schemas, serve};
use crate::http::{health, metrics};

/// A path, a method and what it does.
pub(super) type DescribedOperation = (&'static str, &'static str, Operation);

/// All of it.
pub(super) fn operations(schemas: &mut Schemas) -> Vec<DescribedOperation> {
    let shown = shown(schemas).into_iter();
    shown
        .map(|(path, operation)| (path, "get", operation))
        .collect()
}

/// The paths that everybody may look at, and what each answers to `GET`.
fn shown(schemas: &mut Schemas) -> Vec<(&'static str, Operation)> {
    vec![
        (
            health::PATH,
            health(
                "health",
                "Tells whether the service and all that it needs work.",
                schemas,
            ),
        ),
        (
            health::LIVENESS,
            health(
                "liveness",
                "Tells whether another start of the service would help.",
                schemas,
            ),
        ),
        (
            health::READINESS,
            health(
                "readiness",
                "Tells whether commands and queries can be carried out now.",
                schemas,
            ),
        ),
        (health::INFO, info()),
        (metrics::PATH, measurements()),
        (serve::PATH, this_document()),
    ]
}

fn info() -> Operation {
    let answer = OpenApiResponse::new(200, "The application and its framework.", &[])
        .with_json(json!({ "type": "object" }));
    Operation::new("info", "Tells what runs here, and since when.", "").with_answer(answer)
}

fn health(id: &str, summary: &str, schemas: &mut Schemas) -> Operation {
    let report = health::schema(schemas.answers()).to_value();
    let answer =
        |status, description| OpenApiResponse::new(status, description, &[]).with_json(report.clone());
    Operation::new(id, summary, "")
        .with_answer(answer(200, "All is well."))
        .with_answer(answer(503, "Something does not work."))
}

fn measurements() -> Operation {
    let summary = "Tells what was measured since the start, for Prometheus.";
    let answer = OpenApiResponse::new(200, "The measurements.", &[])
        .with_content("text/plain", json!({ "type": "string" }));
    Operation::new("prometheus", summary, "").with_answer(answer)
}

fn this_document() -> Operation {
    let summary = "Describes the service: this document.";
    let answer =
        OpenApiResponse::new(200, "A document of OpenAPI 3.1.", &[]).with_json(json!({ "type": "object" }));
    Operation::new("openapi", summary, "").with_answer(answer)
}
