//! Templates of subjects such as `/books/{id}`, compared without the names of their fields.

use crate::Subject;

/// Returns the segments of a template.
pub fn segments(template: &str) -> impl Iterator<Item = &str> {
    template.split('/').filter(|segment| !segment.is_empty())
}

/// Returns whether a segment is a field in braces.
#[must_use]
pub fn is_field(segment: &str) -> bool {
    segment.starts_with('{')
}

/// Returns a template without the names of its fields, such as `/books/{}`. Templates that differ only in
/// these names have the same shape. The template may also be the path of a route.
#[must_use]
pub fn shape(template: &str) -> String {
    let segments = template
        .split('/')
        .map(|segment| if is_field(segment) { "{}" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

/// Returns whether a subject has the form of a template.
#[must_use]
pub fn fits(template: &str, subject: &Subject) -> bool {
    let mut found = subject.as_str().split('/');
    let fits = template.split('/').all(|expected| {
        let segment = found.next();
        segment.is_some_and(|segment| {
            segment == expected || (is_field(expected) && !segment.is_empty())
        })
    });
    fits && found.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_fits_subjects_of_the_same_length() {
        let fits = |subject: &str, template| fits(template, &subject.parse().unwrap());
        assert!(fits("/books/42", "/books/{id}"));
        assert!(fits("/books/42/pages/1", "/books/{id}/pages/{page}"));
        assert!(!fits("/books", "/books/{id}"));
        assert!(!fits("/books/", "/books/{id}"));
        assert!(!fits("/books/42/pages", "/books/{id}"));
        assert!(!fits("/readers/42", "/books/{id}"));
    }

    #[test]
    fn a_shape_has_no_names_of_fields() {
        assert_eq!(shape("/books/{id}/pages/{page}"), "/books/{}/pages/{}");
        assert_eq!(shape("/books/{id}"), shape("/books/{book}"));
    }
}
