//! Reads streams of rows that are not events: one JSON object per line.

use std::{borrow::Cow, sync::Arc};

use futures_util::{
    StreamExt as _, TryStreamExt as _,
    stream::{self, BoxStream},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

use super::{connection::ServerConnection, event_reader::encode_json, line_reader::LineReader};
use es_store::StoreError;

/// A request for rows of one kind.
pub(super) struct RowsRequest {
    pub(super) route: &'static str,
    pub(super) body: Value,
    pub(super) kind: &'static str,
}

#[derive(Deserialize)]
struct RowLine<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ErrorPayload {
    error: String,
}

/// Reads the rows of one response.
struct RowReader {
    connection: Arc<ServerConnection>,
    lines: LineReader,
    kind: &'static str,
}

/// Reads rows and converts each of them. A conversion error ends the stream.
pub(super) fn read_rows<P, T>(
    connection: Arc<ServerConnection>,
    request: RowsRequest,
    convert: impl Fn(P) -> Result<T, String> + Send + 'static,
) -> BoxStream<'static, Result<T, StoreError>>
where
    P: DeserializeOwned + Send + 'static,
    T: Send + 'static,
{
    let start = async { Ok::<_, StoreError>((send_request(connection, request).await?, convert)) };
    let elements = |start| stream::try_unfold(start, |(rows, convert)| read_next(rows, convert));
    stream::once(start).map_ok(elements).try_flatten().boxed()
}

/// Reads the next element and returns it with the state for the one after it.
async fn read_next<P, T, C>(
    mut rows: RowReader,
    convert: C,
) -> Result<Option<(T, (RowReader, C))>, StoreError>
where
    P: DeserializeOwned,
    C: Fn(P) -> Result<T, String>,
{
    let Some(payload) = rows.next_payload::<P>().await? else {
        return Ok(None);
    };
    let element = convert(payload);
    let element = element.map_err(|reason| rows.connection.corrupt(reason))?;
    Ok(Some((element, (rows, convert))))
}

async fn send_request(
    connection: Arc<ServerConnection>,
    rows: RowsRequest,
) -> Result<RowReader, StoreError> {
    let body = encode_json(&rows.body)?;
    let silence = connection.settings.read_silence;
    let request = ServerConnection::with_json(connection.authorized_post(rows.route), body);
    let response = connection.send_expecting_ok(request, silence).await?;
    Ok(RowReader {
        connection,
        lines: LineReader::new(response, silence),
        kind: rows.kind,
    })
}

impl RowReader {
    /// Returns the next payload, or `None` at the end of the response.
    async fn next_payload<P: DeserializeOwned>(&mut self) -> Result<Option<P>, StoreError> {
        while let Some(line) = self.lines.next_line(&self.connection).await? {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let row: RowLine<'_> = self.check_parsed(serde_json::from_slice(&line))?;
            let payload = row.payload.unwrap_or(RawValue::NULL).get();
            match &*row.r#type {
                "heartbeat" => {}
                "error" => {
                    let ErrorPayload { error } =
                        self.check_parsed(serde_json::from_str(payload))?;
                    return Err(self
                        .connection
                        .unavailable(self.connection.printable(&error)));
                }
                kind if kind == self.kind => {
                    return Ok(Some(self.check_parsed(serde_json::from_str(payload))?));
                }
                other => {
                    let reason = format!("a line of the stream has the unknown type {other:?}");
                    return Err(self.connection.corrupt(self.connection.printable(&reason)));
                }
            }
        }
        Ok(None)
    }

    fn check_parsed<T>(&self, parsed: serde_json::Result<T>) -> Result<T, StoreError> {
        parsed.map_err(|error| {
            let reason = format!("a line of the stream is malformed: {error}");
            self.connection.corrupt(self.connection.printable(&reason))
        })
    }
}
