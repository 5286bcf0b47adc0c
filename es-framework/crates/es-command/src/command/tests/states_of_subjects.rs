//! Decisions over the states of subjects that a function of the command names.

use std::ops::RangeInclusive;

use serde_json::json;

use super::bank::{Account, RivalledStore, reply, send, two_accounts};
use crate::command::{CommandContext, CommandError, CommandOutcome, CommandResources};
use crate::prelude::*;

/// Closes the accounts of a range, if they are all empty.
#[derive(Command)]
#[command(subject = "/closings/{id}")]
struct CloseAccountsCommand {
    id: u32,
    first: u32,
    last: u32,
}

impl CloseAccountsCommand {
    fn accounts(&self) -> RangeInclusive<u32> {
        self.first..=self.last
    }
}

#[derive(Event)]
#[event(package = "com.example.bank", subject = "/accounts/{account}")]
struct AccountClosedEvent {
    account: u32,
}

#[derive(Value)]
struct Payout {
    cents: u64,
}

#[handler]
fn close(
    command: CloseAccountsCommand,
    #[subject("/accounts/{account}", account in CloseAccountsCommand::accounts)] accounts: Vec<
        Option<&Account>,
    >,
) -> Decision<Vec<AccountClosedEvent>, Payout> {
    let opened = || command.accounts().zip(&accounts);
    let opened = || opened().filter_map(|(number, account)| Some((number, account.as_ref()?)));
    let cents = opened().map(|(_, account)| account.cents).sum();
    let close = |(account, _)| AccountClosedEvent { account };
    Decision::new(opened().map(close).collect(), Payout { cents })
}

async fn close_accounts(
    resources: &CommandResources,
    last: u32,
) -> Result<CommandOutcome, CommandError> {
    let body = json!({"id": 7, "first": 1, "last": last});
    send::<CloseAccountsCommand>(resources, body, &CommandContext::default()).await
}

#[tokio::test(start_paused = true)]
async fn a_change_of_any_subject_that_the_command_names_leads_to_a_new_decision() {
    for (subject, appends, cents) in [
        ("/accounts/1", 2, 101),
        ("/accounts/2", 2, 101),
        ("/accounts/4", 1, 100),
    ] {
        let store = RivalledStore::on(subject, 1);
        let resources = two_accounts(&store).await;
        let outcome = close_accounts(&resources, 3).await.unwrap();
        assert_eq!(store.appends(), appends, "{subject}");
        assert_eq!(reply(&outcome), json!({"cents": cents}).to_string());
        for subject in ["/accounts/1", "/accounts/2"] {
            let types = store.types_on(subject).await;
            assert_eq!(types.last().unwrap(), "AccountClosedEvent", "{subject}");
        }
        let none: [&str; 0] = [];
        assert_eq!(store.types_on("/accounts/3").await, none);
    }
}

#[tokio::test]
async fn a_command_names_400_subjects_at_most() {
    let store = RivalledStore::alone();
    let resources = two_accounts(&store).await;
    close_accounts(&resources, 400).await.unwrap();
    for last in [401, u32::MAX] {
        match close_accounts(&resources, last).await {
            Err(CommandError::Invalid(violations)) => assert_eq!(
                violations[0].message,
                "the command is about more than 400 subjects: send several commands"
            ),
            other => panic!("{other:?}"),
        }
    }
}
