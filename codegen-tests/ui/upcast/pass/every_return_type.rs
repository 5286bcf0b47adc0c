//! An upcaster makes one event, several, perhaps one, any number or none, and may take the old one
//! apart.

#![deny(warnings)]

use es_framework::{event::Upcasters, prelude::*};

macro_rules! events {
    ($($name:ident)*) => {$(
        #[derive(Event)]
        #[event(package = "com.example.library")]
        #[allow(dead_code)]
        struct $name {
            pages: u32,
        }
    )*};
}

events!(One Pair Triple Perhaps Many Gone Unit Now Then);

#[upcast]
fn one(One { pages }: One) -> Now {
    Now { pages }
}

#[upcast]
fn pair(mut old: Pair) -> (Now, Then) {
    old.pages += 1;
    (Now { pages: 0 }, Then { pages: old.pages })
}

mod elsewhere {
    use super::*;

    #[upcast]
    pub(super) fn triple(_: super::Triple) -> (Now, Then, Now) {
        (Now { pages: 0 }, Then { pages: 1 }, Now { pages: 2 })
    }
}

#[upcast]
const fn perhaps(_: Perhaps) -> Option<Now> {
    None
}

#[upcast]
fn many(old: Many) -> Vec<Now> {
    (0..old.pages).map(|pages| Now { pages }).collect()
}

#[upcast]
#[cfg(unix)]
fn gone(_: Gone) {}

#[upcast]
#[cfg(any())]
fn never_compiled(_: Gone) -> Then {}

#[upcast]
fn unit(_: Unit) -> () {}

#[test]
fn works() {
    use es_framework::event::{Upcast as _, UpcasterDescriptor};

    assert_eq!(Many { pages: 2 }.upcast().len(), 2);
    let upcasters = Upcasters::new([UpcasterDescriptor::of::<Pair>()]).unwrap();
    assert_eq!(upcasters.get(Pair::TYPE).unwrap().to, [Now::TYPE, Then::TYPE]);
    assert!(upcasters.get(Now::TYPE).is_none());
}
