//! A value is a struct or an enum of any shape; its JSON is in camelCase.

#![deny(warnings)]

use es_framework::{__private::serde, prelude::*};

#[derive(Value)]
struct Price {
    in_cents: u32,
    #[serde(default, rename = "größe")]
    größe: Option<Size>,
}

#[derive(Value)]
enum Size {
    Large,
    VerySmall,
}

#[derive(Value)]
struct Isbn(String);

#[derive(Value)]
struct Pair(u32, u32);

#[derive(Value)]
struct Nothing;

#[derive(Value)]
#[serde(tag = "kind")]
enum Offer {
    Free,
    Fixed { price_in_cents: u32 },
}

#[derive(Value)]
#[serde(untagged)]
enum Either {
    Number(u32),
    Text(String),
}

#[derive(Value)]
#[serde(untagged)]
enum Length {
    Range { mm: u32, to: u32 },
    Exact { mm: u32 },
    Named { name: String },
    Tolerant { name: bool, more: Option<u32> },
}

fn size_of<T: serde::Serialize + for<'de> serde::Deserialize<'de>>(value: &T) -> usize {
    size_of_val(value)
}

#[test]
fn works() {
    let price = Price {
        in_cents: 1,
        größe: Some(Size::Large),
    };
    assert!(size_of(&price) > 0 && price.in_cents == 1 && price.größe.is_some());
    assert!(size_of(&Size::VerySmall) > 0);
    let isbn = Isbn("1".to_owned());
    assert!(size_of(&isbn) > isbn.0.len());
    let pair = Pair(1, 2);
    assert_eq!(size_of(&pair), 8);
    assert_eq!(pair.0 + pair.1, 3);
    assert_eq!(size_of(&Nothing), 0);
    for offer in [Offer::Free, Offer::Fixed { price_in_cents: 1 }] {
        let Offer::Fixed { price_in_cents } = offer else {
            continue;
        };
        assert_eq!(price_in_cents, 1);
    }
    let range = serde_json::from_str(r#"{"mm":1,"to":2}"#).unwrap();
    assert!(matches!(range, Length::Range { mm: 1, to: 2 }));
    let tolerant = serde_json::from_str(r#"{"name":true,"more":2}"#).unwrap();
    assert!(matches!(tolerant, Length::Tolerant { name: true, more: Some(2) }));
    for either in [Either::Number(1), Either::Text(String::new())] {
        match either {
            Either::Number(number) => assert_eq!(number, 1),
            Either::Text(text) => assert_eq!(text, ""),
        }
    }
}
