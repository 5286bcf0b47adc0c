//! A copy that is free is set aside for the first reader who waits for its title.

use std::collections::BTreeSet;

use es_framework::prelude::*;

use super::{
    CopyHeldEvent, CopyPutBackEvent, CopySetAsideEvent, CopyTitle, HoldWithdrawnEvent,
    ReservationEndedEvent, ReservationReadyEvent, TitleReservedEvent,
};
use crate::{
    book::{Book, BookReturnedEvent},
    lending::LendingRules,
};

/// Sets a free copy aside for the first reader who waits for its title.
#[derive(Debug, PartialEq, Command)]
#[command(subject = "/books/{id}", internal)]
pub struct HoldCopyCommand {
    pub id: Uuid,
    pub title: String,
}

/// The open reservations of a title.
#[derive(Debug, PartialEq, State)]
pub struct TitleQueue {
    /// The readers in the order in which they reserved it.
    pub readers: Vec<Uuid>,
    /// The readers who have a copy set aside.
    pub served: BTreeSet<Uuid>,
}

impl TitleQueue {
    /// Returns the reader who waits longest.
    fn next(&self) -> Option<Uuid> {
        let mut waiting = self.readers.iter().copied();
        waiting.find(|reader| !self.served.contains(reader))
    }
}

#[evolve]
impl TitleQueue {
    fn reserved(before: Option<Self>, event: &TitleReservedEvent) -> Self {
        let mut queue = before.unwrap_or(Self {
            readers: Vec::new(),
            served: BTreeSet::new(),
        });
        queue.readers.push(event.reader);
        queue
    }

    fn held(&mut self, event: &CopyHeldEvent) {
        self.served.insert(event.reader);
    }

    fn withdrawn(&mut self, event: &HoldWithdrawnEvent) {
        self.served.remove(&event.reader);
    }

    fn ended(&mut self, event: &ReservationEndedEvent) {
        self.readers.retain(|reader| *reader != event.reader);
        self.served.remove(&event.reader);
    }
}

/// Passes each copy that comes back, or that its reader does not want, to the next reader.
pub struct CopyHolder;

#[reaction(repeats)]
impl CopyHolder {
    fn returned(event: &BookReturnedEvent, copy: &CopyTitle) -> Option<HoldCopyCommand> {
        hold_copy(event.id, copy)
    }

    fn put_back(event: &CopyPutBackEvent, copy: &CopyTitle) -> Option<HoldCopyCommand> {
        hold_copy(event.id, copy)
    }
}

fn hold_copy(id: Uuid, copy: &CopyTitle) -> Option<HoldCopyCommand> {
    let title = copy.title.clone();
    (!title.is_empty()).then_some(HoldCopyCommand { id, title })
}

/// Holds the copy unless somebody was faster, or nobody waits.
#[handler]
fn hold(
    book: &Book,
    #[subject("/titles/{title}")] queue: Option<&TitleQueue>,
    command: HoldCopyCommand,
    lending: &LendingRules,
    clock: &Clock,
) -> Option<(CopyHeldEvent, CopySetAsideEvent, ReservationReadyEvent)> {
    let reader = queue?.next()?;
    if *book != Book::Available {
        return None;
    }
    let HoldCopyCommand { id, title } = command;
    let until = lending.held_until(clock.now());
    let held = CopyHeldEvent {
        title: title.clone(),
        reader,
        copy: id,
        until,
    };
    let ready = ReservationReadyEvent {
        reader,
        title,
        copy: id,
        until,
    };
    Some((held, CopySetAsideEvent { id, reader, until }, ready))
}
