//! Tests of the read side: projects the events of a scenario and runs queries as in production.

use std::time::Duration;

use jiff::Timestamp;

use crate::{
    scenario::Scenario,
    scenario_runner::{PastStep, ScenarioRunner},
    scenario_store::{ScenarioError, ScenarioStore},
};
use es_event::{Clock, EventId, Subject, UpcasterDescriptor, Upcasters};
use es_read::{
    projection::{Database, Processor, ReadModel, ReadModelDescriptor, ReadModels},
    query::{PageParameters, QueryContext, QueryDescriptor, QueryError, QueryHandler},
};

/// The longest wait for the projection of a test's events.
const PROJECTION_TIMEOUT: Duration = Duration::from_secs(60);
/// The highest number of rows that a test reads.
const MAX_ROWS: u32 = 10_000;

impl Scenario {
    /// Projects the events into the test's own database and runs a query on it. An event without its
    /// own subject needs [`Scenario::event_on`].
    ///
    /// # Errors
    /// The query finds nothing, is invalid, or asks for something that does not belong to the caller.
    ///
    /// # Panics
    /// An event cannot be projected, or has no subject.
    #[track_caller]
    #[allow(clippy::panic, reason = "a test fails by panicking")]
    pub fn query<Q: QueryHandler>(self, query: Q) -> Result<Q::Output, QueryError>
    where
        Q::Output: Send,
    {
        let caller = self.sender().under_rule(Q::OWNER);
        query.check_owner(&caller)?;
        let services = self.services_for(Q::SERVICES, "the handler of the query");
        let (past, now) = self.into_past();
        let answered = on_a_thread(past, now, async move |context| {
            let context = context.with_caller(caller).with_services(services);
            query.handle(&context).await
        });
        answered.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns all rows of a read model after the events, the oldest first, as the caller of the scenario sees them.
    ///
    /// # Panics
    /// An event cannot be projected, or has no subject, the query for the rows fails, or there are more
    /// than 10,000 rows.
    #[track_caller]
    #[must_use]
    #[allow(clippy::panic, reason = "a test fails by panicking")]
    pub fn rows<R: ReadModel>(self) -> Vec<R> {
        let caller = self.sender().clone();
        let (past, now) = self.into_past();
        let rows = on_a_thread(past, now, async move |context| {
            let context = context.with_caller(caller);
            context.rows::<R>().all(MAX_ROWS).await
        });
        match rows {
            Ok(Err(QueryError::TooManyRows { limit, .. })) => {
                panic!("the read model has more than {limit} rows: query some of them")
            }
            Ok(Ok(rows)) => rows,
            Ok(Err(error)) => panic!("{error}"),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Projects on its own thread and runtime, because the test itself may be asynchronous.
fn on_a_thread<T: Send>(
    past: Vec<PastStep>,
    now: Timestamp,
    query: impl AsyncFnOnce(QueryContext<'_>) -> T + Send,
) -> Result<T, ScenarioError> {
    let run = || -> Result<T, ScenarioError> {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build()?.block_on(async {
            let database = projected(past, now).await?;
            Ok(query(QueryContext::new(&database, PageParameters::default(), now)).await)
        })
    };
    std::thread::scope(|scope| {
        let result = scope.spawn(run).join();
        result.unwrap_or_else(|_| Err("the query panicked: see above".into()))
    })
}

/// Projects the events into all read models that are linked into the test.
async fn projected(past: Vec<PastStep>, now: Timestamp) -> Result<Database, ScenarioError> {
    let upcasters = Upcasters::new(inventory::iter::<UpcasterDescriptor>().copied())?;
    let store = ScenarioStore::new(Clock::at(now));
    let runner = ScenarioRunner::new(store.clone(), Subject::root(), upcasters.clone());
    let count = runner.append_past(past).await?;
    let models = ReadModels::new(inventory::iter::<ReadModelDescriptor>().copied())?;
    let queries: Vec<_> = inventory::iter::<QueryDescriptor>().copied().collect();
    let models = models.with_indexes_of(&queries);
    let database = Database::in_memory(&models).await?;
    let processor = Processor::new(store.log(), database.clone(), models).with_upcasters(upcasters);
    let positions = processor.progress();
    let last = u64::try_from(count)?.checked_sub(1).and_then(EventId::new);
    tokio::select! {
        () = processor.run() => {}
        // The loop below reports a projection that stopped.
        _ = positions.wait_until_reached(&[], last, PROJECTION_TIMEOUT) => {}
    }
    for progress in positions.iter() {
        if let Some(trouble) = progress.state().trouble() {
            let (name, reason) = (progress.name(), &trouble.reason);
            return Err(format!("the read model {name} stops: {reason}").into());
        }
        if let Some(held) = progress.held_keys().iter().next() {
            let (name, poison) = (progress.name(), &held.poison);
            return Err(format!("the read model {name} holds a row: {poison}").into());
        }
    }
    Ok(database)
}
