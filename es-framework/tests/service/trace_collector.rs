//! A collector of traces that stores every span it receives over OTLP.

use std::sync::{Arc, Mutex};

use axum::{Router, body::Bytes, extract::State, http::HeaderMap, routing::post};
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value},
    trace::v1::Span,
};
use prost::Message as _;

#[derive(Clone, Default)]
pub(crate) struct TraceCollector {
    spans: Arc<Mutex<Vec<ExportedSpan>>>,
    pub(crate) url: String,
}

/// A span as it was exported, under the name of the service that exported it.
#[derive(Clone, Debug)]
pub(crate) struct ExportedSpan {
    pub(crate) service: String,
    pub(crate) span: Span,
}

impl TraceCollector {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let collector = Self {
            spans: Arc::default(),
            url: format!("http://{}", listener.local_addr().unwrap()),
        };
        let router = Router::new()
            .route("/v1/traces", post(take))
            .with_state(collector.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        collector
    }

    /// The spans of a trace.
    pub(crate) fn trace(&self, id: &str) -> Vec<ExportedSpan> {
        let spans = self.spans.lock().unwrap();
        let of_trace = spans.iter().filter(|one| hex(&one.span.trace_id) == id);
        of_trace.cloned().collect()
    }

    pub(crate) fn count(&self) -> usize {
        self.spans.lock().unwrap().len()
    }
}

impl ExportedSpan {
    pub(crate) fn id(&self) -> String {
        hex(&self.span.span_id)
    }

    pub(crate) fn parent(&self) -> String {
        hex(&self.span.parent_span_id)
    }

    pub(crate) fn attribute(&self, key: &str) -> Option<String> {
        text(&self.span.attributes, key)
    }
}

async fn take(State(collector): State<TraceCollector>, headers: HeaderMap, body: Bytes) {
    assert_eq!(headers["content-type"], "application/x-protobuf");
    let request = ExportTraceServiceRequest::decode(body).unwrap();
    for resource in request.resource_spans {
        let attributes = resource.resource.unwrap_or_default().attributes;
        let service = text(&attributes, "service.name").unwrap_or_default();
        for span in resource.scope_spans.into_iter().flat_map(|one| one.spans) {
            let service = service.clone();
            let mut spans = collector.spans.lock().unwrap();
            spans.push(ExportedSpan { service, span });
        }
    }
}

fn text(attributes: &[KeyValue], key: &str) -> Option<String> {
    let attribute = attributes.iter().find(|one| one.key == key)?;
    match attribute.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text.clone()),
        Value::IntValue(number) => Some(number.to_string()),
        other => panic!("{key} is {other:?}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
