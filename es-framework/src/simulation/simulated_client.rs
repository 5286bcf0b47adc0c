//! A client that sends commands to any instance, repeats those that are safe to repeat, and reads what
//! it wrote.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use super::{
    environment::{SimulationEnvironment, lock},
    operation::{Attempt, AttemptResult, ClientOperation, OperationRecord, WALLETS},
    simulated_instance::{RequestAnswer, SimulatedInstance},
    simulated_store::StoreServer,
    wallet_domain::WalletRow,
};
use crate::{
    command::{CommandError, CommandOutcome, IdempotencyKey},
    event::EventId,
    store::StoreError,
};

/// The highest number of attempts for one operation.
const ATTEMPTS: usize = 12;

/// The results that the clients of a run have seen.
#[derive(Debug, Default)]
pub(super) struct SeenResults {
    pub(super) operations: Mutex<Vec<OperationRecord>>,
    pub(super) reads: Mutex<Vec<ReadRecord>>,
}

/// The rows that a client read after its own write.
#[derive(Debug, Clone)]
pub(super) struct ReadRecord {
    pub(super) operation: u32,
    /// The event that the rows had to reflect.
    pub(super) after: Option<EventId>,
    /// The number of events in the store after the answer arrived.
    pub(super) length_after: u64,
    pub(super) rows: Vec<WalletRow>,
}

/// One client of a run.
#[derive(Debug)]
pub(super) struct SimulatedClient {
    pub(super) number: u32,
    pub(super) environment: Arc<SimulationEnvironment>,
    pub(super) server: Arc<StoreServer>,
    pub(super) instances: Arc<[SimulatedInstance]>,
    pub(super) history: Arc<SeenResults>,
}

impl SimulatedClient {
    /// Carries out so many operations. The first two open and fill a wallet, and all clients want the same badge then.
    pub(super) async fn run_operations(self, operations: u32) {
        let id = self.number % u32::try_from(WALLETS).unwrap_or(1);
        for index in 0..operations {
            let operation = match index {
                0 => ClientOperation::OpenWallet { id },
                1 => ClientOperation::FillWallet { id, amount: 40 },
                2 => ClientOperation::WearBadge { id, badge: 0 },
                _ => ClientOperation::sample(&self.environment),
            };
            self.carry_out(self.number * 100 + index, operation).await;
            if !self
                .environment
                .random_bool(self.environment.faults().eager_client)
            {
                self.environment.sleep_randomly(0, 500).await;
            }
        }
    }

    async fn carry_out(&self, number: u32, operation: ClientOperation) {
        let environment = &self.environment;
        // Only a key tells a tip from the tip of another client.
        let has_key =
            matches!(operation, ClientOperation::TipWallet { .. }) || environment.random_bool(800);
        let key: Option<IdempotencyKey> = if has_key {
            format!("operation-{number}").parse().ok()
        } else {
            None
        };
        let mut attempts = Vec::new();
        while attempts.len() < ATTEMPTS {
            let attempt = self.attempt(number, operation, key.clone()).await;
            let result = attempt.result.clone();
            attempts.push(attempt);
            match result {
                AttemptResult::Acknowledged { position, .. } => {
                    self.read_own_write(number, position).await;
                    break;
                }
                AttemptResult::Refused(_) => break,
                // Repeating it could carry it out twice.
                AttemptResult::Unknown if key.is_none() => break,
                AttemptResult::Unknown | AttemptResult::NotDone => {
                    environment.sleep_randomly(20, 900).await
                }
            }
        }
        lock(&self.history.operations).push(OperationRecord {
            number,
            operation,
            attempts,
        });
    }

    async fn attempt(
        &self,
        number: u32,
        operation: ClientOperation,
        key: Option<IdempotencyKey>,
    ) -> Attempt {
        let environment = &self.environment;
        let who = format!("client {}", self.number);
        let instance = self.draw_instance();
        let patience = if environment.random_bool(environment.faults().lost_client) {
            Duration::from_millis(environment.random_between(1, 100))
        } else {
            Duration::from_secs(30)
        };
        let retry = if key.is_some() {
            "may repeat"
        } else {
            "sends once"
        };
        let to = instance.name;
        environment.record_trace(
            &who,
            format_args!("{retry} {number} to {to}: {operation:?}"),
        );
        let length_before = self.server.event_count();
        let result = match operation.encode_request(number) {
            Ok((command, body)) => {
                let answer = instance.send_command(command, body, key, patience).await;
                attempt_result(answer)
            }
            Err(error) => AttemptResult::Refused(error.to_string()),
        };
        environment.record_trace(&who, format_args!("{number} is {result:?}"));
        Attempt {
            length_before,
            length_after: self.server.event_count(),
            result,
        }
    }

    fn draw_instance(&self) -> &SimulatedInstance {
        let index = usize::try_from(self.environment.random_below(2)).unwrap_or_default();
        &self.instances[index]
    }

    /// Reads the rows that contain an event, from any instance.
    async fn read_own_write(&self, operation: u32, after: Option<EventId>) {
        if !self.environment.random_bool(300) {
            return;
        }
        let instance = self.draw_instance();
        let rows = instance
            .wait_for_rows::<WalletRow>(after, Duration::from_secs(2))
            .await;
        let Some(rows) = rows else {
            return;
        };
        let (name, count) = (instance.name, rows.len());
        let who = format!("client {}", self.number);
        self.environment.record_trace(
            who,
            format_args!("reads {count} rows from {name} after {after:?}"),
        );
        lock(&self.history.reads).push(ReadRecord {
            operation,
            after,
            length_after: self.server.event_count(),
            rows,
        });
    }
}

fn attempt_result(answer: RequestAnswer) -> AttemptResult {
    let result = match answer {
        RequestAnswer::ConnectionRefused => return AttemptResult::NotDone,
        RequestAnswer::ConnectionLost => return AttemptResult::Unknown,
        RequestAnswer::Handled(result) => *result,
    };
    match result {
        Ok(CommandOutcome {
            position, latest, ..
        }) => AttemptResult::Acknowledged { position, latest },
        Err(CommandError::Unknown { .. }) => AttemptResult::Unknown,
        Err(
            CommandError::Contended(_)
            | CommandError::Store(StoreError::Unavailable { .. } | StoreError::KeyStore(_)),
        ) => AttemptResult::NotDone,
        Err(CommandError::Rejected(rejection)) => {
            AttemptResult::Refused(format!("{}: {rejection}", rejection.name()))
        }
        Err(error) => AttemptResult::Refused(error.to_string()),
    }
}
