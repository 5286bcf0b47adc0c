//! The fields that an event takes from a command: `#[event(from = …)]` writes a conversion that uses
//! these traits, so that a field that differs has a message of its own.

use es_event::are_equal;

use super::Command;

/// A command that has a field. `IS_FIELD` is the answer of [`has_field`].
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the command `{Self}` has no field of this name, so the event cannot take it from there",
    label = "this field is not in the command",
    note = "add the field to the command; or remove `from` and build the event in the handler"
)]
pub trait HasField<const IS_FIELD: bool> {
    /// The command itself. If the field is missing, the compiler cannot resolve this type, so it reports the missing
    /// field and nothing else about the command.
    type Command;

    /// Returns the command. It is behind a pointer, because an unoptimised build has a copy on the stack for each
    /// call: 2 MB for a command of 200 fields.
    fn checked(self: Box<Self>) -> Box<Self::Command>;
}

#[diagnostic::do_not_recommend]
impl<C: Command> HasField<true> for C {
    type Command = C;

    fn checked(self: Box<Self>) -> Box<C> {
        self
    }
}

/// A command's field whose type is that of the event's field.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "this field is `{T}` in the event and `{Self}` in the command",
    label = "this is not the type of the command's field",
    note = "give both fields one type; or remove `from` and build the event in the handler"
)]
pub trait SameType<T> {
    /// Returns the value.
    fn value(self) -> T;
}

#[diagnostic::do_not_recommend]
impl<T> SameType<T> for T {
    fn value(self) -> T {
        self
    }
}

/// Returns whether the command `C` has a field of this name.
#[doc(hidden)]
#[must_use]
pub const fn has_field<C: Command>(name: &str) -> bool {
    let mut fields = C::FIELDS;
    while let [field, rest @ ..] = fields {
        if are_equal(field, name) {
            return true;
        }
        fields = rest;
    }
    false
}
