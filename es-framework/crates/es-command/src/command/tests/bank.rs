//! Test support: a bank, whose transfers read two accounts.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use futures_util::TryStreamExt as _;
use serde_json::json;

use crate::command::{
    CommandContext, CommandDescriptor, CommandError, CommandOutcome, CommandRequest,
    CommandResources, Handle,
};
use crate::prelude::*;
use es_event::{EventCandidate, RecordedEvent, Subject};
use es_store::{
    AppendError, EventLog as _, ForwardingLog, Precondition, ReadOptions, memory::MemoryStore,
};

#[derive(Command)]
#[command(subject = "/accounts/{id}", condition = pristine)]
pub(super) struct OpenAccountCommand {
    id: u32,
    cents: u64,
}

#[derive(Event)]
#[event(package = "com.example.bank")]
pub(super) struct AccountOpenedEvent {
    cents: u64,
}

#[handler]
fn open(command: OpenAccountCommand) -> AccountOpenedEvent {
    let cents = command.cents;
    AccountOpenedEvent { cents }
}

/// The balance of an account.
#[derive(State)]
pub(super) struct Account {
    pub(super) cents: u64,
}

#[evolve]
impl Account {
    fn opened(event: &AccountOpenedEvent) -> Self {
        let cents = event.cents;
        Self { cents }
    }

    fn paid_out(&mut self, event: &MoneyPaidOutEvent) {
        self.cents = self.cents.saturating_sub(event.cents);
    }

    fn paid_in(&mut self, event: &MoneyPaidInEvent) {
        self.cents = self.cents.saturating_add(event.cents);
    }
}

#[derive(Command)]
#[command(subject = "/accounts/{from}")]
pub(super) struct TransferMoneyCommand {
    from: u32,
    to: u32,
    cents: u64,
}

#[derive(Event)]
#[event(package = "com.example.bank")]
pub(super) struct MoneyPaidOutEvent {
    cents: u64,
}

#[derive(Event)]
#[event(package = "com.example.bank", subject = "/accounts/{to}")]
pub(super) struct MoneyPaidInEvent {
    to: u32,
    cents: u64,
}

#[derive(Event)]
#[event(package = "com.example.bank", subject = "./notes/{to}")]
pub(super) struct NoteTakenEvent {
    to: u32,
    at: Timestamp,
}

#[derive(Debug, Rejection)]
#[rejection(
    conflict,
    name = "too-little-money",
    title = "There is too little money"
)]
pub(super) struct TooLittleMoney;

#[derive(Value)]
pub(super) struct Rest {
    cents: u64,
}

type Transfer = (MoneyPaidOutEvent, MoneyPaidInEvent, NoteTakenEvent);

#[handler]
fn transfer(
    from: &Account,
    #[subject("/accounts/{to}")] _to: &Account,
    command: TransferMoneyCommand,
    clock: &Clock,
) -> Result<Decision<Transfer, Rest>, TooLittleMoney> {
    let TransferMoneyCommand { to, cents, .. } = command;
    let rest = from.cents.checked_sub(cents).ok_or(TooLittleMoney)?;
    let at = clock.now();
    let events = (
        MoneyPaidOutEvent { cents },
        MoneyPaidInEvent { to, cents },
        NoteTakenEvent { to, at },
    );
    Ok(Decision::new(events, Rest { cents: rest }))
}

/// The sum of all balances.
#[derive(State)]
pub(super) struct Vault {
    cents: u64,
}

#[evolve]
impl Vault {
    fn opened(event: &AccountOpenedEvent) -> Self {
        let cents = event.cents;
        Self { cents }
    }

    fn paid_in(&mut self, event: &MoneyPaidInEvent) {
        self.cents = self.cents.saturating_add(event.cents);
    }
}

/// Stores a card of an account that must be there.
#[derive(Command)]
#[command(subject = "/cards/{id}", condition = pristine, exists = "/accounts/{account}")]
pub(super) struct IssueCardCommand {
    id: u32,
    account: u32,
}

#[derive(Event)]
#[event(package = "com.example.bank", from = IssueCardCommand)]
struct CardIssuedEvent {
    account: u32,
}

#[handler]
fn issue_card(command: IssueCardCommand) -> CardIssuedEvent;

#[derive(Command)]
#[command(subject = "/audits/{id}", condition = pristine)]
pub(super) struct AuditCommand {
    id: u32,
}

#[derive(Event)]
#[event(package = "com.example.bank")]
pub(super) struct AuditedEvent {
    cents: Option<u64>,
}

#[handler]
fn audit(
    #[subject("/accounts", recursive)] vault: Option<&Vault>,
    _: AuditCommand,
) -> AuditedEvent {
    let cents = vault.map(|vault| vault.cents);
    AuditedEvent { cents }
}

/// A store in which a rival writes right before the first few appends.
#[derive(Debug, Clone)]
pub(super) struct RivalledStore {
    pub(super) inner: MemoryStore,
    subject: &'static str,
    times: Arc<AtomicUsize>,
    appends: Arc<AtomicUsize>,
}

impl RivalledStore {
    pub(super) fn on(subject: &'static str, times: usize) -> Self {
        Self {
            inner: MemoryStore::new(),
            subject,
            times: Arc::new(times.into()),
            appends: Arc::default(),
        }
    }

    pub(super) fn alone() -> Self {
        Self::on("/", 0)
    }

    pub(super) fn resources(&self) -> CommandResources {
        CommandResources::new(Arc::new(self.clone()), "bank")
    }

    /// The number of attempted appends.
    pub(super) fn appends(&self) -> usize {
        self.appends.load(Ordering::SeqCst)
    }

    pub(super) async fn events(&self) -> Vec<RecordedEvent> {
        let events = self.inner.read(Subject::root(), ReadOptions::recursive());
        events.try_collect().await.unwrap()
    }

    pub(super) async fn types_on(&self, subject: &str) -> Vec<String> {
        let subject: Subject = subject.parse().unwrap();
        let events = self.inner.read(subject, ReadOptions::default());
        let events: Vec<_> = events.try_collect().await.unwrap();
        let names = events.iter().map(|event| event.event_type.as_str());
        let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
        names.map(last).collect()
    }

    async fn rival(&self) {
        let data = json!({"metadata": {}, "payload": {"to": 0, "cents": 1}});
        let rival = EventCandidate {
            source: "rival".into(),
            subject: self.subject.parse().unwrap(),
            event_type: "com.example.bank.MoneyPaidInEvent".parse().unwrap(),
            data: serde_json::value::to_raw_value(&data).unwrap(),
            trace: None,
        };
        self.inner.append(vec![rival], vec![]).await.unwrap();
    }
}

#[async_trait]
impl ForwardingLog for RivalledStore {
    fn inner(&self) -> MemoryStore {
        self.inner.clone()
    }

    async fn append_events(
        &self,
        candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        self.appends.fetch_add(1, Ordering::SeqCst);
        let left = |left: usize| left.checked_sub(1);
        let order = Ordering::SeqCst;
        if self.times.fetch_update(order, order, left).is_ok() {
            self.rival().await;
        }
        self.inner.append(candidates, preconditions).await
    }
}

pub(super) async fn send<C: Handle>(
    resources: &CommandResources,
    body: serde_json::Value,
    context: &CommandContext,
) -> Result<CommandOutcome, CommandError> {
    let body = body.to_string();
    let request = CommandRequest {
        body: body.as_bytes(),
        path_parameters: &[],
        context,
    };
    CommandDescriptor::of::<C>()
        .execute(resources, request)
        .await
}

pub(super) async fn open_account(resources: &CommandResources, id: u32, cents: u64) {
    let body = json!({"id": id, "cents": cents});
    let context = CommandContext::default();
    let opened = send::<OpenAccountCommand>(resources, body, &context).await;
    opened.unwrap();
}

pub(super) async fn transfer_with(
    resources: &CommandResources,
    cents: u64,
    context: &CommandContext,
) -> Result<CommandOutcome, CommandError> {
    let body = json!({"from": 1, "to": 2, "cents": cents});
    send::<TransferMoneyCommand>(resources, body, context).await
}

pub(super) async fn transfer_money(
    resources: &CommandResources,
    cents: u64,
) -> Result<CommandOutcome, CommandError> {
    transfer_with(resources, cents, &CommandContext::default()).await
}

pub(super) fn reply(outcome: &CommandOutcome) -> &str {
    outcome.reply.as_ref().map_or("", |reply| reply.get())
}

/// Two accounts, with 100 cents on the first.
pub(super) async fn two_accounts(store: &RivalledStore) -> CommandResources {
    let undisturbed = CommandResources::new(Arc::new(store.inner.clone()), "bank");
    open_account(&undisturbed, 1, 100).await;
    open_account(&undisturbed, 2, 0).await;
    store.resources()
}
