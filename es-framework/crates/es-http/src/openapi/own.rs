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

/// Returns the `GET` operations of the framework that need no role, each with its path.
pub(super) fn framework_operations(schemas: &mut Schemas) -> [(&'static str, Operation); 6] {
    let health = [
        (
            actuator_paths::HEALTH,
            "health",
            "Reports the health of the service and its components.",
        ),
        (
            actuator_paths::LIVENESS,
            "liveness",
            "Reports if a restart of the service would help.",
        ),
        (
            actuator_paths::READINESS,
            "readiness",
            "Reports if the service can handle commands and queries now.",
        ),
    ];
    let [health, liveness, readiness] =
        health.map(|(path, id, summary)| (path, health_operation(id, summary, schemas)));
    [
        health,
        liveness,
        readiness,
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

fn health_operation(id: &str, summary: &str, schemas: &mut Schemas) -> Operation {
    let report = health::report_schema(schemas.response_generator_mut()).to_value();
    let answer = |status, description| {
        OpenApiResponse::new(status, description, &[]).with_json(report.clone())
    };
    Operation::new(id, summary, "")
        .with_public(true)
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
