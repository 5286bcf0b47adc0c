//! The order of commands that one request sends: a command begins when the earlier ones on its subjects have ended.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio_util::sync::CancellationToken;

use es_event::Subject;

/// Keeps the order of commands on the same subject, and lets the others run at once. Clones share it.
///
/// The order is that in which the futures of [`CommandDescriptor::execute_in_order`](super::CommandDescriptor::execute_in_order)
/// are polled first. A command waits for earlier ones only, so no two wait for each other.
#[doc(hidden)]
#[derive(Debug, Clone, Default)]
pub struct CommandOrder(Arc<Mutex<HashMap<Subject, CancellationToken>>>);

/// The place of a command in the order. Dropping it lets the next commands begin.
pub(super) struct OrderedCommand {
    order: CommandOrder,
    subjects: Vec<Subject>,
    earlier: Vec<CancellationToken>,
    ended: CancellationToken,
}

impl CommandOrder {
    /// Puts a command on these subjects behind all earlier ones.
    pub(super) fn enter(&self, subjects: Vec<Subject>) -> OrderedCommand {
        let ended = CancellationToken::new();
        let mut last = self.lock();
        let follow = |subject: &Subject| last.insert(subject.clone(), ended.clone());
        let earlier = subjects.iter().filter_map(follow).collect();
        OrderedCommand {
            order: self.clone(),
            subjects,
            earlier,
            ended,
        }
    }

    /// Locks the map. A poisoned lock is safe, because each change is complete.
    fn lock(&self) -> MutexGuard<'_, HashMap<Subject, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OrderedCommand {
    /// Waits until the earlier commands on the same subjects have ended.
    pub(super) async fn wait_for_earlier(&self) {
        for earlier in &self.earlier {
            // A subject that stands twice in one command is followed by the command itself.
            if *earlier != self.ended {
                earlier.cancelled().await;
            }
        }
    }
}

impl Drop for OrderedCommand {
    fn drop(&mut self) {
        let mut last = self.order.lock();
        for subject in &self.subjects {
            if last.get(subject) == Some(&self.ended) {
                last.remove(subject);
            }
        }
        drop(last);
        self.ended.cancel();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn a_command_begins_after_the_earlier_ones_on_its_subjects() {
        let order = CommandOrder::default();
        let enter = |subjects: &[&str]| {
            let subjects = subjects.iter().map(|subject| subject.parse().unwrap());
            order.enter(subjects.collect())
        };
        let may_begin = |command: &OrderedCommand| {
            let waiting = command.wait_for_earlier();
            waiting.now_or_never().is_some()
        };
        let first = enter(&["/a", "/b", "/a"]);
        let second = enter(&["/b", "/c"]);
        let third = enter(&["/c"]);
        let other = enter(&["/d"]);
        assert!(may_begin(&first) && may_begin(&other));
        assert!(!may_begin(&second) && !may_begin(&third));
        drop(first);
        assert!(may_begin(&second) && !may_begin(&third));
        // A command that ends out of order lets nobody begin too early.
        drop(second);
        assert!(may_begin(&third));
        drop((third, other));
        assert!(order.lock().is_empty());
    }
}
