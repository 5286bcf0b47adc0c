//! A batch of events taken by one read model: folded in memory, written with the checkpoint.

use std::collections::BTreeSet;

use super::{
    Database, DatabaseError, ProjectionError, Table,
    database::Checkpoint,
    fold::{Changes, Fold, Place, Poison},
};
use crate::event::{EventId, RecordedEvent, Subject, Upcasters};

/// How many events an upcaster may make of one, each of which may make a row.
const VIEWS: i64 = 1_024;

/// What became of a batch.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// The last event whose effects were written.
    pub(super) position: Option<EventId>,
    /// The event that came next and cannot be taken.
    pub(super) refused: Option<Refused>,
}

impl Taken {
    fn tell(&self, reached: impl Fn(EventId)) {
        if let Some(position) = self.position {
            reached(position);
        }
    }
}

/// An event that a read model or a reaction cannot take.
///
/// ```
/// use es_framework::{event::EventId, projection::Refused};
///
/// let (id, subject, reason) = (EventId::FIRST, "/books/42".parse()?, "no title".into());
/// let refused = Refused { id, subject, reason };
/// assert_eq!(refused.to_string(), "it cannot take event 0 on /books/42: no title");
/// # Ok::<_, es_framework::event::InvalidSubject>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it cannot take event {id} on {subject}: {reason}")]
pub struct Refused {
    /// The event's id.
    pub id: EventId,
    /// What it is about.
    pub subject: Subject,
    /// Why it cannot be taken.
    pub reason: String,
}

/// What is done with the events: the read model's table, and how they are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taking<'a> {
    pub(super) database: &'a Database,
    pub(super) table: &'a Table,
    pub(super) upcasters: &'a Upcasters,
    /// The events that an operator has it leave out.
    pub(super) skipped: &'a BTreeSet<EventId>,
}

impl Refused {
    fn at(event: &RecordedEvent, reason: impl ToString) -> Self {
        Self {
            id: event.id,
            subject: event.subject.clone(),
            reason: reason.to_string(),
        }
    }
}

/// Takes a batch at once; where the database refuses that, event by event, to name the one at fault.
/// What was noted of the events beforehand is not noted again. `reached` is told each position that
/// is in the database: also those before a failure, since these events must not be taken twice.
pub(super) async fn take(
    taking: Taking<'_>,
    events: &[RecordedEvent],
    noted: Option<Noted>,
    reached: impl Fn(EventId),
) -> Result<Taken, DatabaseError> {
    let noted = noted.filter(|noted| noted.is_of(events));
    match take_at_once(taking, events, noted).await {
        Err(error) if error.is_refusal() => {}
        taken => return taken.inspect(|taken| taken.tell(&reached)),
    }
    let mut position = None;
    for event in events {
        let alone = std::slice::from_ref(event);
        let taken = match take_at_once(taking, alone, None).await {
            Err(error) if error.is_refusal() => Taken {
                position: None,
                refused: Some(Refused::at(event, error)),
            },
            taken => taken?,
        };
        taken.tell(&reached);
        position = taken.position.or(position);
        if let Some(refused) = taken.refused {
            let refused = Some(refused);
            return Ok(Taken { position, refused });
        }
    }
    let refused = None;
    Ok(Taken { position, refused })
}

async fn take_at_once(
    taking: Taking<'_>,
    events: &[RecordedEvent],
    noted: Option<Noted>,
) -> Result<Taken, DatabaseError> {
    let (mut events, mut noted) = (events, noted);
    let mut refused = None;
    loop {
        let noted = noted.take().unwrap_or_else(|| Noted::all(taking, events));
        let (changes, poison) = fold(taking, noted).await?;
        if let Some(Poison { index, error }) = poison {
            let (before, from) = events.split_at_checked(index).unwrap_or((events, &[]));
            refused = from.first().map(|event| Refused::at(event, error));
            events = before;
        }
        // What was noted is lost where the poison showed up late: the events before it are folded
        // once more.
        let Some(changes) = changes else { continue };
        let last = events.last().map(Checkpoint::at);
        if let Some(last) = last {
            taking.database.write(taking.table, changes, last).await?;
        }
        let position = last.map(|last| last.id);
        return Ok(Taken { position, refused });
    }
}

/// The changes of all events before the one that cannot be taken, if they are known.
async fn fold(
    taking: Taking<'_>,
    noted: Noted,
) -> Result<(Option<Changes>, Option<Poison>), DatabaseError> {
    let Taking {
        database, table, ..
    } = taking;
    let Noted {
        mut fold, poison, ..
    } = noted;
    for row in database.load(table, fold.wanted()).await? {
        // A row that its own read model cannot read is no event's fault: it was written by another
        // release, and rebuilding helps.
        fold.load(row).map_err(|error| DatabaseError::Row {
            table: table.model.name,
            reason: error.to_string(),
        })?;
    }
    Ok(match fold.finish() {
        Ok(changes) => (Some(changes), poison),
        Err(earlier) => (None, Some(earlier)),
    })
}

/// Events that a fold has taken note of. That needs nothing of the table, so that it can be done while
/// the events before them are still being written.
pub(super) struct Noted {
    fold: Box<dyn Fold>,
    poison: Option<Poison>,
    first: Option<EventId>,
    count: usize,
}

impl Noted {
    pub(super) fn new(table: &Table) -> Self {
        Self {
            fold: (table.model.fold)(),
            poison: None,
            first: None,
            count: 0,
        }
    }

    fn all(taking: Taking<'_>, events: &[RecordedEvent]) -> Self {
        let mut noted = Self::new(taking.table);
        for event in events {
            noted.add(taking, event);
        }
        noted
    }

    /// Adds the next event. What comes after one that cannot be taken does not matter.
    pub(super) fn add(&mut self, taking: Taking<'_>, event: &RecordedEvent) {
        let index = self.count;
        self.first.get_or_insert(event.id);
        self.count = self.count.saturating_add(1);
        if self.poison.is_some() || taking.skipped.contains(&event.id) {
            return;
        }
        if let Err(error) = take_event(&mut *self.fold, taking.upcasters, index, event) {
            self.poison = Some(Poison { index, error });
        }
    }

    /// Whether these are the events.
    fn is_of(&self, events: &[RecordedEvent]) -> bool {
        self.count == events.len() && self.first == events.first().map(|event| event.id)
    }
}

fn take_event(
    fold: &mut dyn Fold,
    upcasters: &Upcasters,
    index: usize,
    event: &RecordedEvent,
) -> Result<(), ProjectionError> {
    let mut view: Place = 0;
    upcasters.read(event, |read| {
        let place = place(event.id, view);
        view = view.saturating_add(1);
        fold.take(index, place, &read)
    })
}

/// Ordered as the events are.
fn place(id: EventId, view: Place) -> Place {
    let id = i64::try_from(id.get()).unwrap_or(i64::MAX);
    id.saturating_mul(VIEWS).saturating_add(view)
}
