//! The other system that reactions call. Its calls take time and fail.

use std::{
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use super::{environment::lock, simulated_store::StoreServer};
use crate::prelude::*;

/// A call that the printer completed.
#[derive(Debug, Clone)]
pub(super) struct PrintedReceipt {
    pub(super) text: String,
    pub(super) key: String,
    /// The number of the process that made the call.
    pub(super) process: u64,
    pub(super) begun: Duration,
    /// The number of durable events when the call began.
    pub(super) durable: u64,
}

/// The connection of one process to the printer.
#[derive(Debug, Service)]
pub(super) struct PrinterConnection {
    server: Arc<StoreServer>,
    instance: &'static str,
    process: u64,
    printed: Arc<Mutex<Vec<PrintedReceipt>>>,
}

/// The printer refused a call, and printed nothing.
#[derive(Debug)]
pub(super) struct PrinterFailure;

impl fmt::Display for PrinterFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the printer is out of paper")
    }
}

impl PrinterConnection {
    pub(super) fn new(
        server: Arc<StoreServer>,
        instance: &'static str,
        process: u64,
        printed: Arc<Mutex<Vec<PrintedReceipt>>>,
    ) -> Self {
        Self {
            server,
            instance,
            process,
            printed,
        }
    }

    pub(super) async fn print(&self, text: String, key: &str) -> Result<(), PrinterFailure> {
        let environment = &self.server.environment;
        let (begun, durable) = (environment.elapsed(), self.server.event_count());
        if environment.random_bool(environment.faults().hanging_call) {
            environment.sleep_randomly(100_000, 100_000).await
        }
        if environment.random_bool(environment.faults().slow_call) {
            environment.sleep_randomly(500, 5_000).await
        } else {
            environment.sleep_randomly(0, 5).await
        }
        if environment.random_bool(environment.faults().failed_call) {
            environment.record_trace(self.instance, format_args!("cannot print {text}"));
            return Err(PrinterFailure);
        }
        environment.record_trace(self.instance, format_args!("prints {text}"));
        lock(&self.printed).push(PrintedReceipt {
            text,
            key: key.to_owned(),
            process: self.process,
            begun,
            durable,
        });
        Ok(())
    }
}
