//! The operations that the framework adds to every application.

use serde_json::json;

use super::{
    document_route,
    operation::{OpenApiResponse, Operation},
    schemas::Schemas,
};
use crate::{
    actuator_paths,
    health::{self, ServiceInfo},
    metrics,
};

/// A path, a method and its operation.
pub(super) type DescribedOperation = (&'static str, &'static str, Operation);

/// Returns the operations of the framework that need no role.
pub(super) fn framework_operations(schemas: &mut Schemas) -> Vec<DescribedOperation> {
    let shown = shown(schemas).into_iter();
    shown
        .map(|(path, operation)| (path, "get", operation))
        .collect()
}

/// Returns the `GET` operations, each with its path.
fn shown(schemas: &mut Schemas) -> Vec<(&'static str, Operation)> {
    vec![
        (
            actuator_paths::HEALTH,
            health(
                "health",
                "Reports the health of the service and its components.",
                schemas,
            ),
        ),
        (
            actuator_paths::LIVENESS,
            health(
                "liveness",
                "Reports if a restart of the service would help.",
                schemas,
            ),
        ),
        (
            actuator_paths::READINESS,
            health(
                "readiness",
                "Reports if the service can handle commands and queries now.",
                schemas,
            ),
        ),
        (actuator_paths::INFO, info(schemas)),
        (metrics::PATH, measurements()),
        (document_route::PATH, this_document(schemas)),
    ]
}

fn info(schemas: &mut Schemas) -> Operation {
    let info = schemas
        .response_generator_mut()
        .subschema_for::<ServiceInfo>()
        .to_value();
    let answer =
        OpenApiResponse::new(200, "The application and its framework.", &[]).with_json(info);
    Operation::new(
        "info",
        "Returns the name, the version and the start time of the application.",
        "",
    )
    .with_answer(answer)
}

fn health(id: &str, summary: &str, schemas: &mut Schemas) -> Operation {
    let report = health::report_schema(schemas.response_generator_mut()).to_value();
    let answer = |status, description| {
        OpenApiResponse::new(status, description, &[]).with_json(report.clone())
    };
    Operation::new(id, summary, "")
        .with_answer(answer(200, "Every component works."))
        .with_answer(answer(503, "A component does not work."))
}

fn measurements() -> Operation {
    let summary = "Returns the metrics in the text format of Prometheus.";
    let answer = OpenApiResponse::new(200, "The metrics.", &[])
        .with_content("text/plain", json!({ "type": "string" }));
    Operation::new("prometheus", summary, "").with_answer(answer)
}

fn this_document(schemas: &mut Schemas) -> Operation {
    let summary = "Returns this OpenAPI document.";
    let schema = json!({
        "type": "object",
        "description": "A document of OpenAPI 3.1.",
        "additionalProperties": true,
    });
    let answer = OpenApiResponse::new(200, "A document of OpenAPI 3.1.", &[])
        .with_json(schemas.add("OpenApiDocument", schema));
    Operation::new("openapi", summary, "").with_answer(answer)
}
