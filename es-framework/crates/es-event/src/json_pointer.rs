//! JSON pointers (RFC 6901).

/// Appends the name of a member to a JSON pointer.
pub fn push_member(pointer: &mut String, name: &str) {
    pointer.push('/');
    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
}
