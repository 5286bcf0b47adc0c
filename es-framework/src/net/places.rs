//! The connections that are open. Where there is no place for another one, the one that has been
//! waiting for its client the longest makes room, so that whoever only holds connections keeps
//! nobody out.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, timeout},
};

/// A client that has sent a whole request before is left alone for so long, for it is likely to send
/// another one.
const KEPT_ALIVE: Duration = Duration::from_secs(1);
/// How often to look for a place again while nobody goes.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// All places.
#[derive(Debug)]
pub(super) struct Places {
    limit: usize,
    open: Mutex<Open>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Open {
    places: HashMap<u64, Arc<Seat>>,
    next: u64,
}

/// What is known of one connection.
#[derive(Debug)]
struct Seat {
    phase: Mutex<Phase>,
    leave: Notify,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// It waits for its client since then; whether a whole request came before.
    Waiting { since: Instant, is_known: bool },
    /// A request is being answered; it began then.
    Busy { since: Instant },
    /// It was told to leave.
    Leaving,
}

/// The place of one connection, free again when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    number: u64,
    seat: Arc<Seat>,
    places: Arc<Places>,
}

impl Places {
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit: limit.max(1),
            open: Mutex::default(),
            freed: Notify::new(),
        })
    }

    /// A place for a new connection, as soon as there is one.
    pub(super) async fn take(self: &Arc<Self>) -> Place {
        loop {
            if let Some(place) = self.try_take() {
                return place;
            }
            // The time says that there was nobody who could leave; that may have changed.
            let _ = timeout(LOOK_AGAIN, self.freed.notified()).await;
        }
    }

    /// Has a connection leave that can be spared.
    pub(super) fn make_room(&self) {
        lock(&self.open).make_room();
    }

    fn try_take(self: &Arc<Self>) -> Option<Place> {
        let mut open = lock(&self.open);
        if open.places.len() >= self.limit {
            open.make_room();
            return None;
        }
        let number = open.next;
        open.next = number.wrapping_add(1);
        let seat = Arc::new(Seat {
            phase: Mutex::new(Phase::Waiting {
                since: Instant::now(),
                is_known: false,
            }),
            leave: Notify::new(),
        });
        open.places.insert(number, Arc::clone(&seat));
        Some(Place {
            number,
            seat,
            places: Arc::clone(self),
        })
    }
}

impl Open {
    /// Tells one connection to leave, unless one is about to, or all are busy.
    fn make_room(&self) {
        let mut longest: Option<(bool, Instant, &Seat)> = None;
        for seat in self.places.values() {
            let (since, is_known) = match *lock(&seat.phase) {
                Phase::Waiting { since, is_known } => (since, is_known),
                Phase::Busy { .. } => continue,
                Phase::Leaving => return,
            };
            let rank = (is_known, since);
            if longest.is_none_or(|(known, before, _)| rank < (known, before)) {
                longest = Some((is_known, since, &**seat));
            }
        }
        if let Some((is_known, since, seat)) = longest
            && (!is_known || since.elapsed() > KEPT_ALIVE)
        {
            *lock(&seat.phase) = Phase::Leaving;
            seat.leave.notify_one();
        }
    }
}

impl Place {
    /// A request is answered from now on.
    pub(super) fn begin(&self) {
        let since = Instant::now();
        self.enter(Phase::Busy { since });
    }

    /// It is up to the client again.
    pub(super) fn wait(&self) {
        let since = Instant::now();
        self.enter(Phase::Waiting {
            since,
            is_known: true,
        });
    }

    /// It is up to the client to send the rest of its request. Since when counts from the beginning,
    /// so that a byte now and then is of no use.
    pub(super) fn wait_for_more(&self) {
        let mut phase = lock(&self.seat.phase);
        if let Phase::Busy { since } = *phase {
            let is_known = true;
            *phase = Phase::Waiting { since, is_known };
        }
    }

    /// More of the request came.
    pub(super) fn go_on(&self) {
        let mut phase = lock(&self.seat.phase);
        if let Phase::Waiting { since, .. } = *phase {
            *phase = Phase::Busy { since };
        }
    }

    fn enter(&self, next: Phase) {
        let mut phase = lock(&self.seat.phase);
        if !matches!(*phase, Phase::Leaving) {
            *phase = next;
        }
    }

    /// Done when another connection needs the place.
    pub(super) async fn is_needed(&self) {
        self.seat.leave.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.places.open).places.remove(&self.number);
        self.places.freed.notify_one();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
