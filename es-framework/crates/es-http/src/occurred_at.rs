//! The time at which something happened before its command is sent: the header `Event-Occurred-At`, or a member of a line.

use axum::http::{HeaderMap, HeaderName};
use es_command::command::{CommandContext, CommandDescriptor, CommandResources};
use es_event::time_text::check_time;
use jiff::Timestamp;
use serde_json::value::RawValue;

use super::{Problem, auth::AccessDenied, problem::kind};

const HEADER: HeaderName = HeaderName::from_static("event-occurred-at");

/// The member of a line that has the same meaning as the header.
pub(super) const MEMBER: &str = "$occurredAt";

/// Adds the time of the header to the metadata of the events. The caller of the context is known.
pub(super) fn read_header(
    context: &mut CommandContext,
    headers: &HeaderMap,
    command: &CommandDescriptor,
    resources: &CommandResources,
) -> Result<(), Problem> {
    let mut values = headers.get_all(HEADER).iter();
    let Some(value) = values.next() else {
        return Ok(());
    };
    let text = value.to_str().ok().filter(|_| values.next().is_none());
    set_time(context, text, command, resources)
}

/// Adds the time of a line to the metadata of its events.
pub(super) fn read_member(
    context: &mut CommandContext,
    values: &[Box<RawValue>],
    command: &CommandDescriptor,
    resources: &CommandResources,
) -> Result<(), Problem> {
    let text: Option<String> = match values {
        [value] => serde_json::from_str(value.get()).ok(),
        _ => None,
    };
    set_time(context, text.as_deref(), command, resources)
}

fn set_time(
    context: &mut CommandContext,
    text: Option<&str>,
    command: &CommandDescriptor,
    resources: &CommandResources,
) -> Result<(), Problem> {
    let invalid = |detail: String| Problem::new(kind::INVALID_OCCURRED_AT, detail);
    let roles = command.backdate_roles;
    if roles.is_empty() {
        let name = command.name;
        return Err(invalid(format!(
            "{name} is about what happens now: leave the time out, or send a command that takes one"
        )));
    }
    if !roles.iter().any(|role| context.caller.has_role(role)) {
        return Err(AccessDenied::NoRole(roles).into());
    }
    let time: Option<Timestamp> = text.and_then(|text| text.parse().ok());
    let time = time.filter(|time| check_time(*time).is_ok());
    let Some(time) = time else {
        let rule =
            "the time at which it happened is one point in time, such as 2019-03-01T10:00:00Z";
        return Err(invalid(rule.to_owned()));
    };
    let now = resources.clock().now();
    if time > now {
        return Err(invalid(format!(
            "{time} is in the future: it is {now} here"
        )));
    }
    let metadata = std::mem::take(&mut context.metadata);
    context.metadata = metadata.with_occurred_at(time);
    Ok(())
}
