//! The sender of a request, and what belongs to it.

use std::{fmt, sync::Arc};

use uuid::Uuid;

/// The sender of a command or a query: the holder of a credential, anyone, or the service itself. Handlers take it like the
/// clock.
///
/// A caller owns what has its *owner id*, for example the id of the reader that a token belongs to. A service without
/// authentication knows no callers, and reactions act as the service itself: both may do everything. A caller without a
/// credential, who can only send what is public, has no role and owns nothing.
///
/// ```
/// use es_event::Caller;
///
/// let reader = Caller::authenticated("ada", ["reader"]).with_owner_id("0b6ef6a3-7d0e-4f5c-9a63-6a1b6d2f8c55");
/// assert!(reader.has_role("reader") && !reader.has_role("staff"));
/// assert!(reader.must_own(&"0b6ef6a3-7d0e-4f5c-9a63-6a1b6d2f8c55").is_ok());
/// assert!(reader.must_own(&"another reader").is_err());
/// assert!(Caller::System.must_own(&"another reader").is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Caller {
    /// Anyone: the service has no authentication.
    #[default]
    Anyone,
    /// The service itself: a reaction or a job.
    System,
    /// The sender of a public command or query without a credential, to a service that authenticates its callers.
    Anonymous,
    /// The holder of a credential.
    Authenticated(AuthenticatedCaller),
}

/// The holder of a credential: its name, its roles and its owner id.
///
/// ```
/// use es_event::{AuthenticatedCaller, Caller};
///
/// let Caller::Authenticated(ada) = Caller::authenticated("ada", ["reader"]) else { panic!("it is one") };
/// assert_eq!((ada.name(), ada.owner_id()), ("ada", None));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthenticatedCaller {
    name: Arc<str>,
    roles: Arc<[Box<str>]>,
    owner_id: Option<Arc<str>>,
    /// True if the command or the query excepts one of the roles from its rule about owners.
    is_excepted: bool,
}

/// The rule of a command or a query about the owner of something.
///
/// ```
/// use es_event::OwnerRule;
///
/// // The rule of `#[command(owner = reader, owner_except = "staff")]`.
/// let rule = OwnerRule { field: Some("reader"), excepted_roles: &["staff"] };
/// assert_eq!(rule.field, Some("reader"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnerRule {
    /// The JSON name of the field with the owner id. Without a field, the handler decides who the owner is.
    pub field: Option<&'static str>,
    /// The roles that the rule does not hold for.
    pub excepted_roles: &'static [&'static str],
}

impl OwnerRule {
    /// Describes the rule in a sentence for those who send the command or the query.
    ///
    /// ```
    /// use es_event::OwnerRule;
    ///
    /// let rule = OwnerRule { field: Some("reader"), excepted_roles: &["staff"] };
    /// let sentence = "Clients send it only for their own `reader`, except those with the role `staff`.";
    /// assert_eq!(rule.describe(), sentence);
    /// ```
    #[must_use]
    pub fn describe(&self) -> String {
        let owned = match self.field {
            Some(field) => format!("only for their own `{field}`"),
            None => "only about what belongs to them".to_owned(),
        };
        let roles = self.excepted_roles.iter().map(|role| format!("`{role}`"));
        match roles.collect::<Vec<_>>().join(" and ") {
            none if none.is_empty() => format!("Clients send it {owned}."),
            roles => format!("Clients send it {owned}, except those with the role {roles}."),
        }
    }
}

/// The caller does not own what a rule requires. It is a rejection with the status 403.
///
/// ```
/// use es_event::Caller;
///
/// let error = Caller::authenticated("ada", ["reader"]).must_own(&"42").unwrap_err();
/// assert_eq!(error.to_string(), "this credential has no owner id, so nothing belongs to its holder");
/// let error = Caller::Anonymous.must_own(&"42").unwrap_err();
/// assert_eq!(error.to_string(), "this request has no credential, so nothing belongs to its sender");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotOwner {
    /// It belongs to somebody else. The text does not tell to whom.
    #[error("this belongs to somebody else")]
    OtherOwner,
    /// The credential has no owner id.
    #[error("this credential has no owner id, so nothing belongs to its holder")]
    NoOwnerId,
    /// The request has no credential.
    #[error("this request has no credential, so nothing belongs to its sender")]
    NoCredential,
}

/// A value that can be an owner id: an id or another value with a text of its own. The trait exists for the compiler's
/// message about other types.
///
/// ```
/// use es_event::Caller;
/// use uuid::Uuid;
///
/// let id = Uuid::nil();
/// let caller = Caller::authenticated("ada", ["reader"]).with_owner_id(&id.to_string());
/// assert!(caller.must_own(&id).is_ok()); // Uuid: OwnerId
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an owner id",
    label = "nobody can own this",
    note = "an owner id is a `Uuid`, a `String` or another type with `Display`, whose text is in the credentials of its owner"
)]
pub trait OwnerId: fmt::Display {}

// Without this attribute, the compiler's message would name `Display` instead of this trait.
#[diagnostic::do_not_recommend]
impl<T: fmt::Display> OwnerId for T {}

impl Caller {
    /// Returns the holder of a credential.
    ///
    /// ```
    /// # use es_event::Caller;
    /// assert!(Caller::authenticated("kim", ["staff"]).has_role("staff"));
    /// ```
    #[must_use]
    pub fn authenticated(name: &str, roles: impl IntoIterator<Item = impl Into<Box<str>>>) -> Self {
        Self::Authenticated(AuthenticatedCaller::new(name, roles))
    }

    /// Returns the caller with an owner id. Only the holder of a credential has one.
    ///
    /// ```
    /// # use es_event::Caller;
    /// assert!(Caller::authenticated("ada", ["reader"]).with_owner_id("42").must_own(&42).is_ok());
    /// ```
    #[must_use]
    pub fn with_owner_id(self, owner_id: &str) -> Self {
        match self {
            Self::Authenticated(caller) => Self::Authenticated(caller.with_owner_id(owner_id)),
            Self::Anyone | Self::System | Self::Anonymous => self,
        }
    }

    /// Returns the caller that an operator assumes for a dry run: anyone, if neither a role nor an owner id is named.
    #[doc(hidden)]
    #[must_use]
    pub fn assumed<'a>(roles: impl IntoIterator<Item = &'a str>, owner_id: Option<&str>) -> Self {
        let roles: Vec<_> = roles.into_iter().collect();
        match owner_id {
            None if roles.is_empty() => Self::Anyone,
            None => Self::authenticated("caller", roles),
            Some(id) => Self::authenticated("caller", roles).with_owner_id(id),
        }
    }

    /// Returns the caller under the rule of a command or a query.
    #[doc(hidden)]
    #[must_use]
    pub fn under_rule(&self, rule: Option<OwnerRule>) -> Self {
        let mut caller = self.clone();
        if let Self::Authenticated(caller) = &mut caller {
            let excepted = rule.map_or(&[][..], |rule| rule.excepted_roles);
            caller.is_excepted = excepted.iter().any(|role| caller.has_role(role));
        }
        caller
    }

    /// Returns the name of the token, or the subject of the JWT.
    ///
    /// ```
    /// # use es_event::Caller;
    /// assert_eq!(Caller::authenticated("ada", ["reader"]).name(), Some("ada"));
    /// assert_eq!(Caller::System.name(), None);
    /// ```
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Authenticated(caller) => Some(&caller.name),
            Self::Anyone | Self::System | Self::Anonymous => None,
        }
    }

    /// Returns whether the caller has this role. Without authentication everybody has all roles, and so has the service
    /// itself.
    ///
    /// ```
    /// # use es_event::Caller;
    /// assert!(!Caller::authenticated("ada", ["reader"]).has_role("staff"));
    /// assert!(Caller::Anyone.has_role("staff") && !Caller::Anonymous.has_role("staff"));
    /// ```
    #[must_use]
    pub fn has_role(&self, role: &str) -> bool {
        match self {
            Self::Authenticated(caller) => caller.has_role(role),
            Self::Anyone | Self::System => true,
            Self::Anonymous => false,
        }
    }

    /// Returns whether something with this owner id belongs to the caller, or the caller has a role that `owner_except`
    /// names.
    ///
    /// ```
    /// # use es_event::Caller;
    /// assert!(!Caller::authenticated("ada", ["reader"]).owns(&42));
    /// ```
    #[must_use]
    pub fn owns(&self, owner_id: &impl OwnerId) -> bool {
        self.must_own(owner_id).is_ok()
    }

    /// Checks that something with this owner id belongs to the caller, or that the caller has a role that `owner_except`
    /// names.
    ///
    /// ```
    /// # use es_event::Caller;
    /// let ada = Caller::authenticated("ada", ["reader"]).with_owner_id("42");
    /// assert!(ada.must_own(&42).is_ok() && ada.must_own(&43).is_err());
    /// ```
    ///
    /// # Errors
    /// It belongs to somebody else, or the caller has no owner id or no credential.
    pub fn must_own(&self, owner_id: &impl OwnerId) -> Result<(), NotOwner> {
        match self {
            Self::Anyone | Self::System => Ok(()),
            Self::Anonymous => Err(NotOwner::NoCredential),
            Self::Authenticated(caller) if caller.is_excepted => Ok(()),
            Self::Authenticated(caller) => match caller.owner_id() {
                None => Err(NotOwner::NoOwnerId),
                Some(own) if own == owner_id.to_string() => Ok(()),
                Some(_) => Err(NotOwner::OtherOwner),
            },
        }
    }
}

impl AuthenticatedCaller {
    #[doc(hidden)]
    #[must_use]
    pub fn new(name: &str, roles: impl IntoIterator<Item = impl Into<Box<str>>>) -> Self {
        Self {
            name: name.into(),
            roles: roles.into_iter().map(Into::into).collect(),
            owner_id: None,
            is_excepted: false,
        }
    }

    #[doc(hidden)]
    #[must_use]
    pub fn with_owner_id(self, owner_id: &str) -> Self {
        // Owner ids are compared as texts, and a UUID displays itself in one form.
        let owner_id = match Uuid::parse_str(owner_id) {
            Ok(id) => id.to_string().into(),
            Err(_) => owner_id.into(),
        };
        let owner_id = Some(owner_id);
        Self { owner_id, ..self }
    }

    /// Returns the name of the token, or the subject of the JWT.
    ///
    /// ```
    /// # use es_event::Caller;
    /// # let Caller::Authenticated(ada) = Caller::authenticated("ada", ["reader"]) else { panic!() };
    /// assert_eq!(ada.name(), "ada");
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether the caller has this role.
    ///
    /// ```
    /// # use es_event::Caller;
    /// # let Caller::Authenticated(ada) = Caller::authenticated("ada", ["reader"]) else { panic!() };
    /// assert!(ada.has_role("reader"));
    /// ```
    #[must_use]
    pub fn has_role(&self, role: &str) -> bool {
        self.roles.iter().any(|own| **own == *role)
    }

    /// Returns the roles.
    ///
    /// ```
    /// # use es_event::Caller;
    /// # let Caller::Authenticated(ada) = Caller::authenticated("ada", ["reader", "member"]) else { panic!() };
    /// assert!(ada.roles().eq(["reader", "member"]));
    /// ```
    pub fn roles(&self) -> impl Iterator<Item = &str> {
        self.roles.iter().map(|role| &**role)
    }

    /// Returns the owner id.
    ///
    /// ```
    /// # use es_event::Caller;
    /// # let Caller::Authenticated(ada) = Caller::authenticated("ada", ["reader"]).with_owner_id("42") else { panic!() };
    /// assert_eq!(ada.owner_id(), Some("42"));
    /// ```
    #[must_use]
    pub fn owner_id(&self) -> Option<&str> {
        self.owner_id.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_owns_only_what_has_its_owner_id() {
        let ada = Caller::authenticated("ada", ["reader"]).with_owner_id("7");
        assert_eq!(ada.must_own(&7), Ok(()));
        assert_eq!(ada.must_own(&"7"), Ok(()));
        assert_eq!(ada.must_own(&70), Err(NotOwner::OtherOwner));
        let nameless = Caller::authenticated("ada", ["reader"]);
        assert_eq!(nameless.must_own(&"ada"), Err(NotOwner::NoOwnerId));
    }

    #[test]
    fn a_uuid_may_be_written_in_any_of_its_forms() {
        let id = Uuid::from_u128(0xada);
        let ada = Caller::authenticated("ada", ["reader"]);
        for text in [id.to_string().to_uppercase(), id.simple().to_string()] {
            assert_eq!(ada.clone().with_owner_id(&text).must_own(&id), Ok(()));
        }
    }

    #[test]
    fn an_excepted_role_owns_everything_under_that_rule_alone() {
        let kim = Caller::authenticated("kim", ["staff"]);
        let rule = |excepted_roles| {
            Some(OwnerRule {
                field: None,
                excepted_roles,
            })
        };
        let excepted = kim.under_rule(rule(&["staff"]));
        assert_eq!(excepted.must_own(&7), Ok(()));
        assert!(!kim.under_rule(rule(&["operator"])).owns(&7));
        assert!(!excepted.under_rule(None).owns(&7));
    }

    #[test]
    fn a_caller_without_a_credential_has_no_role_and_owns_nothing() {
        let nobody = Caller::Anonymous.with_owner_id("7");
        assert!(!nobody.has_role("staff"));
        assert_eq!(nobody.must_own(&7), Err(NotOwner::NoCredential));
        let rule = OwnerRule {
            field: None,
            excepted_roles: &["staff"],
        };
        assert!(!nobody.under_rule(Some(rule)).owns(&7));
    }

    #[test]
    fn the_service_itself_and_a_service_without_authentication_may_do_everything() {
        for caller in [Caller::System, Caller::Anyone] {
            assert!(caller.has_role("staff") && caller.owns(&7));
        }
    }
}
