//! Events that their own declarations do not read back.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::*;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::prelude::*;

fn refusal<E: Event>(event: &E) -> String {
    let encoded = encode_event(&Metadata::default(), event);
    encoded
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default()
}

#[derive(Event)]
#[es(crate = "crate")]
struct MeasuredEvent {
    mean: f64,
    single: Option<f32>,
    by_shelf: BTreeMap<String, Vec<Measure>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Measure {
    Length(f64),
    Area { width: f64, height: f32 },
    Nothing,
}

fn measured(mean: f64, single: Option<f32>, measure: Measure) -> MeasuredEvent {
    let by_shelf = [("a/b".to_owned(), vec![Measure::Nothing, measure])].into();
    MeasuredEvent {
        mean,
        single,
        by_shelf,
    }
}

#[test]
fn a_number_that_is_not_finite_is_refused_at_its_place_whatever_its_depth() {
    let not_finite = |pointer| format!("{pointer}: NaN and the infinities are no JSON numbers");
    let event = measured(f64::NAN, None, Measure::Nothing);
    assert_eq!(refusal(&event), not_finite("/mean"));
    // The JSON of these is `null`, which an optional number reads.
    for single in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let event = measured(1.0, Some(single), Measure::Nothing);
        assert_eq!(refusal(&event), not_finite("/single"));
    }
    let event = measured(1.0, None, Measure::Length(f64::NEG_INFINITY));
    assert_eq!(refusal(&event), not_finite("/byShelf/a~1b/1/length"));
    let (width, height) = (1.0, f32::NAN);
    let event = measured(1.0, None, Measure::Area { width, height });
    assert_eq!(refusal(&event), not_finite("/byShelf/a~1b/1/area/height"));
    let (width, height) = (f64::MIN_POSITIVE, f32::MAX);
    let event = measured(-0.0, Some(0.1), Measure::Area { width, height });
    assert_eq!(refusal(&event), "");
}

/// Every finite number is read as it is written, to the last bit.
#[test]
fn numbers_keep_their_last_bit() {
    let mut bits = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..20_000 {
        bits = bits.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(1);
        let (double, single) = (f64::from_bits(bits), f32::from_bits((bits >> 32) as u32));
        if !double.is_finite() || !single.is_finite() {
            continue;
        }
        let event = measured(double, Some(single), Measure::Nothing);
        let data = encode_event(&Metadata::default(), &event).unwrap();
        let read: PayloadOnly<MeasuredEvent> = serde_json::from_str(data.get()).unwrap();
        assert_eq!(read.payload.mean.to_bits(), double.to_bits());
        assert_eq!(read.payload.single.unwrap().to_bits(), single.to_bits());
    }
}

mod in_cents {
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(euros: &u32, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u32(euros * 100)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
        Ok(u32::deserialize(from)? / 100)
    }
}

#[test]
fn a_field_that_is_written_in_another_way_than_it_is_read_is_refused() {
    fn as_text<S: serde::Serializer>(count: &u32, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(count)
    }
    #[derive(Event)]
    #[es(crate = "crate")]
    struct TextEvent {
        #[serde(serialize_with = "as_text")]
        count: u32,
    }
    let text = refusal(&TextEvent { count: 7 });
    assert!(
        text.starts_with("/count: its own declaration cannot read it: invalid type: string"),
        "{text}"
    );

    #[derive(Event)]
    #[es(crate = "crate")]
    struct CentsEvent {
        #[serde(serialize_with = "in_cents::serialize")]
        price: u32,
    }
    let text = refusal(&CentsEvent { price: 3 });
    assert!(
        text.starts_with("/price: it is read back as another value"),
        "{text}"
    );

    #[derive(Event)]
    #[es(crate = "crate")]
    struct PriceEvent {
        #[serde(with = "in_cents")]
        #[schemars(with = "u32")]
        price: u32,
    }
    assert_eq!(refusal(&PriceEvent { price: 3 }), "");
}

#[test]
fn an_enum_that_reads_another_variant_is_refused() {
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase", rename_all_fields = "camelCase", untagged)]
    enum Shape {
        Circle { radius: u32 },
        Ring { radius: u32, inner: u32 },
    }
    #[derive(Event)]
    #[es(crate = "crate")]
    struct DrawnEvent {
        shapes: Vec<Shape>,
    }
    let ring = Shape::Ring {
        radius: 2,
        inner: 1,
    };
    let shapes = vec![Shape::Circle { radius: 1 }, ring];
    let text = refusal(&DrawnEvent { shapes });
    assert!(
        text.starts_with("/shapes/1/inner: it is read back as another value"),
        "{text}"
    );
    let shapes = vec![Shape::Circle { radius: 1 }];
    assert_eq!(refusal(&DrawnEvent { shapes }), "");
}

#[test]
fn an_enum_whose_representation_cannot_be_read_is_refused() {
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(
        rename_all = "camelCase",
        rename_all_fields = "camelCase",
        tag = "kind"
    )]
    enum Stock {
        Counted { by_shelf: BTreeMap<u32, u32> },
    }
    #[derive(Event)]
    #[es(crate = "crate")]
    struct StockCountedEvent {
        stock: Stock,
    }
    let by_shelf = [(1, 2)].into();
    let text = refusal(&StockCountedEvent {
        stock: Stock::Counted { by_shelf },
    });
    assert!(text.starts_with("/stock"), "{text}");
}

#[test]
fn the_order_of_sets_and_maps_is_no_difference() {
    #[derive(Event)]
    #[es(crate = "crate")]
    struct SortedEvent {
        tags: HashSet<String>,
        pages: HashMap<String, HashSet<u32>>,
        ids: BTreeMap<u64, u128>,
    }
    for _ in 0..20 {
        let names = (0..9).map(|number| format!("tag {number}"));
        let event = SortedEvent {
            tags: names.clone().collect(),
            pages: names.map(|name| (name, (0..9).collect())).collect(),
            ids: [(7, u128::MAX)].into(),
        };
        assert_eq!(refusal(&event), "");
    }
}
