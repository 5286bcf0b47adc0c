//! One of the instances of the simulated application. Each start is a new process with command resources,
//! projections and reactions. A kill drops all of its tasks at once.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use es_personal::{PersonKeys, PersonalData, PersonalEvents, PersonalStore};
use jiff::{SignedDuration, Timestamp};
use tempfile::TempDir;
use tokio::task::AbortHandle;
use uuid::Uuid;

use super::{
    defect::{Defect, lose_checkpoint, lose_tasks},
    environment::{SimulationEnvironment, lock},
    news_receiver::NewsReceiver,
    owner_domain::OwnerNamedEvent,
    printer_connection::{PrintedReceipt, PrinterConnection},
    simulated_key_store::SimulatedKeyStore,
    simulated_store::{StoreConnection, StoreServer},
    wallet_domain, wallet_reactions,
};
use crate::{
    app::personal_data::{erasure_targets, follow_erasures},
    command::{
        Clock, CommandContext, CommandDescriptor, CommandError, CommandOutcome, CommandRequest,
        CommandResources, IdempotencyKey, RandomNumbers,
    },
    event::{EventDescriptor, EventId, Upcasters},
    operator::{OperatorClient, OperatorCommand},
    projection::{Database, DatabaseUrl, Processor, Project, ReadModels},
    query::{PageParameters, QueryContext},
    reaction::{ReactionRunner, ReactionRuntime},
    store::EventLog,
    subscribe::{
        ProgressRegistry, SubscriberProgress,
        state::{StateDatabase, StateError},
    },
};

const SOURCE: &str = "simulation";
const DATABASE_FILE: &str = "rows.db";
/// The interval in which the simulation sets the clocks.
const TICK: Duration = Duration::from_millis(100);

/// An instance of the simulated application.
#[derive(Debug)]
pub(super) struct SimulatedInstance {
    pub(super) name: &'static str,
    environment: Arc<SimulationEnvironment>,
    server: Arc<StoreServer>,
    keys: Arc<SimulatedKeyStore>,
    printed: Arc<Mutex<Vec<PrintedReceipt>>>,
    receiver: Arc<NewsReceiver>,
    /// The state database, which the instances share.
    state: StateDatabase,
    clock: Clock,
    /// The difference between its clock and the true time.
    clock_offset: Mutex<SignedDuration>,
    /// The database survives the kill of a process, as a file does. It is a file only if the run changes it.
    database: Mutex<Option<(Database, Option<Arc<TempDir>>)>>,
    process: Mutex<Option<SimulatedProcess>>,
    /// Only one client waits for rows, because tokio wakes several in an order of its own in each run.
    reader: tokio::sync::Mutex<()>,
    /// The end of each process.
    pub(super) kills: Mutex<Vec<ProcessKill>>,
}

/// A running process of an instance.
#[derive(Debug)]
struct SimulatedProcess {
    number: u64,
    command_resources: CommandResources,
    database: Database,
    positions: ProgressRegistry,
    reactions: ProgressRegistry,
    state: StateDatabase,
    operator: OperatorClient,
    personal: PersonalData,
    tasks: Vec<AbortHandle>,
}

/// The end of a process.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProcessKill {
    pub(super) process: u64,
    pub(super) at: Duration,
}

/// The answer to a request, as its sender sees it.
#[derive(Debug)]
pub(super) enum RequestAnswer {
    /// The command was carried out or refused.
    Handled(Box<Result<CommandOutcome, CommandError>>),
    /// The process was gone before it answered.
    ConnectionLost,
    /// No process accepted the request.
    ConnectionRefused,
}

impl SimulatedInstance {
    pub(super) fn new(
        name: &'static str,
        environment: Arc<SimulationEnvironment>,
        server: Arc<StoreServer>,
        keys: Arc<SimulatedKeyStore>,
        printed: Arc<Mutex<Vec<PrintedReceipt>>>,
        receiver: Arc<NewsReceiver>,
        state: StateDatabase,
    ) -> Self {
        let clock = Clock::at(environment.now());
        Self {
            name,
            environment,
            server,
            keys,
            printed,
            receiver,
            state,
            clock,
            clock_offset: Mutex::default(),
            database: Mutex::default(),
            process: Mutex::default(),
            reader: tokio::sync::Mutex::default(),
            kills: Mutex::default(),
        }
    }

    /// Moves the clock on, until the returned future is dropped.
    pub(super) async fn run_clock(&self) {
        loop {
            self.set_clock();
            tokio::time::sleep(TICK).await;
        }
    }

    fn set_clock(&self) {
        let time = self
            .environment
            .now()
            .saturating_add(*lock(&self.clock_offset));
        let time = time.unwrap_or(Timestamp::MAX);
        self.clock.set(time);
        self.environment.remember_clock_time(time);
    }

    /// Sets the difference between the clock and the true time.
    pub(super) fn set_clock_offset(&self, offset: SignedDuration) {
        *lock(&self.clock_offset) = offset;
        self.set_clock();
        let time = self.clock.now();
        self.environment
            .record_trace(self.name, format_args!("has its clock set to {time}"));
    }

    pub(super) fn is_running(&self) -> bool {
        lock(&self.process).is_some()
    }

    /// Starts a process. Does nothing if one is running.
    pub(super) async fn start_process(&self) -> Result<(), crate::projection::DatabaseError> {
        if self.is_running() {
            return Ok(());
        }
        let models = wallet_domain::read_models().unwrap_or_default();
        let database = self.open_database(&models).await?;
        let number = self.environment.random.next();
        let opened = self.connect_store(None);
        let port: Arc<dyn EventLog> = Arc::new(opened.clone());
        let (environment, printed) = (Arc::clone(&self.environment), Arc::clone(&self.printed));
        let printer = PrinterConnection::new(environment, self.name, number, printed);
        let services = wallet_domain::services(self.clock.clone(), Arc::new(printer));
        let random = RandomNumbers::seeded(self.environment.random.next());
        let command_resources = CommandResources::new(Arc::clone(&port), SOURCE)
            .with_services(services.clone())
            .with_random_numbers(random);
        let is_personal = |event_type: &str| opened.may_hold_personal_data(event_type);
        let processor = Processor::new(Arc::clone(&port), database.clone(), models)
            .with_personal_events(is_personal);
        let targets = erasure_targets(&command_resources, &processor, &database).await;
        let personal = PersonalData::new(opened, SOURCE.into(), targets);
        let port_of_reactions: Arc<dyn EventLog> = Arc::new(self.connect_store(Some(number)));
        let reaction_commands = match self.environment.defect {
            Some(Defect::SendOncePerProcess) => {
                CommandResources::new(Arc::clone(&port_of_reactions), SOURCE)
                    .with_services(services.clone())
                    .with_random_numbers(RandomNumbers::seeded(number))
            }
            _ => command_resources.clone(),
        };
        let defect = self.environment.defect;
        let state = match defect {
            Some(Defect::TwoOwners | Defect::SendOncePerProcess) => self.state.clone(),
            _ => self.state.another_instance(),
        };
        let runtime = ReactionRuntime {
            command_resources: reaction_commands,
            redacted_resources: None,
            store: port_of_reactions,
            source: SOURCE.into(),
            services,
            upcasters: Upcasters::default(),
            state: state.clone(),
            sent_commands: None,
        };
        let reactions = wallet_reactions::reactions(&self.receiver, self.name);
        let reactions = reactions.unwrap_or_default();
        let runner = ReactionRunner::new(runtime, reactions);
        self.environment.record_trace(self.name, "starts");
        let process = SimulatedProcess {
            number,
            command_resources,
            database,
            positions: processor.progress(),
            reactions: runner.progress(),
            state,
            operator: processor.operator_client(),
            personal: personal.clone(),
            tasks: vec![
                tokio::spawn(follow_erasures(personal)).abort_handle(),
                tokio::spawn(processor.run()).abort_handle(),
                tokio::spawn(runner.run()).abort_handle(),
            ],
        };
        *lock(&self.process) = Some(process);
        Ok(())
    }

    /// Opens the database of a new process.
    async fn open_database(
        &self,
        models: &ReadModels,
    ) -> Result<Database, crate::projection::DatabaseError> {
        let kept = lock(&self.database).clone();
        if let Some((database, folder)) = kept {
            if let Some(folder) = folder {
                lose_checkpoint(&folder.path().join(DATABASE_FILE), &self.server.log).await;
            }
            return Ok(database);
        }
        let is_file = self.environment.defect == Some(Defect::LoseCheckpoints);
        let folder = is_file
            .then(TempDir::new)
            .and_then(Result::ok)
            .map(Arc::new);
        let url = match &folder {
            Some(folder) => DatabaseUrl::File(folder.path().join(DATABASE_FILE)),
            None => DatabaseUrl::Memory,
        };
        let database = Database::open(&url, models).await?;
        *lock(&self.database) = Some((database.clone(), folder));
        Ok(database)
    }

    /// Connects to the event store, with a cipher before it.
    fn connect_store(&self, reactions_of: Option<u64>) -> PersonalStore {
        let connection = Arc::new(StoreConnection {
            server: Arc::clone(&self.server),
            instance: self.name,
            reactions_of,
        });
        let events = PersonalEvents::select(&[EventDescriptor::of::<OwnerNamedEvent>()]);
        let keys: Arc<SimulatedKeyStore> = Arc::clone(&self.keys);
        PersonalStore::new(connection, events, PersonKeys::new(keys))
    }

    /// Lets an operator erase a person, and does not wait for the end.
    pub(super) fn begin_erasure(&self, person: Uuid) {
        if let Some(process) = lock(&self.process).as_mut() {
            let personal = process.personal.clone();
            let erasing = tokio::spawn(async move { personal.erase(person).await.map(drop) });
            process.tasks.push(erasing.abort_handle());
            self.environment
                .record_trace(self.name, format_args!("begins to erase {person}"));
        }
    }

    /// Kills the process. Its database is lost with it, or it is kept.
    pub(super) fn kill(&self, keeps_database: bool) {
        let Some(process) = lock(&self.process).take() else {
            return;
        };
        process.tasks.iter().for_each(AbortHandle::abort);
        if !keeps_database {
            *lock(&self.database) = None;
        }
        let database = if keeps_database { "keeps" } else { "loses" };
        self.environment.record_trace(
            self.name,
            format_args!("is killed and {database} its database"),
        );
        let (process, at) = (process.number, self.environment.elapsed());
        lock(&self.kills).push(ProcessKill { process, at });
    }

    /// Changes the tasks of reactions as a crash with the defect of the run does.
    pub(super) async fn lose_tasks(&self) {
        let defect = self.environment.defect;
        let losing = lose_tasks(&self.state, defect, self.clock.now());
        if let Err(error) = losing.await {
            self.environment.record_trace(self.name, error);
        }
    }

    /// Sends a command to the process, and waits for its answer at most this long.
    pub(super) async fn send_command(
        &self,
        command: CommandDescriptor,
        body: Vec<u8>,
        idempotency_key: Option<IdempotencyKey>,
        patience: Duration,
    ) -> RequestAnswer {
        let Some(command_resources) = lock(&self.process)
            .as_ref()
            .map(|process| process.command_resources.clone())
        else {
            return RequestAnswer::ConnectionRefused;
        };
        let handling = tokio::spawn(async move {
            let context = CommandContext {
                idempotency_key,
                ..CommandContext::default()
            };
            let request = CommandRequest {
                body: &body,
                path_parameters: &[],
                context: &context,
            };
            command.execute(&command_resources, request).await
        });
        let connection = handling.abort_handle();
        if let Some(process) = lock(&self.process).as_mut() {
            process.tasks.push(connection.clone());
        }
        match tokio::time::timeout(patience, handling).await {
            Ok(Ok(result)) => RequestAnswer::Handled(Box::new(result)),
            Ok(Err(_)) => RequestAnswer::ConnectionLost,
            Err(_) => {
                // The server drops a request whose client is gone.
                connection.abort();
                RequestAnswer::ConnectionLost
            }
        }
    }

    /// Returns all rows once they contain an event, or nothing if that takes longer than `limit`.
    pub(super) async fn wait_for_rows<R: Project>(
        &self,
        event: Option<EventId>,
        limit: Duration,
    ) -> Option<Vec<R>> {
        let _turn = self.reader.lock().await;
        let (positions, database) = {
            let process = lock(&self.process);
            let process = process.as_ref()?;
            (process.positions.clone(), process.database.clone())
        };
        positions.wait_until_reached(&[], event, limit).await.ok()?;
        let context = QueryContext::new(&database, PageParameters::default(), self.clock.now());
        let rows = context.rows::<R>().all(1_000).await.ok()?;
        // The connection to a process that was killed meanwhile is lost.
        self.is_running().then_some(rows)
    }

    /// Lets an operator rebuild the read model.
    pub(super) async fn rebuild_read_model(&self) {
        let operator = lock(&self.process)
            .as_ref()
            .map(|process| process.operator.clone());
        if let Some(operator) = operator {
            self.environment
                .record_trace(self.name, "rebuilds its read model");
            let _ = operator
                .send_command("simulated_wallets", OperatorCommand::Rebuild)
                .await;
        }
    }

    /// Describes work that is not done yet.
    pub(super) fn find_unfinished_work(&self, last: Option<EventId>) -> Option<String> {
        let process = lock(&self.process);
        let Some(process) = process.as_ref() else {
            return Some(format!("{} does not run", self.name));
        };
        for progress in process.positions.iter() {
            let (name, position) = (progress.name(), progress.position());
            if position < last || progress.shadow_progress().is_some() {
                let trouble = progress.state();
                return Some(format!(
                    "{} projects {name} up to {position:?}: {trouble:?}",
                    self.name
                ));
            }
        }
        // The one that stands by sees the saved positions.
        let is_behind = |progress: &SubscriberProgress| {
            !progress.has_caught_up() || process.state.is_owner() && progress.position() < last
        };
        let mut reactions = process.reactions.iter();
        let progress = reactions.find(|progress| is_behind(progress))?;
        let name = progress.name();
        Some(format!("{} reacts in {name} up to {progress:?}", self.name))
    }

    /// Returns true if its process runs the reactions.
    pub(super) fn runs_reactions(&self) -> bool {
        let process = lock(&self.process);
        process
            .as_ref()
            .is_some_and(|process| process.state.is_owner())
    }

    /// Describes a task of a reaction that is due and not executed.
    pub(super) async fn find_open_task(&self) -> Result<Option<String>, StateError> {
        let now = self.clock.now();
        let reactions = lock(&self.process)
            .as_ref()
            .map(|process| process.reactions.clone());
        for name in wallet_reactions::NAMES {
            // A schedule that has not started has no task.
            let progress = reactions
                .as_ref()
                .and_then(|all| all.find_progress(name).cloned());
            let published = progress.and_then(|progress| progress.open_deadlines().next);
            let ready = self.state.count_ready(name).await?;
            let failed = self.state.failed_tasks(name).await?;
            let next = self.state.open_deadlines(name).await?.next;
            let next = next.into_iter().chain(published).min();
            if ready > 0 || !failed.is_empty() || next.is_some_and(|next| next <= now) {
                return Ok(Some(format!(
                    "{name} has {ready} tasks, {next:?} and {failed:?}"
                )));
            }
        }
        Ok(None)
    }
}
