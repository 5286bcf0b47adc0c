//! Checks of a command's values, all of them reported at once.

/// A value that a rule refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where it stands, as a JSON pointer (RFC 6901), such as `/numPages`.
    pub pointer: String,
    /// What is wrong with it and what would be right.
    pub message: String,
}

/// The violations found so far.
#[derive(Debug, Default)]
pub struct Violations(Vec<Violation>);

impl Violations {
    /// Notes what a rule found of the member `name`.
    pub fn check(&mut self, name: &str, found: Result<(), String>) {
        if let Err(message) = found {
            let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
            self.0.push(Violation { pointer, message });
        }
    }

    /// The violations, in the order of the fields.
    #[must_use]
    pub fn into_vec(self) -> Vec<Violation> {
        self.0
    }
}

/// A value with rules of its own. `#[derive(Command)]` implements it from `#[validate(…)]`.
pub trait Validate {
    /// Notes every rule that does not hold.
    fn validate(&self, violations: &mut Violations);
}

/// The rules that `#[validate(…)]` knows.
pub mod rules {
    use std::fmt::Display;

    /// A value that is a text, or perhaps one.
    #[diagnostic::on_unimplemented(
        message = "`#[validate(text(…))]` is for texts, not for `{Self}`",
        label = "this field is no text",
        note = "put the rule on a `String` or an `Option<String>`"
    )]
    pub trait Text {
        /// The text, if there is one.
        fn text(&self) -> Option<&str>;
    }

    impl Text for String {
        fn text(&self) -> Option<&str> {
            Some(self)
        }
    }

    impl Text for Option<String> {
        fn text(&self) -> Option<&str> {
            self.as_deref()
        }
    }

    /// A value that is a number, or perhaps one.
    #[diagnostic::on_unimplemented(
        message = "`#[validate(range(…))]` is for numbers, not for `{Self}`",
        label = "this field is no number",
        note = "put the rule on a number or an `Option` of one"
    )]
    pub trait Number {
        /// The number itself.
        type Value: PartialOrd + Display + Copy;

        /// The number, if there is one.
        fn number(&self) -> Option<Self::Value>;
    }

    macro_rules! numbers {
        ($($number:ty),*) => {$(
            impl Number for $number {
                type Value = Self;

                fn number(&self) -> Option<Self> {
                    Some(*self)
                }
            }

            impl Number for Option<$number> {
                type Value = $number;

                fn number(&self) -> Self {
                    *self
                }
            }
        )*};
    }

    numbers!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);

    /// A text that says something, within a length, on one line: no control characters.
    ///
    /// # Errors
    /// What is wrong, for the person who sent it.
    pub fn text(value: &impl Text, max: usize) -> Result<(), String> {
        let Some(text) = value.text() else {
            return Ok(());
        };
        let length = text.chars().count();
        if text.trim().is_empty() {
            return Err("must not be blank".into());
        }
        if length > max {
            return Err(format!("must have at most {max} characters, not {length}"));
        }
        if text.chars().any(char::is_control) {
            return Err("must not hold control characters such as line breaks".into());
        }
        Ok(())
    }

    /// A text of these characters only.
    ///
    /// # Errors
    /// What is wrong, for the person who sent it.
    pub fn characters(value: &impl Text, allowed: &str) -> Result<(), String> {
        let foreign = value
            .text()
            .and_then(|text| text.chars().find(|one| !allowed.contains(*one)));
        match foreign {
            None => Ok(()),
            Some(foreign) => Err(format!(
                "must hold only the characters {allowed:?}, not {foreign:?}"
            )),
        }
    }

    /// A number between two ends, both included.
    ///
    /// # Errors
    /// What is wrong, for the person who sent it.
    pub fn range<N: Number>(
        value: &N,
        min: Option<N::Value>,
        max: Option<N::Value>,
    ) -> Result<(), String> {
        let Some(number) = value.number() else {
            return Ok(());
        };
        if let Some(min) = min.filter(|min| number < *min) {
            return Err(format!("must be at least {min}, not {number}"));
        }
        if let Some(max) = max.filter(|max| number > *max) {
            return Err(format!("must be at most {max}, not {number}"));
        }
        Ok(())
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_text_says_something_on_one_line_within_its_length() {
            let check = |text: &str| super::text(&text.to_owned(), 3);
            assert_eq!(check("äöü"), Ok(()));
            assert_eq!(check(" a "), Ok(()));
            for refused in ["", "  ", "\u{a0}", "abcd", "a\0", "a\nb", "\u{85}a"] {
                assert!(check(refused).is_err(), "{refused:?}");
            }
            assert_eq!(super::text(&None, 3), Ok(()));
        }

        #[test]
        fn a_number_lies_between_both_ends() {
            assert_eq!(range(&1_i64, Some(1), None), Ok(()));
            assert_eq!(
                range(&0_i64, Some(1), None),
                Err("must be at least 1, not 0".into())
            );
            assert_eq!(
                range(&9_u8, Some(1), Some(8)),
                Err("must be at most 8, not 9".into())
            );
            assert_eq!(range(&None::<i64>, Some(1), None), Ok(()));
        }

        #[test]
        fn a_text_keeps_to_its_characters() {
            assert_eq!(characters(&"978-0X".to_owned(), "0123456789-X"), Ok(()));
            assert!(characters(&"97a".to_owned(), "0123456789-X").is_err());
        }
    }
}
