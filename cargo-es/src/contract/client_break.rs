//! The kinds of changes that break clients, with those that break and the ways out.

/// A kind of change that breaks clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClientBreak {
    OperationRemoved,
    OperationRenamed,
    CredentialRequired,
    RoleRequired,
    MemberRefused,
    MemberRequired,
    ValueRefused,
    ParameterRefused,
    ParameterRequired,
    StatusRemoved,
    SuccessAdded,
    ProblemRemoved,
    FormatRemoved,
    HeaderRemoved,
    MemberRemoved,
    MemberOptional,
    ValueAdded,
}

impl ClientBreak {
    /// Returns the clients that break, and how.
    pub(super) fn client_impact(self) -> &'static str {
        match self {
            Self::OperationRemoved => "every client that calls it gets the status 404 or 405",
            Self::OperationRenamed => {
                "clients that a generator wrote lose the function of this name"
            }
            Self::CredentialRequired => "clients that send none get the status 401",
            Self::RoleRequired => "clients whose token does not allow it get the status 403 or 401",
            Self::MemberRefused => "clients that send it get the status 422",
            Self::MemberRequired => "clients that do not send it get the status 422",
            Self::ValueRefused => "clients that send such a value get the status 422 or 400",
            Self::ParameterRefused => "clients that send it get the status 400",
            Self::ParameterRequired => "clients that do not send it get the status 400",
            Self::StatusRemoved => "clients that wait for this status never see it",
            Self::SuccessAdded => "clients do not know this kind of success",
            Self::ProblemRemoved => "clients that handle this problem never see it",
            Self::FormatRemoved => "clients that ask for this format get another one",
            Self::HeaderRemoved => "clients that read this header do not find it",
            Self::MemberRemoved => "clients that read it do not find it",
            Self::MemberOptional => "clients that read it without a test do not always find it",
            Self::ValueAdded => "clients that know only the earlier values cannot read it",
        }
    }

    /// Returns the ways out, the simplest one first.
    pub(super) fn remedies(self) -> &'static [&'static str] {
        match self {
            Self::OperationRemoved => &[
                "restore it; #[command(path = \"…\")] or #[query(path = \"…\")] keeps a path while the type gets another name",
                "or keep it beside its successor until no client calls it",
            ],
            Self::OperationRenamed => &["restore the type's name and keep the new one for later"],
            Self::CredentialRequired => &[
                "restore the access without a credential, in the application with `role = public`",
            ],
            Self::RoleRequired => &[
                "restore the role in #[command(role = \"…\")] or #[query(role = \"…\")]",
                "or give the new role to the tokens of all clients first",
            ],
            Self::MemberRefused => &[
                "restore the field; an `Option` that the handler ignores is enough",
                "or restore its name with #[serde(rename = \"…\")]",
            ],
            Self::MemberRequired => &[
                "make the field an `Option`",
                "or declare a new command beside this one",
            ],
            Self::ValueRefused => &[
                "restore the type and the rules in #[validate(…)]",
                "or declare a new command beside this one, and let the handler of this one reject what is wrong today",
            ],
            Self::ParameterRefused => &["restore the field of the query"],
            Self::ParameterRequired => &["make the field of the query an `Option`"],
            Self::StatusRemoved => &["restore what leads to it, or tell the clients first"],
            Self::SuccessAdded => &["let this success have the earlier status and response"],
            Self::ProblemRemoved => &[
                "restore the rejection; #[rejection(name = \"…\")] keeps its name",
                "or tell the clients first that it is gone",
            ],
            Self::FormatRemoved => &["restore the response in this format"],
            Self::HeaderRemoved => &["restore the header"],
            Self::MemberRemoved => &[
                "restore the field",
                "or keep it beside its successor until no client reads it",
            ],
            Self::MemberOptional => &["keep the field without `Option`"],
            Self::ValueAdded => &[
                "restore the type",
                "or add a field for the new values and keep this one as it was",
            ],
        }
    }
}
