//! Sends spans of this process to a collector. The W3C trace context of requests and events connects
//! them with the spans of other processes.

use std::{
    sync::OnceLock,
    time::{Duration, SystemTime},
};

use opentelemetry::{
    Context, KeyValue,
    trace::{
        Span as _, SpanContext, SpanId, SpanKind, TraceContextExt as _, TraceFlags, TraceId,
        TraceState, Tracer as _, TracerProvider as _,
    },
};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::{
    Resource,
    trace::{SdkTracer, SdkTracerProvider},
};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::{Layer as _, filter::LevelFilter};

use super::TelemetryLayer;
use es_event::{Error, RecordedEvent, Result, TraceContext};

/// The time that the collector has for one export, and that the end of the program waits for it.
const EXPORT_TIME: Duration = Duration::from_secs(5);

/// Creates spans that started in the past.
static TRACER: OnceLock<SdkTracer> = OnceLock::new();

/// Sends spans to a collector, in batches and from a separate thread.
#[derive(Debug)]
pub(super) struct TraceExporter(SdkTracerProvider);

impl TraceExporter {
    pub(super) fn new(application: &'static str, endpoint: &str) -> Result<Self> {
        let is_http = ["http://", "https://"]
            .iter()
            .any(|scheme| endpoint.starts_with(scheme));
        if !is_http {
            let message = "OTEL_EXPORTER_OTLP_ENDPOINT is not a URL such as http://localhost:4318";
            return Err(Error::new(message));
        }
        let _ = rustls::crypto::ring::default_provider().install_default();
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')))
            .with_timeout(EXPORT_TIME)
            .build()
            .map_err(|error| Error::because("OTEL_EXPORTER_OTLP_ENDPOINT cannot be used", error))?;
        let resource = Resource::builder().with_service_name(application).build();
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource)
            .build();
        let _ = TRACER.set(provider.tracer(application));
        Ok(Self(provider))
    }

    pub(super) fn shut_down(self) {
        if let Err(error) = self.0.shutdown_with_timeout(EXPORT_TIME) {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

/// Creates the layer that hands spans to the exporter.
pub(super) fn layer(exporter: &TraceExporter, application: &'static str) -> TelemetryLayer {
    tracing_opentelemetry::layer()
        .with_tracer(exporter.0.tracer(application))
        .with_location(false)
        .with_threads(false)
        .with_tracked_inactivity(false)
        .with_filter(LevelFilter::INFO)
        .boxed()
}

/// Makes the trace of a request or an event the parent of a span.
pub fn continue_trace(span: &Span, trace: &TraceContext) {
    if !span.is_disabled()
        && let Some(parent) = span_context(trace)
    {
        // Fails only where no traces are collected.
        let _ = span.set_parent(Context::new().with_remote_span_context(parent));
    }
}

/// Returns the trace context of a span for other processes, or `None` if traces are off.
pub fn trace_of(span: &Span) -> Option<TraceContext> {
    if span.is_disabled() {
        return None;
    }
    let context = span.context();
    let current = context.span();
    let ids = current.span_context();
    if !ids.is_valid() {
        return None;
    }
    let flags = ids.trace_flags().to_u8();
    let parent = format!("00-{}-{}-{flags:02x}", ids.trace_id(), ids.span_id());
    let header = ids.trace_state().header();
    let state = Some(header.as_str()).filter(|state| !state.is_empty());
    let trace = TraceContext::new(Some(&parent), state);
    trace
        .or_else(|_| TraceContext::new(Some(&parent), None))
        .ok()
        .flatten()
}

/// Records one span for each event that has a trace: from `begin` until now, a subscriber handled it.
pub fn record_handling<'a>(
    span_name: &str,
    events: impl IntoIterator<Item = &'a RecordedEvent>,
    begin: SystemTime,
) {
    let Some(tracer) = TRACER.get() else { return };
    for event in events {
        let Some(parent) = event.trace.as_ref().and_then(span_context) else {
            continue;
        };
        let parent = Context::new().with_remote_span_context(parent);
        let attributes = [
            KeyValue::new("event.id", event.id.to_string()),
            KeyValue::new("event.type", event.event_type.to_string()),
            KeyValue::new("subject", event.subject.to_string()),
        ];
        let span = tracer
            .span_builder(span_name.to_owned())
            .with_kind(SpanKind::Consumer)
            .with_start_time(begin)
            .with_attributes(attributes);
        span.start_with_context(tracer, &parent).end();
    }
}

fn span_context(trace: &TraceContext) -> Option<SpanContext> {
    let mut parts = trace.parent().split('-').skip(1);
    let id = TraceId::from_hex(parts.next()?).ok()?;
    let span = SpanId::from_hex(parts.next()?).ok()?;
    let bits = u8::from_str_radix(parts.next()?, 16).ok()?;
    let parsed = trace.state().and_then(|state| state.parse().ok());
    let state: TraceState = parsed.unwrap_or_default();
    let flags = TraceFlags::new(bits) & TraceFlags::SAMPLED;
    Some(SpanContext::new(id, span, flags, true, state))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trace_of_an_event_is_that_of_its_parent() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let trace = TraceContext::new(Some(parent), Some("a=b"))
            .unwrap()
            .unwrap();
        let span = span_context(&trace).unwrap();
        assert_eq!(span.trace_id().to_string(), &parent[3..35]);
        assert_eq!(span.span_id().to_string(), &parent[36..52]);
        assert!(span.is_sampled() && span.is_remote());
        assert_eq!(span.trace_state().header(), "a=b");
    }
}
