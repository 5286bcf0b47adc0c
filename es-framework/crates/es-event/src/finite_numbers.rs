//! Finds numbers that JSON cannot hold. `serde_json` writes NaN and the infinities as `null`, so they would
//! be read back as another value, or not at all.

use std::{cell::RefCell, fmt};

use serde::{
    Serialize,
    ser::{self, Serializer},
};

use super::unreadable_value::UnreadableValue;

/// Checks that every number in the value is finite. It walks through the value and writes nothing.
///
/// # Errors
/// Fails at the first NaN or infinity.
pub(super) fn check<T: Serialize + ?Sized>(value: &T) -> Result<(), UnreadableValue> {
    let end = RefCell::default();
    // The JSON serializer reports a value that cannot be serialized.
    let _ = value.serialize(FiniteNumbers(&end));
    let WalkEnd { is_number, names } = end.into_inner();
    if !is_number {
        return Ok(());
    }
    let path = names.iter().rev().map(String::as_str);
    let reason = "NaN and the infinities are no JSON numbers";
    Err(UnreadableValue::new(path, reason))
}

/// The end of a walk that does not reach the end of the value.
#[derive(Debug, Default)]
struct WalkEnd {
    /// True for a number that is not finite, and false for an error of the value itself.
    is_number: bool,
    /// The names on the way to it, from the inside out.
    names: Vec<String>,
}

/// A serializer that only looks at floating-point numbers, and ends at the first one that is not finite.
#[derive(Debug, Clone, Copy)]
struct FiniteNumbers<'a>(&'a RefCell<WalkEnd>);

/// The inside of a list, an object or a map.
#[derive(Debug)]
struct Inside<'a> {
    numbers: FiniteNumbers<'a>,
    /// The member around it that has the name of an enum's variant.
    variant: Option<&'static str>,
    next_index: usize,
}

impl<'a> FiniteNumbers<'a> {
    fn check(self, is_finite: bool) -> fmt::Result {
        self.0.borrow_mut().is_number = !is_finite;
        if is_finite { Ok(()) } else { Err(fmt::Error) }
    }

    /// Walks through a part of the value. Notes its name if the walk ends there.
    fn walk<T: Serialize + ?Sized>(self, name: impl ToString, part: &T) -> fmt::Result {
        part.serialize(self)
            .inspect_err(|_| self.0.borrow_mut().names.push(name.to_string()))
    }

    fn inside(self, variant: Option<&'static str>) -> Result<Inside<'a>, fmt::Error> {
        Ok(Inside {
            numbers: self,
            variant,
            next_index: 0,
        })
    }
}

impl Inside<'_> {
    fn walk<T: Serialize + ?Sized>(&self, name: impl ToString, part: &T) -> fmt::Result {
        let walked = self.numbers.walk(name, part);
        walked.inspect_err(|_| {
            let variant = self.variant.map(str::to_owned);
            self.numbers.0.borrow_mut().names.extend(variant);
        })
    }

    fn walk_item<T: Serialize + ?Sized>(&mut self, item: &T) -> fmt::Result {
        let index = self.next_index;
        self.next_index = index.saturating_add(1);
        self.walk(index, item)
    }
}

/// Returns the name of a map's key, as the JSON has it.
fn key_name<K: Serialize + ?Sized>(key: &K) -> String {
    match serde_json::to_value(key) {
        Ok(serde_json::Value::String(text)) => text,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

macro_rules! without_numbers {
    ($($function:ident($($type:ty),*);)*) => {$(
        fn $function(self, $(_: $type),*) -> fmt::Result {
            Ok(())
        }
    )*};
}

macro_rules! with_inside {
    ($($function:ident($($name:ident: $type:ty),*) -> $inside:ident $variant:expr;)*) => {$(
        type $inside = Inside<'a>;

        fn $function(self, $($name: $type),*) -> Result<Inside<'a>, fmt::Error> {
            self.inside($variant)
        }
    )*};
}

impl<'a> Serializer for FiniteNumbers<'a> {
    type Ok = ();
    type Error = fmt::Error;

    without_numbers! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_i128(i128);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_u128(u128);
        serialize_char(char);
        serialize_str(&str);
        serialize_bytes(&[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(&'static str);
        serialize_unit_variant(&'static str, u32, &'static str);
    }

    with_inside! {
        serialize_seq(_len: Option<usize>) -> SerializeSeq None;
        serialize_tuple(_len: usize) -> SerializeTuple None;
        serialize_tuple_struct(_name: &str, _len: usize) -> SerializeTupleStruct None;
        serialize_tuple_variant(_name: &str, _index: u32, variant: &'static str, _len: usize)
            -> SerializeTupleVariant Some(variant);
        serialize_map(_len: Option<usize>) -> SerializeMap None;
        serialize_struct(_name: &str, _len: usize) -> SerializeStruct None;
        serialize_struct_variant(_name: &str, _index: u32, variant: &'static str, _len: usize)
            -> SerializeStructVariant Some(variant);
    }

    fn serialize_f32(self, number: f32) -> fmt::Result {
        self.check(number.is_finite())
    }

    fn serialize_f64(self, number: f64) -> fmt::Result {
        self.check(number.is_finite())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> fmt::Result {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &str, value: &T) -> fmt::Result {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> fmt::Result {
        self.walk(variant, value)
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, _: &T) -> fmt::Result {
        Ok(())
    }
}

macro_rules! lists {
    ($($list:ident: $function:ident),*) => {$(
        impl ser::$list for Inside<'_> {
            type Ok = ();
            type Error = fmt::Error;

            fn $function<T: Serialize + ?Sized>(&mut self, item: &T) -> fmt::Result {
                self.walk_item(item)
            }

            fn end(self) -> fmt::Result {
                Ok(())
            }
        }
    )*};
}

macro_rules! objects {
    ($($object:ident),*) => {$(
        impl ser::$object for Inside<'_> {
            type Ok = ();
            type Error = fmt::Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> fmt::Result {
                self.walk(name, value)
            }

            fn end(self) -> fmt::Result {
                Ok(())
            }
        }
    )*};
}

lists!(
    SerializeSeq: serialize_element,
    SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field
);
objects!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Inside<'_> {
    type Ok = ();
    type Error = fmt::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, _: &T) -> fmt::Result {
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> fmt::Result {
        value.serialize(self.numbers)
    }

    fn serialize_entry<K: Serialize + ?Sized, V: Serialize + ?Sized>(
        &mut self,
        key: &K,
        value: &V,
    ) -> fmt::Result {
        value
            .serialize(self.numbers)
            .inspect_err(|_| self.numbers.0.borrow_mut().names.push(key_name(key)))
    }

    fn end(self) -> fmt::Result {
        Ok(())
    }
}
