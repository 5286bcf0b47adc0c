//! Tests of the settings on the command line.

use clap::{CommandFactory as _, FromArgMatches as _};

use super::*;
use crate::{config::Settings, event::Dialect};

#[test]
fn the_command_line_and_the_code_have_the_same_defaults() {
    let command = SettingsArguments::command().mut_args(|argument| argument.env(None::<&str>));
    let matches = command.try_get_matches_from(["library-app"]).unwrap();
    let arguments = SettingsArguments::from_arg_matches(&matches).unwrap();
    assert_eq!(
        format!("{:?}", Settings::from(arguments)),
        format!("{:?}", Settings::default())
    );
}

#[test]
fn the_defaults_are_those_of_the_specification() {
    let settings = Settings::default();
    assert_eq!(
        (settings.http_port, settings.event_store_port),
        (8080, 3000)
    );
    assert!(settings.http_host.is_loopback());
    assert_eq!(settings.event_store_dialect, Dialect::Item);
}

#[test]
fn examples_are_for_developers_and_not_for_operators() {
    let help = SettingsArguments::command().render_long_help().to_string();
    assert!(help.starts_with("An event-sourced application."), "{help}");
    assert!(!help.contains("```"), "{help}");
}

#[test]
fn a_wrong_value_names_the_setting() {
    let line = ["library-app", "--http-port", "70000"];
    let error = SettingsArguments::try_parse_from(line).unwrap_err();
    assert!(error.to_string().contains("--http-port"), "{error}");
}

#[test]
fn a_limit_of_none_stops_the_start() {
    let line = ["library-app", "--http-body-limit", "0"];
    let error = SettingsArguments::try_parse_from(line).unwrap_err();
    assert!(error.to_string().contains("--http-body-limit"), "{error}");
}
