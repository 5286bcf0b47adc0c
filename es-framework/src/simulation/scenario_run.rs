//! One run: two instances, three clients and a store, first with faults and then without them, until
//! everything is done.

use std::{sync::Arc, time::Duration};

use es_personal::{PersonKeys, PersonalEvents, PersonalStore};
use es_store::simulation::SimulationScope;
use jiff::{SignedDuration, Timestamp};

use super::{
    defect::Defect,
    environment::{SimulationEnvironment, lock},
    fault_injector::{inject_faults, start_instance},
    invariants::{RunRecord, find_plain_row, find_violations},
    news_receiver::NewsReceiver,
    owner_domain::{OwnerNamedEvent, OwnerRow},
    simulated_client::{SeenResults, SimulatedClient},
    simulated_instance::SimulatedInstance,
    simulated_key_store::SimulatedKeyStore,
    simulated_store::StoreServer,
    wallet_domain::WalletRow,
};
use crate::{
    command::RandomNumbers,
    event::{EventDescriptor, EventId, RecordedEvent},
    projection::Project,
    store::memory::MemoryStore,
    subscribe::state::StateDatabase,
};

const CLIENTS: u32 = 3;
const OPERATIONS: u32 = 7;
/// The longest time after the faults in which all work has to be done.
const SETTLING_TIME: Duration = Duration::from_secs(300);

/// The result of one run.
#[derive(Debug)]
pub(super) struct RunReport {
    pub(super) seed: u64,
    pub(super) trace: Vec<String>,
    pub(super) violations: Vec<String>,
}

/// Runs the scenario of a seed with a defect or without one.
pub(super) fn run_seed(seed: u64, defect: Option<Defect>) -> std::io::Result<RunReport> {
    // Work on the database takes no part in the numbers of the environment, but it follows from the seed, too.
    let random = RandomNumbers::seeded(seed ^ u64::MAX);
    let work_time = move || Duration::from_millis((random.next() % 8).saturating_sub(5));
    let _thread = SimulationScope::enter(work_time);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()?;
    Ok(runtime.block_on(run(seed, defect)))
}

async fn run(seed: u64, defect: Option<Defect>) -> RunReport {
    let environment = Arc::new(SimulationEnvironment::new(seed, defect));
    let server = Arc::new(StoreServer::new(Arc::clone(&environment)));
    let flushing = tokio::spawn(Arc::clone(&server).flush_appends());
    let keys = Arc::new(SimulatedKeyStore::new(Arc::clone(&environment)));
    let printed = Arc::default();
    let receiver = Arc::new(NewsReceiver::new(Arc::clone(&server)));
    let state = StateDatabase::in_memory();
    let instances = ["a", "b"].map(|name| {
        let (environment, server) = (Arc::clone(&environment), Arc::clone(&server));
        let (keys, printed) = (Arc::clone(&keys), Arc::clone(&printed));
        let (receiver, state) = (Arc::clone(&receiver), state.clone());
        SimulatedInstance::new(name, environment, server, keys, printed, receiver, state)
    });
    let instances: Arc<[SimulatedInstance]> = Arc::new(instances);
    let history = Arc::new(SeenResults::default());
    for index in 0..instances.len() {
        let instances = Arc::clone(&instances);
        tokio::spawn(async move { instances[index].run_clock().await });
    }
    for instance in instances.iter() {
        start_instance(&environment, instance).await;
    }
    let (attacked, hosts) = (Arc::clone(&server), Arc::clone(&instances));
    let faults = tokio::spawn(inject_faults(Arc::clone(&environment), attacked, hosts));
    let clients = (0..CLIENTS).map(|number| {
        let client = SimulatedClient {
            number,
            environment: Arc::clone(&environment),
            server: Arc::clone(&server),
            instances: Arc::clone(&instances),
            history: Arc::clone(&history),
        };
        tokio::spawn(client.run_operations(OPERATIONS))
    });
    for client in clients.collect::<Vec<_>>() {
        let _ = client.await;
    }
    faults.abort();
    let mut violations = settle(&environment, &server, &keys, &instances).await;
    flushing.abort();
    let rows = read_rows::<WalletRow>(&instances).await;
    let owners = read_rows::<OwnerRow>(&instances).await;
    let kills = instances.iter();
    let events = server.history().await;
    let record = RunRecord {
        opened: open_events(&events, keys.copy_disk()).await,
        events,
        operations: lock(&history.operations).clone(),
        reads: lock(&history.reads).clone(),
        rows,
        owners,
        erased: keys.erased_persons(),
        printed: lock(&printed).clone(),
        arrived: receiver.arrived(),
        kills: kills
            .flat_map(|instance| lock(&instance.kills).clone())
            .collect(),
    };
    violations.extend(find_violations(&record));
    let trace = environment.take_trace();
    RunReport {
        seed,
        trace,
        violations,
    }
}

/// Returns all rows of each instance.
async fn read_rows<R: Project>(
    instances: &[SimulatedInstance],
) -> Vec<(&'static str, Option<Vec<R>>)> {
    let mut rows = Vec::new();
    for instance in instances {
        let read = instance.wait_for_rows(None, SETTLING_TIME).await;
        rows.push((instance.name, read));
    }
    rows
}

/// Returns each event as somebody with these keys reads it, or the reason why that fails.
async fn open_events(
    events: &[(RecordedEvent, Timestamp)],
    keys: SimulatedKeyStore,
) -> Vec<Result<RecordedEvent, String>> {
    let (store, keys) = (
        Arc::new(MemoryStore::new()),
        PersonKeys::new(Arc::new(keys)),
    );
    let store = PersonalStore::new(
        store,
        PersonalEvents::select(&[EventDescriptor::of::<OwnerNamedEvent>()]),
        keys,
    );
    let mut opened = Vec::new();
    for (event, _) in events {
        match store.open_events(vec![event.clone()]).await {
            Ok(events) => opened.extend(events.into_iter().map(Ok)),
            Err(error) => opened.push(Err(error.to_string())),
        }
    }
    opened
}

/// Describes a task of a reaction that is due and not executed.
async fn find_open_task(instances: &[SimulatedInstance]) -> Option<String> {
    let Some(owner) = instances.iter().find(|instance| instance.runs_reactions()) else {
        return Some("nobody runs the reactions".to_owned());
    };
    let found = owner.find_open_task().await;
    found.unwrap_or_else(|error| Some(error.to_string()))
}

/// Ends all faults, lets every deadline pass, and waits until all work is done.
async fn settle(
    environment: &SimulationEnvironment,
    server: &StoreServer,
    keys: &SimulatedKeyStore,
    instances: &[SimulatedInstance],
) -> Vec<String> {
    environment.record_trace("environment", "ends all faults, and every deadline passes");
    environment.end_faults();
    server.ensure_running();
    let ahead = SignedDuration::from_hours(10);
    for instance in instances {
        start_instance(environment, instance).await;
        instance.set_clock_offset(ahead);
    }
    let begin = environment.elapsed();
    loop {
        let last = server.event_count().checked_sub(1).and_then(EventId::new);
        // Nobody repeats an erasure.
        let open = keys.open_erasures();
        let working = instances.iter();
        let working = working.filter_map(|instance| instance.find_unfinished_work(last));
        let open = open.iter().map(|person| format!("the erasure of {person}"));
        let mut unfinished: Vec<_> = working.chain(open).collect();
        unfinished.extend(find_open_task(instances).await);
        // Each instance reads the announcements for itself.
        for instance in instances {
            let rows = instance.wait_for_rows(None, SETTLING_TIME).await;
            let rows = rows.unwrap_or_default();
            unfinished.extend(find_plain_row(instance.name, &rows, &keys.erased_persons()));
        }
        if unfinished.is_empty() {
            return Vec::new();
        }
        if environment.elapsed().saturating_sub(begin) > SETTLING_TIME {
            return unfinished
                .into_iter()
                .map(|work| format!("this is never done: {work}"))
                .collect();
        }
        environment.sleep_randomly(100, 100).await;
    }
}
