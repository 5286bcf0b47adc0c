//! Streams of anything but events: a JSON object a line, each handed on as it comes.

use std::{borrow::Cow, sync::Arc};

use futures_util::{
    StreamExt as _, TryStreamExt as _,
    stream::{self, BoxStream},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

use super::{connection::Connection, lines::Lines, streams::encode};
use crate::store::StoreError;

/// What is asked, and the kind of line that answers it.
pub(super) struct Question {
    pub(super) route: &'static str,
    pub(super) body: Value,
    pub(super) kind: &'static str,
}

#[derive(Deserialize)]
struct Row<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Failure {
    error: String,
}

/// One answer, and how far it was read.
struct Rows {
    connection: Arc<Connection>,
    lines: Lines,
    kind: &'static str,
}

/// The rows of an answer, each turned into what it stands for. A row for which `convert` has a
/// complaint ends them.
pub(super) fn rows<P, T>(
    connection: Arc<Connection>,
    question: Question,
    convert: impl Fn(P) -> Result<T, String> + Send + 'static,
) -> BoxStream<'static, Result<T, StoreError>>
where
    P: DeserializeOwned + Send + 'static,
    T: Send + 'static,
{
    let begin = async { Ok::<_, StoreError>((begin(connection, question).await?, convert)) };
    let elements = |begun| stream::try_unfold(begun, |(rows, convert)| step(rows, convert));
    stream::once(begin).map_ok(elements).try_flatten().boxed()
}

/// The next element, and what is needed for the one after it.
async fn step<P, T, C>(mut rows: Rows, convert: C) -> Result<Option<(T, (Rows, C))>, StoreError>
where
    P: DeserializeOwned,
    C: Fn(P) -> Result<T, String>,
{
    let Some(payload) = rows.next::<P>().await? else {
        return Ok(None);
    };
    let element = convert(payload);
    let element = element.map_err(|reason| rows.connection.corrupt(reason))?;
    Ok(Some((element, (rows, convert))))
}

async fn begin(connection: Arc<Connection>, question: Question) -> Result<Rows, StoreError> {
    let body = encode(&question.body)?;
    let silence = connection.settings.read_silence;
    let request = Connection::json(connection.post(question.route), body);
    let answer = connection.ask(request, silence).await?;
    Ok(Rows {
        connection,
        lines: Lines::new(answer, silence),
        kind: question.kind,
    })
}

impl Rows {
    /// The next payload, or `None` at the end of the answer.
    async fn next<P: DeserializeOwned>(&mut self) -> Result<Option<P>, StoreError> {
        while let Some(line) = self.lines.next(&self.connection).await? {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let row: Row<'_> = self.parsed(serde_json::from_slice(&line))?;
            let payload = row.payload.unwrap_or(RawValue::NULL).get();
            match &*row.r#type {
                "heartbeat" => {}
                "error" => {
                    let Failure { error } = self.parsed(serde_json::from_str(payload))?;
                    return Err(self.connection.unavailable(self.connection.shown(&error)));
                }
                kind if kind == self.kind => {
                    return Ok(Some(self.parsed(serde_json::from_str(payload))?));
                }
                other => {
                    let reason = format!("a line of the stream has the unknown type {other:?}");
                    return Err(self.connection.corrupt(self.connection.shown(&reason)));
                }
            }
        }
        Ok(None)
    }

    fn parsed<T>(&self, parsed: serde_json::Result<T>) -> Result<T, StoreError> {
        parsed.map_err(|error| {
            let reason = format!("a line of the stream is malformed: {error}");
            self.connection.corrupt(self.connection.shown(&reason))
        })
    }
}
