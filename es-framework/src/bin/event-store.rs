//! The event store as a program of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    es_framework::server::cli::main()
}
