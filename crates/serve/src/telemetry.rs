//! Traces by OpenTelemetry: parts of requests and jobs, given to a collector by OTLP (HTTP, protobuf) if one is named.
//!
//! A request goes on with the trace of its header `traceparent`, and a job with that of the request that asked for it, at whatever node
//! it runs. No part names a tenant, a token, a hash or a file. Parts wait in a queue with an end, and a thread of its own sends them:
//! a collector that is away or slow costs parts, and nothing else.

use std::time::Duration;

use opentelemetry::trace::{
    Span as _, SpanContext, SpanId, SpanKind, Status, TraceContextExt, TraceFlags, TraceId, TraceState,
    Tracer, TracerProvider,
};
use opentelemetry::{Context, KeyValue, Value};
use opentelemetry_otlp::{Protocol, WithExportConfig};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider, Span, SpanData, SpanExporter};
use opentelemetry_sdk::{Resource, trace::BatchSpanProcessor};

use crate::error::ServeError;

/// Variables that name the collector, as OpenTelemetry has them.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// How long the end of the service waits for the collector.
const FAREWELL: Duration = Duration::from_secs(3);

/// Where parts of traces go, if anywhere.
pub(crate) struct Telemetry(Option<(SdkTracerProvider, SdkTracer)>);

impl Telemetry {
    /// Opens the way to a collector: the one of this address, or that of the environment. Not within a task: it waits.
    pub(crate) fn open(address: Option<&str>) -> Result<Self, ServeError> {
        let named = ENDPOINTS.iter().any(|name| std::env::var(name).is_ok_and(|value| !value.is_empty()));
        if address.is_none() && !named {
            return Ok(Self(None));
        }
        // The first choice stays; all are the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder =
            opentelemetry_otlp::SpanExporter::builder().with_http().with_protocol(Protocol::HttpBinary);
        if let Some(address) = address {
            builder = builder.with_endpoint(format!("{}/v1/traces", address.trim_end_matches('/')));
        }
        // What it says may repeat an address, and a password in that.
        let wrong =
            |_| ServeError::Start("the collector's address is none; give --otlp http://HOST:PORT".into());
        let exporter = Noted(builder.build().map_err(wrong)?);
        let service = Resource::builder_empty()
            .with_service_name(std::env::var("OTEL_SERVICE_NAME").unwrap_or_else(|_| "ringmill-serve".into()))
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
        let provider = SdkTracerProvider::builder()
            .with_span_processor(BatchSpanProcessor::builder(exporter).build())
            .with_resource(service.build())
            .build();
        let tracer = provider.tracer("ringmill-serve");
        Ok(Self(Some((provider, tracer))))
    }

    /// Begins a part of the trace of `parent`, or of a new one.
    pub(crate) fn begin(&self, name: &str, kind: SpanKind, parent: Option<&SpanContext>) -> Part {
        let span = self.0.as_ref().map(|(_, tracer)| {
            let context = Context::new();
            let context =
                parent.map_or(context.clone(), |parent| context.with_remote_span_context(parent.clone()));
            tracer.build_with_context(tracer.span_builder(name.to_owned()).with_kind(kind), &context)
        });
        Part { span, parent: parent.cloned() }
    }

    /// Sends what waits, as far as the collector takes it in time. Not within a task: it waits.
    pub(crate) fn end(&self) {
        if let Some((provider, _)) = &self.0 {
            // What was lost is in the log.
            let _ = provider.shutdown_with_timeout(FAREWELL);
        }
    }
}

/// A part of a trace; it ends with this. Where nothing is exported it hands its parent on.
pub(crate) struct Part {
    span: Option<Span>,
    parent: Option<SpanContext>,
}

impl Part {
    /// Notes a figure or a word of this program.
    pub(crate) fn set(&mut self, name: &'static str, value: impl Into<Value>) {
        if let Some(span) = &mut self.span {
            span.set_attribute(KeyValue::new(name, value));
        }
    }

    /// Says that it failed.
    pub(crate) fn fail(&mut self, code: &str) {
        self.set("error.type", code.to_owned());
        if let Some(span) = &mut self.span {
            span.set_status(Status::error(""));
        }
    }

    /// The parent of what follows from it.
    pub(crate) fn context(&self) -> Option<SpanContext> {
        match &self.span {
            Some(span) => Some(span.span_context().clone()),
            None => self.parent.clone(),
        }
    }

    /// The trace that it is of, for the log.
    pub(crate) fn trace(&self) -> Option<String> {
        self.context().map(|context| context.trace_id().to_string())
    }
}

/// The place in a trace that a text names, as the header `traceparent` of W3C does.
pub(crate) fn parse(text: &str) -> Option<SpanContext> {
    let mut parts = text.split('-');
    let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let hex = |text: &str, size: usize| {
        text.len() == size && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    let whole = hex(version, 2) && hex(trace, 32) && hex(parent, 16) && hex(flags, 2);
    // Later versions may add parts; 00 has none, and ff is none.
    let known = version != "ff" && (version != "00" || parts.next().is_none());
    if !(whole && known) {
        return None;
    }
    let (trace, parent) = (TraceId::from_hex(trace).ok()?, SpanId::from_hex(parent).ok()?);
    // Of the flags one is known.
    let flags = TraceFlags::new(u8::from_str_radix(flags, 16).ok()? & 1);
    let context = SpanContext::new(trace, parent, flags, true, TraceState::default());
    context.is_valid().then_some(context)
}

/// What [`parse`] reads.
pub(crate) fn written(context: &SpanContext) -> String {
    format!("00-{}-{}-{:02x}", context.trace_id(), context.span_id(), context.trace_flags().to_u8())
}

/// An exporter whose failures are in the log, without what they say: it may repeat an address.
#[derive(Debug)]
struct Noted(opentelemetry_otlp::SpanExporter);

impl SpanExporter for Noted {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len();
        let made = self.0.export(batch).await;
        if made.is_err() {
            tracing::warn!(count, "parts of traces were lost: the collector did not take them");
        }
        made
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.0.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the recommendation, and what it says is to be ignored.
    #[test]
    fn traces_are_those_of_the_recommendation() {
        let right = "4bf92f3577b34da6a3ce929d0e0e4736";
        for (text, again) in [
            (
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            ),
            (
                "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-fe-more",
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
            ),
        ] {
            let context = parse(text).unwrap();
            assert_eq!((context.trace_id().to_string(), written(&context)), (right.into(), again.into()));
        }
        for wrong in [
            "",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
        ] {
            assert!(parse(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn where_nothing_is_exported_the_parent_is_handed_on() {
        let parent = parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").unwrap();
        let none = Telemetry(None);
        assert_eq!(none.begin("part", SpanKind::Server, Some(&parent)).context(), Some(parent));
        assert_eq!(none.begin("part", SpanKind::Server, None).trace(), None);
    }
}
