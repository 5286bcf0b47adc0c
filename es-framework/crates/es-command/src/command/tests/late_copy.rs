//! A copy of a command that is recorded while the command reads its events.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use futures_util::{StreamExt as _, stream};

use super::bank::{RivalledStore, transfer_with, two_accounts};
use crate::command::{CommandContext, CommandResources};
use es_event::Subject;
use es_store::{EventLog as _, EventStream, ForwardingLog, ReadOptions, memory::MemoryStore};

fn context() -> CommandContext {
    CommandContext {
        idempotency_key: Some("k1".parse().unwrap()),
        ..CommandContext::default()
    }
}

/// A store in which the first reader of the first account finds the events of a copy of its command.
#[derive(Debug)]
struct LateCopyStore {
    inner: MemoryStore,
    was_read: AtomicBool,
}

impl ForwardingLog for LateCopyStore {
    fn inner(&self) -> MemoryStore {
        self.inner.clone()
    }

    fn read_events(&self, subject: Subject, options: ReadOptions) -> EventStream {
        if subject.as_str() != "/accounts/1" || self.was_read.swap(true, Ordering::SeqCst) {
            return self.inner.read(subject, options);
        }
        let inner = self.inner.clone();
        let copied = async move {
            let resources = CommandResources::new(Arc::new(inner.clone()), "bank");
            transfer_with(&resources, 60, &context()).await.unwrap();
            inner.read(subject, options)
        };
        stream::once(copied).flatten().boxed()
    }
}

#[tokio::test]
async fn a_command_whose_copy_left_too_little_money_is_answered_as_the_copy_was() {
    let store = RivalledStore::alone();
    two_accounts(&store).await;
    let late = LateCopyStore {
        inner: store.inner.clone(),
        was_read: AtomicBool::new(false),
    };
    let resources = CommandResources::new(Arc::new(late), "bank");
    let outcome = transfer_with(&resources, 60, &context()).await.unwrap();
    let last = store.events().await.last().map(|event| event.id);
    assert_eq!(outcome.position, last);
    assert_eq!(store.types_on("/accounts/1").await.len(), 2);
}
