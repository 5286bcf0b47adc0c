//! Tests of the macros: see `ui`, `expansion`, `outside` and `tests`. The Rust
//! code of the README and the book is compiled and run here, too.

#[cfg(doctest)]
mod documentation {
    macro_rules! pages {
        ($($name:ident: $page:literal),* $(,)?) => {
            $(#[doc = include_str!(concat!("../../", $page))] struct $name;)*
        };
    }

    pages! {
        Readme: "README.md",
        Tutorial: "docs/src/tutorial.md",
        State: "docs/src/how-to/state.md",
        SeveralSubjects: "docs/src/how-to/several-subjects.md",
        Subjects: "docs/src/how-to/subjects.md",
        Reject: "docs/src/how-to/reject.md",
        Validate: "docs/src/how-to/validate.md",
        Reply: "docs/src/how-to/reply.md",
        SettingsAndServices: "docs/src/how-to/settings-and-services.md",
        ExtendTheApp: "docs/src/how-to/extend-the-app.md",
        Metadata: "docs/src/how-to/metadata.md",
        Concurrency: "docs/src/how-to/concurrency.md",
        Test: "docs/src/how-to/test.md",
        ChangeAnEvent: "docs/src/how-to/change-an-event.md",
        CorrectData: "docs/src/how-to/correct-data.md",
        Import: "docs/src/how-to/import.md",
        ReadModel: "docs/src/how-to/read-model.md",
        Query: "docs/src/how-to/query.md",
        Money: "docs/src/how-to/money.md",
        LocalTime: "docs/src/how-to/local-time.md",
        React: "docs/src/how-to/react.md",
        Publish: "docs/src/how-to/publish.md",
        TellAnotherSystem: "docs/src/how-to/tell-another-system.md",
        Schedule: "docs/src/how-to/schedule.md",
        Webhooks: "docs/src/how-to/webhooks.md",
        ForgetAPerson: "docs/src/how-to/forget-a-person.md",
        UniqueValues: "docs/src/how-to/unique-values.md",
        OwnData: "docs/src/how-to/own-data.md",
        Secure: "docs/src/how-to/secure.md",
        Rebuild: "docs/src/how-to/rebuild.md",
        DescribeAService: "docs/src/how-to/describe-a-service.md",
        Macros: "docs/src/reference/macros.md",
    }
}
