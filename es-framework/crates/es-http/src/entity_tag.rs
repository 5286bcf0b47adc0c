//! Entity tags in the headers of requests (RFC 9110, section 8.8.3).

use axum::http::{HeaderMap, HeaderName};

/// The entity tags that a header such as `If-Match` lists.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EntityTags {
    /// `*`
    Any,
    /// One tag or more.
    List(Vec<EntityTag>),
}

/// An entity tag.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EntityTag {
    pub(super) is_weak: bool,
    /// The text between the quotation marks.
    pub(super) opaque: String,
}

/// The error for a header that lists no entity tags.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MalformedEntityTags;

impl EntityTags {
    /// Reads all lines of a header. Returns `None` if the request does not have it.
    pub(super) fn from_headers(
        headers: &HeaderMap,
        name: &HeaderName,
    ) -> Result<Option<Self>, MalformedEntityTags> {
        let values = headers.get_all(name).iter();
        let texts = values.map(|value| value.to_str().map_err(|_| MalformedEntityTags));
        let lines = texts.collect::<Result<Vec<_>, _>>()?;
        if lines.is_empty() {
            return Ok(None);
        }
        // Lines of one header are one list (RFC 9110, section 5.3).
        Self::parse(&lines.join(",")).map(Some)
    }

    fn parse(list: &str) -> Result<Self, MalformedEntityTags> {
        let mut rest = list.trim_matches(SEPARATORS);
        if rest == "*" {
            return Ok(Self::Any);
        }
        let mut tags = Vec::new();
        while !rest.is_empty() {
            let (tag, behind) = EntityTag::split_first(rest).ok_or(MalformedEntityTags)?;
            // Empty elements of a list have no meaning (RFC 9110, section 5.6.1.2).
            rest = behind.trim_start_matches(SEPARATORS);
            let gap = behind.len().saturating_sub(rest.len());
            let is_separated = behind.get(..gap).is_some_and(|gap| gap.contains(','));
            if !rest.is_empty() && !is_separated {
                return Err(MalformedEntityTags);
            }
            tags.push(tag);
        }
        if tags.is_empty() {
            return Err(MalformedEntityTags);
        }
        Ok(Self::List(tags))
    }
}

/// The characters between the elements of a list.
const SEPARATORS: [char; 3] = [',', ' ', '\t'];

impl EntityTag {
    /// Splits a list behind its first tag.
    fn split_first(list: &str) -> Option<(Self, &str)> {
        let (is_weak, tag) = match list.strip_prefix("W/") {
            Some(tag) => (true, tag),
            None => (false, list),
        };
        let (opaque, rest) = tag.strip_prefix('"')?.split_once('"')?;
        let is_valid = opaque.bytes().all(|byte| byte.is_ascii_graphic());
        let opaque = opaque.to_owned();
        is_valid.then_some((Self { is_weak, opaque }, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strong(opaque: &str) -> EntityTag {
        let opaque = opaque.to_owned();
        let is_weak = false;
        EntityTag { is_weak, opaque }
    }

    #[test]
    fn a_list_has_tags_with_anything_but_quotation_marks_in_them() {
        let weak = EntityTag {
            is_weak: true,
            ..strong("8")
        };
        for (list, tags) in [
            ("\"7\"", vec![strong("7")]),
            ("\"7\", \"8\"", vec![strong("7"), strong("8")]),
            ("\"7\",W/\"8\"", vec![strong("7"), weak]),
            ("\"7,8\"", vec![strong("7,8")]),
            ("\"\"", vec![strong("")]),
        ] {
            assert_eq!(
                EntityTags::parse(list),
                Ok(EntityTags::List(tags)),
                "{list}"
            );
        }
        assert_eq!(EntityTags::parse("*"), Ok(EntityTags::Any));
    }

    #[test]
    fn empty_elements_of_a_list_are_ignored() {
        for list in ["\"7\",", ",\"7\"", " , \"7\" ,\t, "] {
            let only = EntityTags::List(vec![strong("7")]);
            assert_eq!(EntityTags::parse(list), Ok(only), "{list}");
        }
        assert_eq!(EntityTags::parse("*,"), Ok(EntityTags::Any));
    }

    #[test]
    fn a_list_without_a_tag_or_with_anything_else_is_malformed() {
        for list in [
            "",
            ",",
            "7",
            "\"7",
            "7\"",
            "\"7\" \"8\"",
            "\"7\"\"8\"",
            "w/\"7\"",
            "W/ \"7\"",
            "\"a b\"",
            "\"7\", *",
            "*, \"7\"",
            "**",
        ] {
            assert_eq!(EntityTags::parse(list), Err(MalformedEntityTags), "{list}");
        }
    }
}
