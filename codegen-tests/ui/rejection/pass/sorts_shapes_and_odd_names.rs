//! Every sort, every shape, and names that a careless expansion would stumble over.

#![deny(warnings)]
#![allow(non_snake_case)]

use es_framework::prelude::*;

/// Why not.
#[derive(Debug, Rejection)]
pub enum Refusal {
    /// It is taken.
    #[rejection(conflict, detail = "taken by {f} {{sic}} for {type:>5} {self_} {ALL:?} {f}")]
    Taken {
        f: &'static str,
        r#type: u8,
        self_: bool,
        ALL: [u8; 2],
        unused: (),
    },
    #[rejection(gone, title = "It is gone", name = "gone-2")]
    Gone,
    #[rejection(not_found)]
    #[rejection(detail = "no {{braces}}")]
    NotFound {},
    #[rejection(forbidden)]
    Forbidden,
    #[rejection(invalid)]
    r#Invalid,
}

#[derive(Debug, Rejection)]
#[rejection(conflict)]
struct Unit;

#[test]
fn works() {
    let taken = Refusal::Taken { f: "you", r#type: 7, self_: true, ALL: [1, 2], unused: () };
    assert_eq!(taken.to_string(), "taken by you {sic} for     7 true [1, 2] you");
    assert_eq!((taken.name(), taken.title()), ("taken", "It is taken"));
    assert_eq!(Refusal::NotFound {}.to_string(), "no {braces}");
    assert_eq!((Unit.title(), Unit.to_string().as_str()), ("Unit", "Unit"));
    let titles: Vec<_> = Refusal::all().iter().map(|one| (one.name, one.title)).collect();
    assert_eq!(
        titles,
        [
            ("taken", "It is taken"),
            ("gone-2", "It is gone"),
            ("not-found", "Not found"),
            ("forbidden", "Forbidden"),
            ("invalid", "Invalid"),
        ]
    );
    for refusal in [Refusal::Gone, Refusal::Forbidden, Refusal::Invalid] {
        assert!(Refusal::all().contains(refusal.descriptor()));
    }
}
