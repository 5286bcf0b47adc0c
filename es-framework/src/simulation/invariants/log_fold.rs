//! A naive fold of the log: the balances after each event, and the decisions that contradict it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use crate::event::RecordedEvent;

/// An event of the log in the form that the invariants need.
#[derive(Debug, Clone)]
pub(super) struct LoggedEvent {
    pub(super) id: u64,
    /// The name of its type without the package.
    pub(super) name: String,
    pub(super) subject: String,
    pub(super) payload: Value,
    /// The latest time that any clock had shown when it was recorded.
    pub(super) latest_time: Timestamp,
}

/// The rows of wallets: for each wallet its balance and the number of its movements.
pub(super) type Wallets = BTreeMap<String, (i64, i64)>;

/// The log, folded event by event.
#[derive(Debug, Default)]
pub(super) struct LogFold {
    /// The events of the application.
    pub(super) events: Vec<LoggedEvent>,
    /// The wallets after each number of events of the store, beginning with none.
    pub(super) wallets: Vec<Wallets>,
    /// The decisions that do not fit the events before them.
    pub(super) impossible_decisions: Vec<String>,
}

impl LogFold {
    pub(super) fn from_events(events: &[(RecordedEvent, Timestamp)]) -> Self {
        let mut fold = Self {
            wallets: vec![Wallets::default()],
            ..Self::default()
        };
        for event in events {
            let logged = LoggedEvent::from_recorded(event);
            let before = fold.wallets.last().cloned().unwrap_or_default();
            let after = fold.apply(before, &logged);
            fold.wallets.push(after);
            if !logged.subject.starts_with("/es-framework") {
                fold.events.push(logged);
            }
        }
        fold
    }

    fn apply(&mut self, mut wallets: Wallets, event: &LoggedEvent) -> Wallets {
        let amount = match event.name.as_str() {
            "WalletOpenedEvent" => {
                if wallets.insert(event.subject.clone(), (0, 0)).is_some() {
                    self.object(event, "the wallet was open");
                }
                return wallets;
            }
            "WalletFilledEvent" | "WalletTippedEvent" | "TransferReceivedEvent" => {
                event.payload_number("amount")
            }
            "TransferSentEvent" => -event.payload_number("amount"),
            _ => return wallets,
        };
        let Some((balance, movements)) = wallets.get_mut(&event.subject) else {
            self.object(event, "the wallet was not open");
            return wallets;
        };
        if *balance != event.payload_number("balance") {
            self.object(event, &format!("the balance was {balance}"));
        }
        *balance += amount;
        *movements += 1;
        if *balance < 0 {
            self.object(event, "the wallet held too little");
        }
        wallets
    }

    fn object(&mut self, event: &LoggedEvent, reason: &str) {
        let LoggedEvent {
            id,
            name,
            subject,
            payload,
            ..
        } = event;
        let violation =
            format!("a precondition did not hold: {id} {name} on {subject} {payload}: {reason}");
        self.impossible_decisions.push(violation);
    }

    /// Returns the application's events with this name.
    pub(super) fn events_named(&self, name: &str) -> impl Iterator<Item = &LoggedEvent> {
        self.events.iter().filter(move |event| event.name == name)
    }

    /// Returns the events that clients' commands wrote in one operation of the simulation, found by the number in
    /// their payload.
    pub(super) fn events_of_operation(&self, number: u32) -> Vec<&LoggedEvent> {
        let is_own = |event: &&LoggedEvent| {
            event.name != "TransferCountedEvent"
                && event.payload_number("operation") == i64::from(number)
        };
        self.events.iter().filter(is_own).collect()
    }

    /// Returns the wallets after so many events.
    pub(super) fn wallets_after(&self, length: u64) -> Option<&Wallets> {
        self.wallets.get(usize::try_from(length).ok()?)
    }
}

impl LoggedEvent {
    pub(super) fn from_recorded((event, latest_time): &(RecordedEvent, Timestamp)) -> Self {
        let name = event.event_type.as_str().rsplit('.').next();
        Self {
            id: event.id.get(),
            name: name.unwrap_or_default().to_owned(),
            subject: event.subject.as_str().to_owned(),
            payload: payload(event),
            latest_time: *latest_time,
        }
    }

    /// Returns a text of the payload, if it has one of this name.
    pub(super) fn payload_text(&self, name: &str) -> Option<String> {
        let text = self.payload.get(name).and_then(Value::as_str);
        text.map(str::to_owned)
    }

    /// Returns a number of the payload, or -1 if it has none of this name.
    pub(super) fn payload_number(&self, name: &str) -> i64 {
        self.payload.get(name).and_then(Value::as_i64).unwrap_or(-1)
    }

    pub(super) fn payload_time(&self, name: &str) -> Timestamp {
        let text = self.payload.get(name).and_then(Value::as_str);
        text.and_then(|text| text.parse().ok())
            .unwrap_or(Timestamp::MAX)
    }
}

fn payload(event: &RecordedEvent) -> Value {
    let data: Value = serde_json::from_str(event.data.get()).unwrap_or_default();
    data.get("payload").cloned().unwrap_or_default()
}
