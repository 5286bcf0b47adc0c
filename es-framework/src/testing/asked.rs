//! What clients see after the events of a test: projected and answered as in production.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;

use super::{
    given::Scenario,
    history::{History, Impossible, Past},
};
use crate::{
    ReadModel,
    event::{EventId, Subject, UpcasterDescriptor, Upcasters},
    projection::{Database, Processor, ReadModelDescriptor, ReadModels},
    query::{Paging, Queries, QueryContext, QueryDescriptor, QueryError, QueryHandler},
    store::{EventStore, memory::MemoryStore},
};

/// Longer than a handful of events takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// More rows than the events of a test lead to.
const ROWS: u32 = 10_000;

impl Scenario {
    /// A client asks: the events are projected into a database of the test's own, and the query is
    /// answered from it. An event that does not name its subject itself is given with
    /// [`Scenario::event_on`].
    ///
    /// # Errors
    /// There is no such thing, or the query is wrong.
    ///
    /// # Panics
    /// An event cannot be projected, or has no subject.
    #[track_caller]
    #[allow(clippy::panic, reason = "a test fails by panicking")]
    pub fn ask<Q: QueryHandler>(self, query: Q) -> Result<Q::Output, QueryError>
    where
        Q::Output: Send,
    {
        let (past, now) = self.into_past();
        let answered = on_a_thread(past, now, async move |context| query.handle(&context).await);
        answered.unwrap_or_else(|error| panic!("{error}"))
    }

    /// All rows of a read model after the events, the oldest first.
    ///
    /// # Panics
    /// An event cannot be projected, or has no subject.
    #[track_caller]
    #[must_use]
    #[allow(clippy::panic, reason = "a test fails by panicking")]
    pub fn rows<R: ReadModel>(self) -> Vec<R> {
        let (past, now) = self.into_past();
        let rows = on_a_thread(past, now, async |context| {
            context.rows::<R>().all(ROWS).await
        });
        match rows {
            Ok(Ok(rows)) => rows,
            Ok(Err(error)) => panic!("{error}"),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Projects on a thread and a runtime of its own: the test itself may be asynchronous.
fn on_a_thread<T: Send>(
    past: Vec<Past>,
    now: Timestamp,
    ask: impl AsyncFnOnce(QueryContext<'_>) -> T + Send,
) -> Result<T, Impossible> {
    let asking = || -> Result<T, Impossible> {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build()?.block_on(async {
            let database = projected(past).await?;
            Ok(ask(QueryContext::new(&database, Paging::default(), now)).await)
        })
    };
    std::thread::scope(|scope| {
        let asked = scope.spawn(asking).join();
        asked.unwrap_or_else(|_| Err("the query panicked: see above".into()))
    })
}

/// The database of everything that is linked into the test.
async fn projected(past: Vec<Past>) -> Result<Database, Impossible> {
    let upcasters = Upcasters::new(inventory::iter::<UpcasterDescriptor>().copied())?;
    let store = MemoryStore::new();
    let history = History::new(store.clone(), Subject::root(), upcasters.clone());
    let count = history.write(past).await?;
    let models = ReadModels::new(inventory::iter::<ReadModelDescriptor>().copied())?;
    let queries = inventory::iter::<QueryDescriptor>().copied();
    let (_, models) = Queries::new(queries, models)?;
    let database = Database::in_memory(&models).await?;
    let store: Arc<dyn EventStore> = Arc::new(store);
    let processor = Processor::new(store, database.clone(), models).with_upcasters(upcasters);
    let positions = processor.positions();
    let last = u64::try_from(count)?.checked_sub(1).and_then(EventId::new);
    tokio::select! {
        () = processor.run() => {}
        // One that has stopped says why below.
        _ = positions.reach(&[], last, PATIENCE) => {}
    }
    for (name, progress) in positions.iter() {
        if let Some(trouble) = progress.trouble() {
            return Err(format!("the read model {name} stops: {trouble}").into());
        }
    }
    Ok(database)
}
