//! Reads listings of subjects or event types: one JSON object per line.

use std::{borrow::Cow, sync::Arc};

use futures_util::{
    StreamExt as _, TryStreamExt as _,
    stream::{self, BoxStream},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

use super::{
    api_version::DataRoute, detected_version::ApiVersion, event_reader::encode_request_body,
    http_client::StoreHttpClient, line_reader::LineReader, refusal::store_error,
};
use es_event::StreamFailure;
use es_store::StoreError;

/// A request for rows of one kind.
pub(super) struct RowsRequest {
    pub(super) version: ApiVersion,
    pub(super) route: &'static str,
    /// The body of the request, if it has one.
    pub(super) body: Option<Value>,
    pub(super) kind: &'static str,
}

/// A line of either version, or a response of version 2 that is one line.
#[derive(Deserialize)]
pub(super) struct RowLine<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
    /// The payload of version 2.
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

impl RowLine<'_> {
    pub(super) fn kind(&self) -> &str {
        &self.r#type
    }

    /// Parses the payload.
    pub(super) fn parse_payload<P: DeserializeOwned>(&self) -> serde_json::Result<P> {
        let payload = self.data.or(self.payload).unwrap_or(RawValue::NULL);
        serde_json::from_str(payload.get())
    }

    /// Parses the payload of an error of version 2.
    pub(super) fn parse_stream_failure(&self) -> serde_json::Result<StreamFailure> {
        self.parse_payload()
    }
}

/// The payload of an error line of version 1.
#[derive(Deserialize)]
struct ErrorPayload {
    error: String,
}

/// Reads the rows of one response.
struct ListingReader {
    http_client: Arc<StoreHttpClient>,
    lines: LineReader,
    version: ApiVersion,
    kind: &'static str,
}

/// Reads rows and converts each of them. A conversion error ends the stream.
pub(super) fn read_rows<P, T>(
    http_client: Arc<StoreHttpClient>,
    request: impl FnOnce(ApiVersion) -> RowsRequest + Send + 'static,
    convert: impl Fn(P) -> Result<T, String> + Send + 'static,
) -> BoxStream<'static, Result<T, StoreError>>
where
    P: DeserializeOwned + Send + 'static,
    T: Send + 'static,
{
    let start = async {
        let request = request(http_client.version().await?);
        Ok::<_, StoreError>((send_request(http_client, request).await?, convert))
    };
    let elements = |start| stream::try_unfold(start, |(rows, convert)| read_next(rows, convert));
    stream::once(start).map_ok(elements).try_flatten().boxed()
}

/// Reads the next element and returns it with the state for the one after it.
async fn read_next<P, T, C>(
    mut rows: ListingReader,
    convert: C,
) -> Result<Option<(T, (ListingReader, C))>, StoreError>
where
    P: DeserializeOwned,
    C: Fn(P) -> Result<T, String>,
{
    let Some(payload) = rows.next_payload::<P>().await? else {
        return Ok(None);
    };
    let converted = convert(payload);
    let element = converted.map_err(|reason| rows.http_client.corrupt(reason))?;
    Ok(Some((element, (rows, convert))))
}

async fn send_request(
    http_client: Arc<StoreHttpClient>,
    rows: RowsRequest,
) -> Result<ListingReader, StoreError> {
    let silence = http_client.settings.read_silence;
    let mut request = http_client.authorized(rows.version, DataRoute::Read(rows.route));
    if let Some(body) = &rows.body {
        request = StoreHttpClient::with_json(request, encode_request_body(body)?);
    }
    let response = http_client.send_expecting_ok(request, silence).await?;
    Ok(ListingReader {
        http_client,
        lines: LineReader::new(response, silence),
        version: rows.version,
        kind: rows.kind,
    })
}

impl ListingReader {
    /// Returns the next payload, or `None` at the end of the response.
    async fn next_payload<P: DeserializeOwned>(&mut self) -> Result<Option<P>, StoreError> {
        while let Some(line) = self.lines.next_line(&self.http_client).await? {
            let row: RowLine<'_> = self.check_parsed(serde_json::from_slice(&line))?;
            match row.kind() {
                "heartbeat" => {}
                "end" if self.version == ApiVersion::V2 => return Ok(None),
                "error" if self.version == ApiVersion::V2 => {
                    let failure = self.check_parsed(row.parse_stream_failure())?;
                    return Err(store_error(&self.http_client, &failure));
                }
                "error" => {
                    let ErrorPayload { error } = self.check_parsed(row.parse_payload())?;
                    return Err(self
                        .http_client
                        .unavailable(self.http_client.printable(&error)));
                }
                kind if kind == self.kind => {
                    return Ok(Some(self.check_parsed(row.parse_payload())?));
                }
                other => {
                    let reason = format!("a line of the stream has the unknown type {other:?}");
                    return Err(self
                        .http_client
                        .corrupt(self.http_client.printable(&reason)));
                }
            }
        }
        self.http_client.check_end(self.version)?;
        Ok(None)
    }

    fn check_parsed<T>(&self, parsed: serde_json::Result<T>) -> Result<T, StoreError> {
        parsed.map_err(|error| {
            let reason = format!("a line of the stream is malformed: {error}");
            self.http_client
                .corrupt(self.http_client.printable(&reason))
        })
    }
}
