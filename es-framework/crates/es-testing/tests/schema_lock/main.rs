//! Changes of events, each as a declaration before and one after it.

// Functions that tests share also fail by panicking.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod messages;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use es_framework::{
    event::{EventDescriptor, Upcasters},
    prelude::*,
    schema_lock::{LockDifference, SchemaLock},
};

/// Compares the second declaration with a lock of the first.
fn change(before: EventDescriptor, after: EventDescriptor) -> LockDifference {
    let lock = SchemaLock::from_events(&[before]);
    let written: SchemaLock = serde_json::from_str(&lock.to_text()).unwrap();
    assert_eq!(written, lock);
    written.compare(&[after], &Upcasters::default())
}

/// Returns the first sentence of each breaking change, without the remedies.
fn lost(difference: &LockDifference) -> Vec<String> {
    let first_line = |text: String| text.lines().next().unwrap_or_default().to_owned();
    let sentence = |line: String| line.split_once(": ").unwrap().1.to_owned();
    let breaking_changes = difference.breaking_changes.iter();
    breaking_changes
        .map(|one| sentence(first_line(one.to_string())))
        .collect()
}

/// Declares an event before and after a change, and compares the breaking changes with a list.
macro_rules! changes {
    ($($test:ident: { $($before:tt)* } => { $($after:tt)* }, $lost:expr;)*) => {$(
        #[test]
        fn $test() {
            mod before {
                #[allow(unused_imports)]
                use super::*;
                #[derive(Event)]
                pub(crate) struct ChangedEvent { $($before)* }
            }
            mod after {
                #[allow(unused_imports)]
                use super::*;
                #[derive(Event)]
                pub(crate) struct ChangedEvent { $($after)* }
            }
            let (before, after) = (
                EventDescriptor::of::<before::ChangedEvent>(),
                EventDescriptor::of::<after::ChangedEvent>(),
            );
            let same = change(before, before);
            assert!(same.is_empty(), "{same:?}");
            let expected: &[&str] = &$lost;
            assert_eq!(lost(&change(before, after)), expected);
        }
    )*};
}

#[derive(Value)]
pub(crate) enum Cover {
    Hard,
    Soft,
    /// Read aloud.
    Audio,
}

#[derive(Value)]
pub(crate) enum PaperCover {
    Hard,
    Soft,
}

#[derive(Value)]
pub(crate) enum Binding {
    Hard,
    #[serde(alias = "soft")]
    Paper,
    Audio,
    Video,
}

#[derive(Value)]
pub(crate) struct Address {
    street: String,
    town: String,
}

#[derive(Value)]
pub(crate) struct Place {
    town: String,
}

#[derive(Value)]
pub(crate) enum Holder {
    Reader { id: Uuid, since: Timestamp },
    Shelf { number: u16 },
    Nobody,
}

#[derive(Value)]
pub(crate) enum LooseHolder {
    Reader { id: Uuid },
    Shelf { number: u16 },
    Nobody,
}

#[derive(Value, PartialEq, Eq, Hash)]
pub(crate) struct ShelfId(Uuid);

#[derive(Value, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Size {
    Large,
    Small,
}

#[derive(Value)]
pub(crate) struct Shelf {
    number: u8,
    below: Vec<Shelf>,
}

fn number_or_text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum Either {
        Number(i64),
        Text(String),
    }
    Ok(
        match <Either as serde::Deserialize>::deserialize(deserializer)? {
            Either::Number(number) => number.to_string(),
            Either::Text(text) => text,
        },
    )
}

changes! {
    a_member_that_may_be_absent_is_an_addition:
        { id: Uuid } => { id: Uuid, note: Option<String>, #[serde(default)] pages: u32 }, [];
    a_wider_number_is_no_loss:
        { pages: u16, weight: f32 } => { pages: i64, weight: f64 }, [];
    a_member_that_may_be_null_now_is_no_loss:
        { title: String } => { title: Option<String> }, [];
    one_more_value_is_no_loss:
        { cover: PaperCover } => { cover: Cover }, [];
    a_map_a_list_and_a_pair_stay_what_they_are:
        { a: BTreeMap<String, u8>, b: Vec<Vec<bool>>, c: (u8, String), d: BTreeSet<String> }
        => { a: BTreeMap<String, u16>, b: Vec<Vec<bool>>, c: (u8, String), d: Vec<String> }, [];
    maps_with_keys_of_all_kinds_stay_what_they_are:
        {
            a: HashMap<Uuid, u8>, b: BTreeMap<Timestamp, u8>, c: BTreeMap<bool, Vec<HashMap<Uuid, u8>>>,
            d: BTreeMap<i32, u8>, e: Option<BTreeMap<Uuid, u8>>, f: BTreeMap<char, u8>,
            g: (u8, HashMap<ShelfId, Uuid>), h: BTreeMap<Size, u8>
        }
        => {
            a: HashMap<Uuid, u16>, b: BTreeMap<Timestamp, u8>, c: BTreeMap<bool, Vec<HashMap<Uuid, u8>>>,
            d: BTreeMap<i32, u8>, e: Option<BTreeMap<Uuid, u8>>, f: BTreeMap<char, u8>,
            g: (u8, HashMap<ShelfId, Uuid>), h: BTreeMap<Size, u8>
        }, [];
    a_key_that_may_be_any_text_now_is_no_loss:
        { copies: HashMap<Uuid, u8> } => { copies: HashMap<String, u8> }, [];
    a_type_that_holds_itself_stays_what_it_is:
        { root: Shelf } => { root: Shelf, note: Option<String> }, [];
    any_json_stays_what_it_is:
        { details: serde_json::Value } => { details: Option<serde_json::Value> }, [];

    a_member_that_is_removed_is_lost:
        { id: Uuid, pages: u32 } => { id: Uuid },
        ["the member pages is stored, and the declaration has no such member"];
    an_optional_member_that_is_removed_is_lost:
        { id: Uuid, pages: Option<u32> } => { id: Uuid },
        ["the member pages is stored, and the declaration has no such member"];
    a_renamed_member_with_a_default_is_lost:
        { pages: u32 } => { #[serde(default)] num_pages: u32 },
        ["the member pages is stored, and the declaration has no such member"];
    a_renamed_member_is_missed_and_lost:
        { pages: u32, title: String } => { num_pages: u32, title: String },
        [
            "the member numPages is required, and stored events need not have it",
            "the member pages is stored, and the declaration has no such member",
        ];
    required_members_that_are_added_are_all_told:
        { id: Uuid } => { id: Uuid, title: String, pages: u32 },
        [
            "the member pages is required, and stored events need not have it",
            "the member title is required, and stored events need not have it",
        ];
    a_member_that_must_be_there_now_cannot_be_absent_or_null:
        { #[serde(default)] pages: u32, title: Option<String> } => { pages: u32, title: String },
        [
            "the member pages is required, and stored events need not have it",
            "the member title is required, and stored events need not have it",
            "the member title is declared with type \"string\", and was stored with [\"null\",\"string\"]",
        ];
    a_smaller_number_is_too_small:
        { pages: u32 } => { pages: u16 },
        [
            "the member pages is declared with format \"uint16\", and was stored with \"uint32\"",
        ];
    a_number_without_a_sign_is_no_number_with_one:
        { balance: i64 } => { balance: u64 },
        [
            "the member balance is declared with format \"uint64\", and was stored with \"int64\"",
        ];
    a_whole_number_is_no_fraction:
        { price: f64 } => { price: i64 },
        [
            "the member price is declared with type \"integer\", and was stored with \"number\"",
        ];
    single_precision_blurs:
        { price: f64 } => { price: f32 },
        [
            "the member price is declared with format \"float\", and was stored with \"double\"",
        ];
    a_text_is_no_uuid:
        { id: String } => { id: Uuid },
        [
            "the member id is declared with format \"uuid\", and was stored without",
        ];
    a_key_that_was_a_text_is_no_uuid:
        { copies: HashMap<String, u8> } => { copies: HashMap<Uuid, u8> },
        [
            "the member copies is declared with propertyNames {\"format\":\"uuid\",\"type\":\"string\"}, and was stored without",
        ];
    a_smaller_number_is_too_small_below_a_number:
        { copies: BTreeMap<u8, u16> } => { copies: BTreeMap<u8, u8> },
        [
            "the member copies[] is declared with format \"uint8\", and was stored with \"uint16\"",
        ];
    a_value_that_is_removed_cannot_be_read:
        { cover: Cover } => { cover: PaperCover },
        [
            "the member cover is declared with enum [\"hard\",\"soft\"], and was stored with [\"audio\",\"hard\",\"soft\"]",
        ];
    a_list_is_no_set:
        { tags: Vec<String> } => { tags: BTreeSet<String> },
        [
            "the member tags is declared with uniqueItems true, and was stored without",
        ];
    a_member_inside_is_told_with_its_place:
        { address: Address, others: Vec<Address> } => { address: Place, others: Vec<Place> },
        [
            "the member address.street is stored, and the declaration has no such member",
            "the member others[].street is stored, and the declaration has no such member",
        ];
    a_whole_object_that_is_removed_is_told_once:
        { id: Uuid, address: Address } => { id: Uuid },
        ["the member address is stored, and the declaration has no such member"];
    a_member_of_a_variant_is_told_with_its_place:
        { holder: Holder } => { holder: LooseHolder },
        ["the member holder.reader.since is stored, and the declaration has no such member"];
    a_bound_that_is_only_stated_misleads:
        { pages: i64, tags: Vec<String> }
        => { #[schemars(range(min = 1))] pages: i64, #[schemars(length(max = 3))] tags: Vec<String> },
        [
            "the member pages is declared with minimum 1, and was stored without",
            "the member tags is declared with maxItems 3, and was stored without",
        ];

    a_renamed_value_with_its_old_name_has_to_be_accepted:
        { cover: Cover } => { cover: Binding },
        [
            "the member cover is declared with enum [\"audio\",\"hard\",\"paper\",\"video\"], and was stored with [\"audio\",\"hard\",\"soft\"]",
        ];
    a_renamed_member_with_its_old_name_has_to_be_accepted:
        { pages: u32, title: String }
        => { #[serde(alias = "pages")] num_pages: u32, title: String },
        [
            "the member numPages is required, and stored events need not have it",
            "the member pages is stored, and the declaration has no such member",
        ];
    a_renamed_member_that_is_optional_with_its_old_name_has_to_be_accepted:
        { pages: Option<u32> } => { #[serde(alias = "pages")] num_pages: Option<u32> },
        [
            "the member pages is stored, and the declaration has no such member",
        ];
    a_type_that_reads_the_old_form_too_has_to_be_accepted:
        { pages: i64 }
        => { #[serde(deserialize_with = "number_or_text")] pages: String },
        [
            "the member pages is declared with type \"string\", and was stored with \"integer\"",
        ];
}
