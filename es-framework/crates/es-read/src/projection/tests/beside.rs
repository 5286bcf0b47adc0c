//! Rebuilds in shadow tables, and operator commands on read models.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use super::{PATIENCE, write_event};
use crate::prelude::*;
use crate::{
    projection::{Database, DatabaseUrl, Processor, ReadModelDescriptor, ReadModels},
    query::PageParameters,
};
use es_event::{EventId, EventSelection};
use es_store::memory::MemoryStore;
use es_subscribe::{
    MAX_HELD_KEYS, SubscriberProgress,
    operator::{ComponentKind, OperatorClient, OperatorCommand, OperatorError, OperatorOutcome},
};

#[derive(Debug, Event)]
struct JarFilledEvent {
    grams: u32,
}

/// True while the projection cannot handle a jar with the content `SPILLED`.
static SPILLS: AtomicBool = AtomicBool::new(true);
/// The content of a jar that the projection can never handle.
const BROKEN: u32 = 666;
/// The content of a jar that the projection can handle only later.
const SPILLED: u32 = 777;

#[derive(Debug, Clone, PartialEq, ReadModel)]
#[read_model(table = "jars", subject = "/jars/{number}")]
struct Jar {
    #[key]
    number: u32,
    #[index]
    grams: u32,
}

fn number(recorded: &es_event::RecordedEvent) -> u32 {
    let number = recorded.subject.as_str().rsplit('/').next();
    number.and_then(|number| number.parse().ok()).unwrap()
}

#[projection]
impl Jar {
    fn filled(
        row: Option<Self>,
        event: &JarFilledEvent,
        recorded: &es_event::RecordedEvent,
    ) -> Option<Self> {
        check_jar(event);
        let spills = SPILLS.load(Ordering::Relaxed);
        assert!(event.grams != SPILLED || !spills, "a jar that spills");
        Some(Self {
            number: number(recorded),
            grams: row.map_or(0, |row| row.grams) + event.grams,
        })
    }
}

/// Fails for a broken jar, as a projection that panics does. The hook of panics does not run: a backtrace for each of many
/// broken jars would take longer than the tests wait.
fn check_jar(event: &JarFilledEvent) {
    if event.grams == BROKEN {
        std::panic::resume_unwind(Box::new("a broken jar"));
    }
}

/// The same read model with another column.
#[derive(Debug, Clone, PartialEq, ReadModel)]
#[read_model(table = "jars", subject = "/jars/{number}")]
struct LabelledJar {
    #[key]
    number: u32,
    #[index]
    grams: u32,
    label: String,
}

#[projection]
impl LabelledJar {
    fn filled(event: &JarFilledEvent, recorded: &es_event::RecordedEvent) -> Self {
        check_jar(event);
        Self {
            number: number(recorded),
            grams: event.grams,
            label: format!("{} g", event.grams),
        }
    }
}

/// A running processor.
struct RunningProcessor {
    database: Database,
    progress: SubscriberProgress,
    operator: OperatorClient,
    task: tokio::task::JoinHandle<()>,
}

impl RunningProcessor {
    async fn start(store: &MemoryStore, file: &Path, model: ReadModelDescriptor) -> Self {
        let models = ReadModels::new([model]).unwrap();
        let url = DatabaseUrl::File(file.to_owned());
        let database = Database::open(&url, &models).await.unwrap();
        let processor = Processor::new(Arc::new(store.clone()), database.clone(), models);
        let progress = processor.progress().find_progress("jars").unwrap().clone();
        let operator = processor.operator_client();
        let task = tokio::spawn(processor.run());
        Self {
            database,
            progress,
            operator,
            task,
        }
    }

    /// Skips all events that fail as the one that stopped the read model or its shadow table.
    async fn skip_alike(&self) -> EventId {
        let shadow = self.progress.shadow_progress();
        let stopped = [Some(self.progress.clone()), shadow];
        let mut stopped = stopped.into_iter().flatten();
        let poison = stopped.find_map(|one| one.poison_event()).unwrap();
        let selection = EventSelection::Fingerprint {
            fingerprint: poison.fingerprint(),
        };
        let skip = OperatorCommand::Skip;
        let sent = self.operator.send_selection("jars", skip, Some(selection));
        let outcome = sent.await.unwrap();
        assert_eq!(
            (outcome.retried, outcome.released),
            (MAX_HELD_KEYS, MAX_HELD_KEYS)
        );
        outcome.event.unwrap().id
    }

    async fn stop(self) {
        self.task.abort();
        let _ = self.task.await;
    }

    async fn rows<R: ReadModel>(&self) -> Vec<R> {
        let context = crate::query::QueryContext::new(
            &self.database,
            PageParameters::default(),
            Timestamp::now(),
        );
        context.rows::<R>().all(100).await.unwrap()
    }

    async fn grams(&self) -> Vec<u32> {
        let jars = self.rows::<Jar>().await;
        jars.into_iter().map(|jar| jar.grams).collect()
    }

    async fn reach(&self, id: u64) {
        self.progress
            .wait_until_reached(EventId::new(id), PATIENCE)
            .await
            .unwrap();
    }

    async fn until(&self, what: impl Fn(&SubscriberProgress) -> bool) {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        while !what(&self.progress) {
            assert!(
                tokio::time::Instant::now() < deadline,
                "{:?}",
                self.progress
            );
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

async fn fill(store: &MemoryStore, jar: u32, grams: u32) {
    write_event(store, &format!("/jars/{jar}"), &JarFilledEvent { grams }).await;
}

/// Fills more jars that no projection can handle than a read model holds.
async fn break_too_many(store: &MemoryStore) {
    for jar in 0..=u32::try_from(MAX_HELD_KEYS).unwrap() {
        fill(store, 1_000 + jar, BROKEN).await;
    }
}

/// The number of these jars.
const BROKEN_JARS: u64 = MAX_HELD_KEYS as u64 + 1;

fn changed() -> ReadModelDescriptor {
    let mut model = ReadModelDescriptor::of::<Jar>();
    model.version += 1;
    model
}

#[tokio::test]
async fn the_old_rows_answer_until_the_new_ones_are_built() {
    let (folder, store) = (tempfile::tempdir().unwrap(), MemoryStore::new());
    let file = folder.path().join("jars.db");
    fill(&store, 1, 10).await;
    fill(&store, 2, 20).await;
    let old = RunningProcessor::start(&store, &file, ReadModelDescriptor::of::<Jar>()).await;
    old.reach(1).await;
    old.stop().await;
    break_too_many(&store).await;
    fill(&store, 1, 5).await;
    let new = RunningProcessor::start(&store, &file, changed()).await;
    let is_stopped = |progress: SubscriberProgress| progress.is_stopped();
    new.until(|progress| progress.shadow_progress().is_some_and(is_stopped))
        .await;
    assert_eq!(
        new.progress.wait_until_reached(None, PATIENCE).await,
        Ok(())
    );
    assert_eq!(new.progress.position(), EventId::new(1));
    assert_eq!(new.grams().await, [10, 20]);
    // A restart continues an interrupted rebuild.
    new.stop().await;
    let new = RunningProcessor::start(&store, &file, changed()).await;
    new.until(|progress| progress.shadow_progress().is_some_and(is_stopped))
        .await;
    let beside = new.progress.shadow_progress().unwrap();
    assert_eq!(beside.position(), EventId::new(BROKEN_JARS));
    assert_eq!(beside.held_keys().len(), MAX_HELD_KEYS);
    assert_eq!(new.skip_alike().await.get(), 1 + BROKEN_JARS);
    new.reach(2 + BROKEN_JARS).await;
    new.until(|progress| progress.shadow_progress().is_none())
        .await;
    assert_eq!(new.grams().await, [15, 20]);
    assert!(new.progress.held_keys().is_empty());
    assert!(new.progress.shadow_progress().is_none());
    new.stop().await;
    let again = RunningProcessor::start(&store, &file, changed()).await;
    again.reach(2 + BROKEN_JARS).await;
    assert!(
        again.progress.shadow_progress().is_none(),
        "nothing is built twice"
    );
}

#[tokio::test]
async fn rows_of_other_columns_answer_nothing_until_the_new_ones_are_built() {
    let (folder, store) = (tempfile::tempdir().unwrap(), MemoryStore::new());
    let file = folder.path().join("jars.db");
    fill(&store, 1, 10).await;
    let old = RunningProcessor::start(&store, &file, ReadModelDescriptor::of::<Jar>()).await;
    old.reach(0).await;
    old.stop().await;
    break_too_many(&store).await;
    let labelled = ReadModelDescriptor::of::<LabelledJar>;
    let new = RunningProcessor::start(&store, &file, labelled()).await;
    let is_stopped = |progress: SubscriberProgress| progress.is_stopped();
    new.until(|progress| progress.shadow_progress().is_some_and(is_stopped))
        .await;
    let brief = Duration::from_millis(5);
    assert!(new.progress.wait_until_reached(None, brief).await.is_err());
    new.stop().await;
    // The previous release still finds its rows.
    let back = RunningProcessor::start(&store, &file, ReadModelDescriptor::of::<Jar>()).await;
    back.until(SubscriberProgress::is_stopped).await;
    assert_eq!(back.grams().await, [10]);
    back.skip_alike().await;
    back.reach(BROKEN_JARS).await;
    back.stop().await;
    let new = RunningProcessor::start(&store, &file, labelled()).await;
    new.reach(BROKEN_JARS).await;
    let rows = new.rows::<LabelledJar>().await;
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].label, "10 g");
}

#[tokio::test]
async fn an_operator_has_rows_made_again_while_events_come() {
    let (folder, store) = (tempfile::tempdir().unwrap(), MemoryStore::new());
    let file = folder.path().join("jars.db");
    for number in 0..50 {
        fill(&store, number, 1).await;
    }
    let running = RunningProcessor::start(&store, &file, ReadModelDescriptor::of::<Jar>()).await;
    running.reach(49).await;
    for round in 1..=3_u32 {
        let spoil = rusqlite::Connection::open(&file).unwrap();
        spoil.busy_timeout(PATIENCE).unwrap();
        spoil.execute("UPDATE jars SET grams = 99", ()).unwrap();
        assert_eq!(
            running
                .operator
                .send_command("jars", OperatorCommand::Rebuild)
                .await,
            Ok(OperatorOutcome::default())
        );
        for number in 0..50 {
            fill(&store, number, 1).await;
            assert_eq!(
                running.progress.wait_until_reached(None, PATIENCE).await,
                Ok(())
            );
        }
        running.reach(u64::from(round) * 50 + 49).await;
        running
            .until(|progress| progress.shadow_progress().is_none())
            .await;
        assert_eq!(running.grams().await, [round + 1; 50]);
    }
}

#[tokio::test]
async fn the_events_of_a_held_row_are_read_again_when_an_operator_asks() {
    let (folder, store) = (tempfile::tempdir().unwrap(), MemoryStore::new());
    fill(&store, 1, SPILLED).await;
    fill(&store, 2, 2).await;
    fill(&store, 1, 3).await;
    let file = folder.path().join("jars.db");
    let running = RunningProcessor::start(&store, &file, ReadModelDescriptor::of::<Jar>()).await;
    running.reach(2).await;
    assert_eq!(running.grams().await, [2]);
    let held = running.progress.held_keys();
    let refused = held.iter().next().unwrap();
    assert_eq!(
        (
            refused.poison.id.get(),
            refused.key.as_str(),
            refused.events
        ),
        (0, "1", 2)
    );
    let reason = &refused.poison.reason;
    assert!(reason.contains("spills"), "{reason}");
    let retry = || {
        running
            .operator
            .send_command("jars", OperatorCommand::Retry)
    };
    let outcome = |released| OperatorOutcome {
        replay: None,
        event: None,
        retried: 1,
        released,
    };
    assert_eq!(retry().await, Ok(outcome(0)));
    assert_eq!(running.progress.held_keys().len(), 1);
    SPILLS.store(false, Ordering::Relaxed);
    assert_eq!(retry().await, Ok(outcome(1)));
    assert_eq!(running.grams().await, [SPILLED + 3, 2]);
    assert!(running.progress.held_keys().is_empty());
    let nothing = running
        .operator
        .send_command("jars", OperatorCommand::Skip)
        .await;
    assert_eq!(
        nothing,
        Err(OperatorError::NotStopped(ComponentKind::ReadModel, "jars"))
    );
    let unknown = running
        .operator
        .send_command("cups", OperatorCommand::Rebuild)
        .await;
    assert_eq!(
        unknown,
        Err(OperatorError::Unknown(
            ComponentKind::ReadModel,
            "cups".into()
        ))
    );
}

#[tokio::test]
async fn a_dropped_unique_index_is_made_again() {
    let (folder, store) = (tempfile::tempdir().unwrap(), MemoryStore::new());
    let file = folder.path().join("jars.db");
    let running = RunningProcessor::start(&store, &file, ReadModelDescriptor::of::<Jar>()).await;
    fill(&store, 1, 10).await;
    running.reach(0).await;
    let outside = rusqlite::Connection::open(&file).unwrap();
    outside.busy_timeout(PATIENCE).unwrap();
    outside.execute_batch("DROP INDEX jars_number").unwrap();
    fill(&store, 1, 5).await;
    running.reach(1).await;
    assert_eq!(running.grams().await, [15]);
}
