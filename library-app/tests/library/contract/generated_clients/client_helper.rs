//! The subcommand `client`, which prints the helper in one language.

use std::process::Command;

use crate::support::python_environment::printed;

#[test]
fn a_helper_has_at_most_200_lines() {
    for (language, line) in [
        ("typescript", "export class ServiceConnection {"),
        (
            "python",
            "class ServiceTransport(httpx.AsyncBaseTransport):",
        ),
    ] {
        let (succeeded, helper) = print_client(language);
        assert!(succeeded && helper.contains(line), "{helper}");
        assert!(helper.lines().count() <= 200, "{language}");
    }
}

#[test]
fn a_language_without_a_helper_is_refused_with_the_names_of_the_others() {
    let (succeeded, text) = print_client("cobol");
    let sentence = "there is no client helper for cobol: the languages are typescript and python";
    assert!(!succeeded && text.contains(sentence), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

/// The output of `library-app client`, with its success.
fn print_client(language: &str) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_library-app"));
    // The subcommand needs no data directory.
    command.env("EVENT_STORE_DATA_DIR", "/nowhere");
    let output = command.args(["client", language]).output().unwrap();
    (output.status.success(), printed(&output))
}
