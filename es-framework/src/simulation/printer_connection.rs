//! The other system that reactions call. Its calls take time and fail.

use std::{
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use super::environment::{SimulationEnvironment, lock};
use crate::prelude::*;

/// A call that the printer completed.
#[derive(Debug, Clone)]
pub(super) struct PrintedReceipt {
    pub(super) text: String,
    pub(super) key: String,
    /// The number of the process that made the call.
    pub(super) process: u64,
    pub(super) begun: Duration,
}

/// The connection of one process to the printer.
#[derive(Debug, Service)]
pub(super) struct PrinterConnection {
    environment: Arc<SimulationEnvironment>,
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
        environment: Arc<SimulationEnvironment>,
        instance: &'static str,
        process: u64,
        printed: Arc<Mutex<Vec<PrintedReceipt>>>,
    ) -> Self {
        Self {
            environment,
            instance,
            process,
            printed,
        }
    }

    pub(super) async fn print(&self, text: String, key: &str) -> Result<(), PrinterFailure> {
        let environment = &self.environment;
        let begun = environment.elapsed();
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
        });
        Ok(())
    }
}
