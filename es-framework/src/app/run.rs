//! Runs an application as a program: reads the command line, starts the log, and serves until a
//! signal stops it.

use std::time::Duration;

use clap::FromArgMatches as _;
use es_net::{hide_secrets_in_error, start_server_runtime};
use es_store::max_inline_reads;

use super::{
    App, Application,
    command_line::{build_command, run_subcommand},
    event_import,
    listener::listen,
};
use crate::{
    Error, Result,
    config::{Settings, SettingsArguments},
    metrics,
    telemetry::Telemetry,
};

impl App {
    /// Reads the settings from the command line and the environment, and serves until SIGINT or
    /// SIGTERM stops the application. `--help` and a wrong setting end the process. If
    /// [`App::settings`] was called, the command line takes no flags for the framework's settings.
    ///
    /// # Errors
    /// One sentence on the reason why the application cannot start.
    pub fn run(mut self) -> Result<()> {
        let settings = self.settings.take();
        let store = self.event_store.take();
        let mut declarations = self.into_declarations()?;
        let declared = declarations.unprovided_settings();
        let mut command = build_command(&declarations, settings.is_none(), &declared)?;
        let matches = command.try_get_matches_from_mut(std::env::args_os());
        let matches = matches.unwrap_or_else(|error| hide_secrets_in_error(error, &command).exit());
        if let Some(result) = run_subcommand(&matches, &declarations) {
            return result;
        }
        let settings = settings.unwrap_or_else(|| from_command_line(&matches));
        for declared in declared {
            let provided = (declared.provide)(&matches, declarations.services);
            declarations.services = provided.unwrap_or_else(|error| error.exit());
        }
        declarations.check_services()?;
        settings.check(store.is_some())?;
        if let Some(arguments) = event_import::find_arguments(&matches) {
            let runtime = start_server_runtime(max_inline_reads())
                .map_err(|error| Error::because("the asynchronous runtime cannot start", error))?;
            let import = event_import::import_events(&declarations, &settings, store, &arguments);
            return runtime.block_on(import);
        }
        let telemetry = Telemetry::start(declarations.name, &settings.telemetry_settings())?;
        metrics::install();
        let runtime = start_server_runtime(max_inline_reads())
            .map_err(|error| Error::because("the asynchronous runtime cannot start", error))?;
        let result = runtime.block_on(async {
            let address = (settings.http_host, settings.http_port).into();
            settings.check_authentication(declarations.name)?;
            // A second start on the same port ends before it opens anything.
            let listener = listen(address, "HTTP_PORT").await?;
            let application = Application::build(declarations, settings, store).await?;
            application.serve(listener).await
        });
        // The shutdown waits at most a second for a thread that is still busy with the disk.
        runtime.shutdown_timeout(Duration::from_secs(1));
        telemetry.shut_down();
        result
    }
}

fn from_command_line(matches: &clap::ArgMatches) -> Settings {
    let arguments = SettingsArguments::from_arg_matches(matches);
    arguments.unwrap_or_else(|error| error.exit()).into()
}
