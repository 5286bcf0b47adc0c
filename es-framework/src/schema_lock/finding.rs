//! What is wrong between the lock and the declarations, in words that say what to do.

use std::fmt;

use serde_json::Value;

use crate::Declaration;

/// A change that would orphan stored events.
///
/// ```
/// use es_framework::schema_lock::Finding;
///
/// let event_type = "com.example.library.BookBoughtEvent".to_owned();
/// let removed = Finding::Removed { event_type, line: 7, successor: None };
/// assert_eq!(removed.event_type(), "com.example.library.BookBoughtEvent");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// Nobody reads events of this type any more.
    Removed {
        /// The type.
        event_type: String,
        /// The line of the lock.
        line: usize,
        /// An event that is not in the lock and has the same members.
        successor: Option<(&'static str, Declaration)>,
    },
    /// Something that is stored in an event is not read as it was written.
    Loss {
        /// The event's type.
        event_type: &'static str,
        /// Where it is declared.
        declaration: Declaration,
        /// What is lost.
        loss: Loss,
        /// Members that were not there.
        new_members: Vec<String>,
    },
}

/// Something that is stored in an event and is not read as it was written.
///
/// ```
/// use es_framework::schema_lock::Loss;
///
/// let lost = Loss::Lost { member: "isbn".into() };
/// assert_eq!(lost.member(), "isbn");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Loss {
    /// A member has to be there that stored events need not have.
    Required {
        /// The member.
        member: String,
    },
    /// Nothing is left of a member.
    Lost {
        /// The member.
        member: String,
    },
    /// Two values become one.
    Blurred {
        /// The member.
        member: String,
        /// A value.
        one: Value,
        /// Another.
        other: Value,
    },
    /// A value cannot be read.
    Unreadable {
        /// The member.
        member: String,
        /// The value.
        value: Value,
        /// What stands against it.
        reason: String,
    },
    /// A bound is stated that stored events need not keep.
    Narrowed {
        /// The member.
        member: String,
        /// The keyword of the schema.
        bound: &'static str,
        /// What it was.
        locked: Option<Value>,
        /// What it is.
        today: Value,
    },
}

/// The name of a place: `address.street`, `tags[]`.
pub(super) fn member(place: &[String]) -> String {
    let mut name = String::new();
    for part in place {
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

impl Finding {
    /// The type of the event.
    #[must_use]
    pub fn event_type(&self) -> &str {
        match self {
            Self::Removed { event_type, .. } => event_type,
            Self::Loss { event_type, .. } => event_type,
        }
    }
}

/// A value as it stands in a sentence.
struct Short<'a>(&'a Value);

impl fmt::Display for Short<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        match text.char_indices().nth(40) {
            Some((at, _)) => write!(f, "{}…", text.split_at(at).0),
            None => f.write_str(&text),
        }
    }
}

/// The name behind the package.
fn name(event_type: &str) -> &str {
    event_type
        .rsplit_once('.')
        .map_or(event_type, |(_, name)| name)
}

impl fmt::Display for Finding {
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
    let package = event_type
        .strip_suffix(name(event_type))
        .unwrap_or_default();
    let package = package.trim_end_matches('.');
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

impl Loss {
    /// The member that it is about.
    #[must_use]
    pub fn member(&self) -> &str {
        match self {
            Self::Required { member }
            | Self::Lost { member }
            | Self::Blurred { member, .. }
            | Self::Unreadable { member, .. }
            | Self::Narrowed { member, .. } => member,
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Required { member } => write!(
                f,
                "the member {member} is required, and stored events need not have it"
            ),
            Self::Lost { member } => write!(
                f,
                "the member {member} is stored, and nothing is left of it once the event is read"
            ),
            Self::Blurred { member, one, other } => write!(
                f,
                "the values {} and {} of the member {member} become one once the event is read",
                Short(one),
                Short(other)
            ),
            Self::Unreadable {
                member,
                value,
                reason,
            } => write!(
                f,
                "the member {member} may be stored as {}, which cannot be read: {reason}",
                Short(value)
            ),
            Self::Narrowed {
                member,
                bound,
                locked,
                today,
            } => {
                write!(
                    f,
                    "the member {member} is declared with {bound} {}",
                    Short(today)
                )?;
                match locked {
                    Some(locked) => write!(f, ", and was stored with {}", Short(locked)),
                    None => f.write_str(", and was stored without"),
                }
            }
        }
    }
}

/// What a developer can do: restore it, read the old form as well, or make it another version.
fn ways_out(
    f: &mut fmt::Formatter<'_>,
    event_type: &str,
    loss: &Loss,
    new_members: &[String],
) -> fmt::Result {
    match loss {
        Loss::Required { member } => {
            writeln!(f, "  - remove {member}")?;
            writeln!(
                f,
                "  - or let it be absent: #[serde(default)] above its field; if it is another member renamed, #[serde(alias = \"…\")] with the stored name"
            )?;
        }
        Loss::Lost { member } => {
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
        Loss::Blurred { member, .. }
        | Loss::Unreadable { member, .. }
        | Loss::Narrowed { member, .. } => {
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
