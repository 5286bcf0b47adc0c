//! What happens in a test: the past is written, the command is carried out, and what is new is read.

use futures_util::TryStreamExt as _;
use serde_json::Value;

use super::outcome::Then;
use crate::{
    command::{
        CommandBus, CommandContext, CommandError, CommandOutcome, Handle, HandlerError,
        UntypedDecision, handle_command,
    },
    event::{Event, EventCandidate, Metadata, RecordedEvent, Subject, Upcasters},
    store::{EventStore as _, ReadOptions, memory::MemoryStore},
};

/// An event of the past.
pub(super) struct Past {
    subject: Option<Subject>,
    push: Push,
}

type Push = Box<dyn FnOnce(&mut UntypedDecision) -> Result<(), HandlerError> + Send>;

impl std::fmt::Debug for Past {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Past").field(&self.subject).finish()
    }
}

impl Past {
    pub(super) fn of<E: Event>(subject: Option<Subject>, event: E) -> Self {
        let push: Push = Box::new(move |decided| decided.push(&event));
        Self { subject, push }
    }
}

/// The store of a test and the subject of its command.
#[derive(Debug)]
pub(super) struct History {
    store: MemoryStore,
    subject: Subject,
    upcasters: Upcasters,
}

/// What cannot be played.
pub(super) type Impossible = Box<dyn std::error::Error + Send + Sync>;

impl History {
    pub(super) const fn new(store: MemoryStore, subject: Subject, upcasters: Upcasters) -> Self {
        Self {
            store,
            subject,
            upcasters,
        }
    }

    /// Plays a test on a thread and a runtime of its own: the test itself may be asynchronous.
    pub(super) fn play<C: Handle>(
        self,
        past: Vec<Past>,
        bus: CommandBus,
        command: C,
        context: CommandContext,
    ) -> Result<Then, Impossible> {
        let playing = async {
            let before = self.write(past).await?;
            let result = handle_command(&bus, &command, &context, None).await;
            self.then(before, result).await
        };
        let play = || {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            runtime.enable_time().build()?.block_on(playing)
        };
        std::thread::scope(|scope| {
            let played = scope.spawn(play).join();
            played.unwrap_or_else(|_| Err("the handler panicked: see above".into()))
        })
    }

    /// Writes the past; says how many events it has.
    pub(super) async fn write(&self, past: Vec<Past>) -> Result<usize, Impossible> {
        let mut candidates = Vec::new();
        for Past { subject, push } in past {
            let subject = subject.unwrap_or_else(|| self.subject.clone());
            let mut decided = UntypedDecision::on(subject, Metadata::default());
            push(&mut decided)?;
            let (events, _) = decided.into_parts();
            candidates.extend(events.into_iter().map(|event| EventCandidate {
                source: "test".into(),
                subject: event.subject,
                event_type: event.event_type,
                data: event.data,
                trace: None,
            }));
        }
        if self.subject == Subject::root()
            && let Some(event) = candidates
                .iter()
                .find(|event| event.subject == self.subject)
        {
            let message = format!(
                "{} does not say its subject: give it with `event_on(\"/…\", …)`",
                event.event_type
            );
            return Err(message.into());
        }
        let count = candidates.len();
        if count > 0 {
            self.store.append(candidates, vec![]).await?;
        }
        Ok(count)
    }

    async fn then(
        self,
        before: usize,
        result: Result<CommandOutcome, CommandError>,
    ) -> Result<Then, Impossible> {
        let events = self.store.read(Subject::root(), ReadOptions::recursive());
        let events: Vec<RecordedEvent> = events.try_collect().await?;
        let new = events.iter().skip(before).map(described);
        let new = new.collect::<Result<_, _>>()?;
        Ok(Then::new(self.subject, self.upcasters, events, new, result))
    }
}

/// An event as a failed test shows it.
pub(super) fn described(event: &RecordedEvent) -> Result<Value, Impossible> {
    Ok(shown(
        &event.subject,
        event.event_type.as_str(),
        event.raw_payload()?.get(),
    )?)
}

/// Subject, type and payload of an event.
pub(super) fn shown(
    subject: &Subject,
    event_type: &str,
    payload: &str,
) -> Result<Value, serde_json::Error> {
    let payload: Value = serde_json::from_str(payload)?;
    Ok(serde_json::json!({"subject": subject, "type": event_type, "payload": payload}))
}
