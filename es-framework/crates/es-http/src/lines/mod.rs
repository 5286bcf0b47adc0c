//! Many commands in one request: each line of the body is a command, and each line of the response its answer.
//!
//! Lines are read, carried out and answered at the same time. A line is read when there is room for its command, so a
//! client that does not read the answers is not read either.

mod body_line_reader;
mod line_answer;

use std::{
    convert::Infallible,
    future::{Future, poll_fn, ready},
    sync::{Arc, OnceLock},
    task::Poll,
};

use axum::{
    body::{Body, Bytes},
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use bytes::BytesMut;
use es_command::command::{
    CommandContext, CommandDescriptor, CommandOrder, CommandOutcome, CommandRequest, split_member,
};
use es_event::Caller;
use futures_util::{FutureExt as _, StreamExt as _, future::BoxFuture, stream};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tracing::{Instrument as _, Span};

use super::{
    HttpContext, Problem,
    auth::{AccessDenied, CountedClient},
    limits::ConcurrencyLimit,
    media_type::{NDJSON, check_content_encoding},
    occurred_at,
    problem::kind,
};
use body_line_reader::BodyLineReader;
pub(super) use line_answer::{LineAnswer, outcome_status};

/// The number of commands of a request that are carried out at once.
const WINDOW: usize = 64;

/// The commands of a request, without their values.
pub(super) struct CommandLines {
    pub(super) http: Arc<HttpContext>,
    pub(super) command: CommandDescriptor,
    /// The path parameters of every command.
    pub(super) path_parameters: Vec<(&'static str, String)>,
    /// The context of every command. Its idempotency key is that of the request.
    pub(super) context: CommandContext,
    /// True if the first refused command ends the work.
    pub(super) is_strict: bool,
    pub(super) limit: ConcurrencyLimit,
    /// The client against whose rate each line counts.
    pub(super) client: Option<CountedClient>,
}

/// Starts the commands of a request in the order of their lines.
struct CommandStarter {
    reader: BodyLineReader,
    lines: Arc<CommandLines>,
    order: CommandOrder,
    /// The memory for the lines that are carried out, in bytes.
    memory: Arc<Semaphore>,
    /// The number of the refused line that ended the work.
    stopped_by: Arc<OnceLock<u64>>,
    /// The span of the request, which the traces of its commands continue.
    span: Span,
    /// Counts as an open request with many commands.
    _stream: OwnedSemaphorePermit,
}

/// Returns whether the caller wants the first refused command to end the work: `Prefer: handling=strict` (RFC 7240,
/// section 4.4).
pub(super) fn is_strict(headers: &HeaderMap) -> bool {
    let values = headers.get_all(HeaderName::from_static("prefer")).iter();
    let texts = values.filter_map(|value| value.to_str().ok());
    let preferences = texts.flat_map(|list| list.split([',', ';']));
    let mut pairs = preferences.filter_map(|preference| preference.split_once('='));
    pairs.any(|(name, value)| {
        let value = value.trim().trim_matches('"');
        name.trim().eq_ignore_ascii_case("handling") && value.eq_ignore_ascii_case("strict")
    })
}

impl CommandLines {
    /// Responds with the answers to the commands in the body, the first ones before the last ones are received.
    pub(super) fn respond(self, request: Request) -> Result<Response, Problem> {
        check_content_encoding(request.headers())?;
        // The rate of anonymous callers counts requests.
        if self.context.caller == Caller::Anonymous {
            return Err(AccessDenied::NoCredential.into());
        }
        // The version of a subject fits one command, not many.
        if self.context.expected.is_some() {
            let detail = "is for one command: send it without other commands";
            return Err(Problem::invalid_header("If-Match", detail));
        }
        let limits = self.http.limits;
        let shutdown = self.http.live.shutdown_token().cancelled_owned();
        // Strictly one after the other: behind a refused line, nothing has begun.
        let window = if self.is_strict { 1 } else { WINDOW };
        let starter = CommandStarter {
            reader: BodyLineReader::new(request.into_body(), limits),
            order: CommandOrder::default(),
            memory: Arc::new(Semaphore::new(memory_permits(limits.body_size))),
            stopped_by: Arc::default(),
            span: Span::current(),
            _stream: self.limit.try_acquire_stream()?,
            lines: Arc::new(self),
        };
        let started = stream::unfold(starter, CommandStarter::start_next).take_until(shutdown);
        let answers = started.buffered(window).ready_chunks(WINDOW);
        let chunks = answers.map(|lines| Ok::<_, Infallible>(join(&lines)));
        let head = [
            (header::CONTENT_TYPE, HeaderValue::from_static(NDJSON)),
            (
                HeaderName::from_static("x-accel-buffering"),
                HeaderValue::from_static("no"),
            ),
        ];
        Ok((head, Body::from_stream(chunks)).into_response())
    }

    /// Carries out the command of a line. The time of a request holds for each line.
    async fn execute(
        &self,
        number: u64,
        text: &[u8],
        order: &CommandOrder,
    ) -> Result<CommandOutcome, Problem> {
        let mut context = self.context.clone();
        let key = context.idempotency_key.map(|key| key.for_line(number));
        context.idempotency_key = match context.caller.name() {
            Some(name) => key.map(|key| key.scoped_to_caller(name)),
            None => key,
        };
        let resources = &self.http.command_resources;
        let split = split_member(text, occurred_at::MEMBER);
        if let Some((_, values)) = &split {
            occurred_at::read_member(&mut context, values, &self.command, resources)?;
        }
        let parameters = self.path_parameters.iter();
        let path_parameters: Vec<_> = parameters
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let request = CommandRequest {
            body: split.as_ref().map_or(text, |(rest, _)| rest.as_slice()),
            path_parameters: &path_parameters,
            context: &context,
        };
        let execution = self.command.execute_in_order(resources, request, order);
        let time = self.http.limits.request_time;
        let ended = timeout(time, execution).await;
        Ok(ended.map_err(|_| Problem::ended_midway(time))??)
    }
}

impl CommandStarter {
    /// Reads the next line and begins its command. The future that it returns is the answer.
    async fn start_next(mut self) -> Option<(BoxFuture<'static, Bytes>, Self)> {
        let line = self.reader.next_line().await?;
        let number = line.number;
        if let Some(refused) = self.stopped_by.get() {
            self.reader.stop();
            let answer = LineAnswer::new(number, Err(not_executed(number, *refused)));
            return Some((ready(answer.to_line()).boxed(), self));
        }
        let text = match line.text {
            Ok(text) => text,
            Err(problem) => {
                let answer = LineAnswer::new(number, Err(problem));
                return Some((ready(answer.to_line()).boxed(), self));
            }
        };
        if let Some(client) = &self.lines.client {
            client.wait_for_admission().await;
        }
        // In the order of the lines, so that a command with permits never waits for one without.
        let size = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let memory = Arc::clone(&self.memory).acquire_many_owned(size).await;
        let permits = (memory, self.lines.limit.acquire_line().await);
        let (lines, order) = (Arc::clone(&self.lines), self.order.clone());
        let stopped_by = Arc::clone(&self.stopped_by);
        let execution = async move {
            let answer = LineAnswer::new(number, lines.execute(number, &text, &order).await);
            drop(permits);
            if lines.is_strict && answer.is_refused() {
                let _ = stopped_by.set(number);
            }
            answer.to_line()
        };
        let execution = execution.instrument(self.span.clone());
        Some((begin(execution).await, self))
    }
}

/// Polls a command for the first time, in which it takes its place in the order of the commands.
async fn begin(
    execution: impl Future<Output = Bytes> + Send + 'static,
) -> BoxFuture<'static, Bytes> {
    let mut execution = execution.boxed();
    match poll_fn(|task| Poll::Ready(execution.as_mut().poll(task))).await {
        Poll::Ready(answer) => ready(answer).boxed(),
        Poll::Pending => execution,
    }
}

fn memory_permits(bytes: usize) -> usize {
    let most = usize::try_from(u32::MAX).unwrap_or(usize::MAX);
    bytes.min(most).min(Semaphore::MAX_PERMITS)
}

fn not_executed(line: u64, refused: u64) -> Problem {
    let detail = format!(
        "line {refused} was refused, and the request asks to stop there: line {line} and those behind it were not carried out"
    );
    Problem::new(kind::NOT_EXECUTED, detail)
}

fn join(lines: &[Bytes]) -> Bytes {
    let mut chunk = BytesMut::with_capacity(lines.iter().map(Bytes::len).sum());
    for line in lines {
        chunk.extend_from_slice(line);
    }
    chunk.freeze()
}
