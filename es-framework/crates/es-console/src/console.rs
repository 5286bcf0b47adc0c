//! The console's view of an application: what its pages read.

use std::{sync::Arc, time::Duration};

use es_catalog::model::{ApplicationModel, ModelNode, NodeKind};
use es_command::state::{Snapshots, StateDescriptor};
use es_event::{EventId, Subject, Upcasters, personal::KEYWORD, subject_template::fits};
use es_eventql::QueryLimits;
use es_net::{ApiToken, KeyedRateLimiter};
use es_personal::PersonalData;
use es_read::projection::{Database, ReadModels};
use es_store::{EventLog, StoreCatalog};
use es_subscribe::{
    ProgressRegistry,
    operator::{ComponentKind, OperatorClient},
};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::{
    console_link::ConsoleLink,
    session::{SessionLog, Sessions},
};

/// The highest number of pages that are built at the same time.
const PAGES: usize = 4;
/// The highest number of live event streams that are open at the same time.
const STREAMS: usize = 16;
/// The highest number of EventQL queries that run at the same time.
pub(crate) const QUERIES: usize = 2;
/// Time that a request for a page or a query waits for its turn.
const PAGE_WAIT: Duration = Duration::from_secs(5);

/// The parts of an application that the console shows.
#[derive(Debug)]
pub struct Console {
    /// The application's name.
    pub name: &'static str,
    /// The event store. Personal values are not shown.
    pub store: Arc<dyn EventLog>,
    /// The event store of which states are made. Personal values read as their replacements.
    pub state_store: Arc<dyn EventLog>,
    /// The catalog of the event store.
    pub catalog: Arc<dyn StoreCatalog>,
    /// The upcasters of old events.
    pub upcasters: Upcasters,
    /// The model of the application.
    pub model: ApplicationModel,
    /// The states of each subject.
    pub states: Vec<DeclaredState>,
    /// The snapshots of the states.
    pub snapshots: Option<Snapshots>,
    /// The limits of an EventQL query.
    pub query_limits: QueryLimits,
    /// The positions of the read models.
    pub read_models: ProgressRegistry,
    /// The declared read models.
    pub models: ReadModels,
    /// The database of the read models.
    pub database: Database,
    /// The progress of the reactions.
    pub reactions: ProgressRegistry,
    /// Sends commands to read models.
    pub read_model_operator: OperatorClient,
    /// Sends commands to reactions.
    pub reaction_operator: OperatorClient,
    /// The ends of the sessions of browsers.
    pub session_log: SessionLog,
    /// The link that opens the console to a browser, if the application is open on this machine alone.
    pub link: Option<ConsoleLink>,
    /// The credential of operators. Without it, nobody is an operator.
    pub operator_token: Option<ApiToken>,
    /// Finds and erases the personal data of people, if events hold some.
    pub personal_data: Option<PersonalData>,
    /// True if browsers reach the application by TLS only.
    pub is_tls: bool,
    /// Cancelled when the application shuts down, which ends the streams.
    pub shutdown: CancellationToken,
}

impl Console {
    /// Returns the fixed beginning of the first command's subject, such as `/books`, or an empty text.
    pub(crate) fn example_subject(&self) -> &str {
        let commands = self.commands();
        let first = commands.first().and_then(|first| first.subject.as_deref());
        fixed_head(first.unwrap_or_default())
    }

    /// Returns the fixed beginning of the first subject that ends with the id of a person, or an empty text.
    pub(crate) fn example_person(&self) -> &str {
        fixed_head(find_person_template(&self.model).unwrap_or_default())
    }

    /// Returns the progress of all components of a kind.
    pub(crate) const fn components(&self, kind: ComponentKind) -> &ProgressRegistry {
        match kind {
            ComponentKind::ReadModel => &self.read_models,
            ComponentKind::Reaction => &self.reactions,
        }
    }
}

/// Returns the fixed beginning of the template of a subject.
fn fixed_head(template: &str) -> &str {
    let end = template.find("/{").unwrap_or(template.len());
    template.get(..end).unwrap_or(template)
}

/// Returns the template of the subject of the first event that ends with the member that names its person.
fn find_person_template(model: &ApplicationModel) -> Option<&str> {
    let of_person = |node: &ModelNode| {
        let member = node.subject.as_deref()?.rsplit_once("/{")?.1.to_owned();
        let schema = node.schema.as_ref()?.get("properties")?.as_object()?;
        let of = |property: &Value| {
            property.get(KEYWORD).and_then(Value::as_str) == member.strip_suffix('}')
        };
        Some(node.kind == NodeKind::Event && schema.values().any(of))
    };
    let mut nodes = model.nodes.iter();
    nodes
        .find(|node| of_person(node) == Some(true))?
        .subject
        .as_deref()
}

/// A state that a command's handler takes, and the subjects that have it.
#[derive(Debug, Clone, Copy)]
pub struct DeclaredState {
    /// The state's type.
    pub descriptor: StateDescriptor,
    /// The template of its subject, such as `/books/{id}`.
    pub template: &'static str,
    /// True if the state includes the events of the subjects below.
    pub recursive: bool,
}

impl Console {
    /// Returns the states that a subject has.
    pub(crate) fn states_of(&self, subject: &Subject) -> Vec<DeclaredState> {
        let has_state = |state: &&DeclaredState| fits(state.template, subject);
        self.states.iter().filter(has_state).copied().collect()
    }

    /// Returns the last event of the snapshot of a state, if there is one.
    pub(crate) async fn last_event_of_snapshot(
        &self,
        subject: &Subject,
        state: DeclaredState,
    ) -> Option<EventId> {
        let snapshots = self.snapshots.as_ref()?;
        let (module, name) = (state.descriptor.declaration.module, state.descriptor.name);
        let event = snapshots.load_last_event_id(module, name, subject, state.recursive);
        event.await
    }

    /// Returns the commands, first those that clients can send.
    pub(crate) fn commands(&self) -> Vec<&ModelNode> {
        let mut commands: Vec<_> = self.declarations(NodeKind::Command).collect();
        commands.sort_by_key(|one| (one.route.is_none(), &one.subject, &one.name));
        commands
    }

    /// Returns the commands about a subject.
    pub(crate) fn commands_of(&self, subject: &Subject) -> Vec<&ModelNode> {
        let mut commands = self.commands();
        let is_about = |template: &String| fits(template, subject);
        commands.retain(|command| command.subject.as_ref().is_some_and(is_about));
        commands
    }

    /// Returns the declared event types.
    pub(crate) fn event_types(&self) -> Vec<&str> {
        let events = self.declarations(NodeKind::Event);
        events.map(|event| event.name.as_str()).collect()
    }

    fn declarations(&self, kind: NodeKind) -> impl Iterator<Item = &ModelNode> {
        let nodes = self.model.nodes.iter();
        nodes.filter(move |node| node.kind == kind)
    }
}

/// The shared state of all routes of the console.
#[derive(Debug, Clone)]
pub(crate) struct ConsoleState {
    pub(crate) console: Arc<Console>,
    pub(crate) sessions: Arc<Sessions>,
    /// Slows down those who guess the API token.
    pub(crate) credentials: KeyedRateLimiter,
    pub(crate) permits: ConsolePermits,
}

/// The permits of the console: for pages that are built, for streams that are open and for queries that run.
#[derive(Debug, Clone)]
pub(crate) struct ConsolePermits {
    pages: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    queries: Arc<Semaphore>,
}

impl Default for ConsolePermits {
    fn default() -> Self {
        Self {
            pages: Arc::new(Semaphore::new(PAGES)),
            streams: Arc::new(Semaphore::new(STREAMS)),
            queries: Arc::new(Semaphore::new(QUERIES)),
        }
    }
}

impl ConsolePermits {
    /// Waits for the right to build a page, for a limited time.
    pub(crate) async fn acquire_page(&self) -> Option<OwnedSemaphorePermit> {
        acquire(&self.pages).await
    }

    /// Waits for the right to run an EventQL query, for a limited time.
    pub(crate) async fn acquire_query(&self) -> Option<OwnedSemaphorePermit> {
        acquire(&self.queries).await
    }

    /// Acquires the right to open a stream, unless too many are open.
    pub(crate) fn acquire_stream(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.streams).try_acquire_owned().ok()
    }
}

async fn acquire(permits: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    let permit = Arc::clone(permits).acquire_owned();
    tokio::time::timeout(PAGE_WAIT, permit).await.ok()?.ok()
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn one_query_too_many_waits() {
        let permits = ConsolePermits::default();
        let (first, second) = (permits.acquire_query().await, permits.acquire_query().await);
        assert!(first.is_some() && second.is_some());
        assert!(permits.acquire_query().now_or_never().is_none());
        drop(second);
        assert!(permits.acquire_query().await.is_some());
    }

    #[test]
    fn an_event_with_personal_data_tells_the_subjects_of_people() {
        let event = |subject: &str, schema: Value| -> ModelNode {
            serde_json::from_value(json!({
                "id": subject, "kind": "event", "name": subject, "subject": subject, "summary": "",
                "documentation": "", "route": null, "roles": [], "package": "clinic", "file": "",
                "line": 1, "schema": schema,
            }))
            .unwrap()
        };
        let name = json!({ "properties": { "name": { "type": "string", "x-personal": "id" } } });
        let model = ApplicationModel {
            nodes: vec![
                event("/doctors/{id}", json!({ "properties": {} })),
                event(
                    "/clubs/{id}",
                    json!({ "properties": { "name": { "x-personal": "contact" } } }),
                ),
                event("/patients/{id}", name),
            ],
            ..ApplicationModel::default()
        };
        let template = find_person_template(&model).unwrap();
        assert_eq!(fixed_head(template), "/patients");
        assert_eq!(find_person_template(&ApplicationModel::default()), None);
    }
}
