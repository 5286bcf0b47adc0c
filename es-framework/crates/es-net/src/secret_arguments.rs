//! Keeps secrets out of the errors of the command line. clap repeats the value that it refuses.

use clap::{
    Arg, Command, Error,
    error::{ContextKind, ContextValue, ErrorKind},
};

const HIDDEN: &str = "***";

/// Hides the values of an error that may be secret: those of arguments with `hide_env_values`, and
/// words that belong to no argument and look neither like a flag nor like a subcommand. Such a word may be a part of a
/// password with a space.
#[doc(hidden)]
#[must_use]
pub fn hide_secrets_in_error(mut error: Error, command: &Command) -> Error {
    let is_stray = matches!(
        error.kind(),
        ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand
    );
    for kind in [ContextKind::InvalidArg, ContextKind::InvalidSubcommand] {
        let Some(ContextValue::String(text)) = error.get(kind) else {
            continue;
        };
        if is_stray && !is_plain_word(text) {
            let _ = error.insert(kind, ContextValue::String(HIDDEN.into()));
        } else if is_secret(text, command) && error.get(ContextKind::InvalidValue).is_some() {
            let hidden = ContextValue::String(HIDDEN.into());
            let _ = error.insert(ContextKind::InvalidValue, hidden);
        }
    }
    error
}

/// Returns whether a word could be a flag or the misspelt name of a subcommand.
fn is_plain_word(word: &str) -> bool {
    let (is_flag, name) = match word.strip_prefix("--") {
        Some(name) => (true, name),
        None => (false, word),
    };
    let longest = if is_flag { 64 } else { 24 };
    name.len() <= longest
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

/// Returns whether an argument, as clap writes it, has a secret value: `--database-url <URL>`.
fn is_secret(argument: &str, command: &Command) -> bool {
    let is_named = |known: &Arg| {
        let flag = argument.split([' ', '=']).next().unwrap_or_default();
        known.get_long().is_some_and(|long| {
            flag.strip_prefix("--") == Some(long) && known.is_hide_env_values_set()
        })
    };
    command.get_arguments().any(is_named)
        || command
            .get_subcommands()
            .any(|subcommand| is_secret(argument, subcommand))
}

#[cfg(test)]
mod tests {
    use clap::value_parser;

    use super::*;

    fn clap_command() -> Command {
        let url = Arg::new("url").long("url").value_parser(["known"]);
        let token = Arg::new("token")
            .long("token")
            .value_parser(value_parser!(u8));
        Command::new("app")
            .arg(url.hide_env_values(true))
            .arg(
                Arg::new("port")
                    .long("port")
                    .value_parser(value_parser!(u16)),
            )
            .subcommand(Command::new("token").arg(token.hide_env_values(true)))
    }

    fn refusal(arguments: &[&str]) -> String {
        let line = [&["app"], arguments].concat();
        let error = clap_command().try_get_matches_from(line).unwrap_err();
        hide_secrets_in_error(error, &clap_command()).to_string()
    }

    #[test]
    fn a_secret_value_is_hidden_and_others_are_shown() {
        for secret in [
            &["--url", "mysql://ada:hunter2@db"][..],
            &["--url=mysql://ada:hunter2@db"],
            &["token", "--token", "hunter2"],
            &["mysql://ada:hunter2@db"],
            &["--url", "known", "hunter2 b"],
            &["--url", "known", "hunter2"],
            &["--ulr=mysql://ada:hunter2@db"],
            &["-hunter2"],
        ] {
            let text = refusal(secret);
            assert!(!text.contains("hunter2"), "{secret:?}: {text}");
        }
        assert!(refusal(&["--url", "other"]).contains("'***' for '--url <url>'"));
        assert!(refusal(&["--port", "70000"]).contains("'70000' for '--port <port>'"));
        assert!(refusal(&["tokne"]).contains("'tokne'"));
        assert!(refusal(&["--prot=1"]).contains("'--prot'"));
    }
}
