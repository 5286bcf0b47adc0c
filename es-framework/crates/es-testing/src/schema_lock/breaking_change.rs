//! Incompatible changes of events, with instructions for the developer.

use std::fmt;

use es_event::Declaration;
use serde_json::Value;

/// A change that can make stored events unreadable or lose their data.
///
/// ```
/// use es_framework::schema_lock::BreakingChange;
///
/// let event_type = "com.example.library.BookBoughtEvent".to_owned();
/// let removed = BreakingChange::Removed { event_type, line: 7, successor: None };
/// assert_eq!(removed.event_type(), "com.example.library.BookBoughtEvent");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum BreakingChange {
    /// No code reads events of this type any more.
    Removed {
        /// The event type.
        event_type: String,
        /// The line in the lock file.
        line: usize,
        /// An event with the same members that is not in the lock.
        successor: Option<(&'static str, Declaration)>,
    },
    /// Today's schema does not plainly take what is stored.
    Loss {
        /// The event type.
        event_type: &'static str,
        /// The package, module, file and line of the declaration.
        declaration: Declaration,
        /// The stored data that may be refused or lost.
        loss: DataLoss,
        /// The members that the locked schema does not have.
        new_members: Vec<String>,
    },
}

/// Stored data that today's declaration may refuse or lose.
///
/// ```
/// use es_framework::schema_lock::DataLoss;
///
/// let lost = DataLoss::Lost { member: "isbn".into() };
/// assert_eq!(lost.member(), "isbn");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum DataLoss {
    /// The declaration requires a member that stored events can lack.
    Required {
        /// The name of the member.
        member: String,
    },
    /// The declaration has a member no more.
    Lost {
        /// The name of the member.
        member: String,
    },
    /// The schema of a member is another one, which is not plainly wider.
    Changed {
        /// The name of the member.
        member: String,
        /// The keyword of the JSON schema.
        keyword: String,
        /// Its value in the lock.
        locked: Option<Value>,
        /// Its value in today's declaration.
        today: Value,
    },
}

/// Formats a path as a member name, for example `address.street` or `tags[]`.
pub(super) fn member(path: &[String]) -> String {
    let mut name = String::new();
    for part in path {
        if part == "*" || part.bytes().all(|byte| byte.is_ascii_digit()) {
            name.push_str("[]");
            continue;
        }
        if !name.is_empty() {
            name.push('.');
        }
        name.push_str(part);
    }
    name
}

impl BreakingChange {
    /// Returns the event type.
    #[must_use]
    pub fn event_type(&self) -> &str {
        match self {
            Self::Removed { event_type, .. } => event_type,
            Self::Loss { event_type, .. } => event_type,
        }
    }
}

/// A value that is shortened for an error message.
struct ShortValue<'a>(&'a Value);

impl fmt::Display for ShortValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        match text.char_indices().nth(40) {
            Some((at, _)) => write!(f, "{}…", text.split_at(at).0),
            None => f.write_str(&text),
        }
    }
}

/// Returns the last segment of an event type.
fn name(event_type: &str) -> &str {
    event_type
        .rsplit_once('.')
        .map_or(event_type, |(_, name)| name)
}

impl fmt::Display for BreakingChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Removed {
                event_type,
                line,
                successor,
            } => removed(f, event_type, *line, *successor),
            Self::Loss {
                event_type,
                declaration,
                loss,
                new_members,
            } => {
                writeln!(f, "{event_type} at {declaration}: {loss}")?;
                ways_out(f, event_type, loss, new_members)
            }
        }
    }
}

fn removed(
    f: &mut fmt::Formatter<'_>,
    event_type: &str,
    line: usize,
    successor: Option<(&str, Declaration)>,
) -> fmt::Result {
    writeln!(
        f,
        "{event_type}, line {line} of the lock: stored events of this type are read by nothing any more"
    )?;
    let prefix = event_type.strip_suffix(name(event_type));
    let package = prefix.unwrap_or_default().trim_end_matches('.');
    match successor {
        Some((new, place)) if name(new) == name(event_type) => writeln!(
            f,
            "  - {new} at {place} is the same in another package: restore the package in Cargo.toml, or pin it with #[event(package = \"{package}\")]"
        )?,
        Some((new, place)) => writeln!(
            f,
            "  - if {new} at {place} is its new name, keep the stored one: #[event(name = \"{}\")]",
            name(event_type)
        )?,
        None => writeln!(f, "  - restore its declaration")?,
    }
    write!(
        f,
        "  - or keep its old shape as #[event(name = \"{}\")] and write an #[upcast] function that makes today's events of it, or none",
        name(event_type)
    )
}

impl DataLoss {
    /// Returns the name of the member.
    #[must_use]
    pub fn member(&self) -> &str {
        match self {
            Self::Required { member } | Self::Lost { member } | Self::Changed { member, .. } => {
                member
            }
        }
    }
}

impl fmt::Display for DataLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Required { member } => write!(
                f,
                "the member {member} is required, and stored events need not have it"
            ),
            Self::Lost { member } => write!(
                f,
                "the member {member} is stored, and the declaration has no such member"
            ),
            Self::Changed {
                member,
                keyword,
                locked,
                today,
            } => {
                write!(
                    f,
                    "the member {member} is declared with {keyword} {}",
                    ShortValue(today)
                )?;
                match locked {
                    Some(locked) => write!(f, ", and was stored with {}", ShortValue(locked)),
                    None => f.write_str(", and was stored without"),
                }
            }
        }
    }
}

/// Writes the possible repairs: restore the declaration, accept the stored form as well, or declare
/// a new version.
fn ways_out(
    f: &mut fmt::Formatter<'_>,
    event_type: &str,
    loss: &DataLoss,
    new_members: &[String],
) -> fmt::Result {
    match loss {
        DataLoss::Required { member } => {
            writeln!(f, "  - remove {member}")?;
            writeln!(
                f,
                "  - or let it be absent: #[serde(default)] above its field; if it is another member renamed, #[serde(alias = \"…\")] with the stored name"
            )?;
        }
        DataLoss::Lost { member } => {
            writeln!(f, "  - restore {member}")?;
            match new_members {
                [] => writeln!(
                    f,
                    "  - or read it into another field: #[serde(alias = \"{member}\")] above that"
                )?,
                [one] => writeln!(
                    f,
                    "  - or, if {one} is its new name, read the stored one as well: #[serde(alias = \"{member}\")] above the field of {one}"
                )?,
                [..] => writeln!(
                    f,
                    "  - or, if one of {} is its new name, read the stored one as well: #[serde(alias = \"{member}\")] above its field",
                    new_members.join(", ")
                )?,
            }
        }
        DataLoss::Changed { member, .. } => {
            writeln!(f, "  - restore the type of {member}")?;
            writeln!(
                f,
                "  - or read the stored form as well: #[serde(deserialize_with = \"…\")], or #[serde(alias = \"…\")] for a value of an enum"
            )?;
        }
    }
    let stored = name(event_type);
    write!(
        f,
        "  - or declare a new version: #[event(version = …)] on this struct, its old shape kept as #[event(name = \"{stored}\")], and an #[upcast] function from the one to the other"
    )
}
