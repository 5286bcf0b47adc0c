//! Finds numbers that JSON cannot hold. `serde_json` writes NaN and the infinities as `null`, so they would
//! be read back as another value, or not at all.

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
    let Err(found) = value.serialize(FiniteNumbers) else {
        return Ok(());
    };
    if !found.is_number {
        // The value cannot be serialized, which the JSON serializer reports.
        return Ok(());
    }
    let path = found.inside_out.iter().rev();
    let reason = "NaN and the infinities are no JSON numbers";
    Err(UnreadableValue::new(path.map(String::as_str), reason))
}

/// A serializer that only looks at floating-point numbers.
#[derive(Debug, Clone, Copy)]
struct FiniteNumbers;

/// The inside of a list, an object or a map.
#[derive(Debug, Default)]
struct Inside {
    /// The member around it that has the name of an enum's variant.
    variant: Option<&'static str>,
    next_index: usize,
}

/// The end of the walk: a number that is not finite, or an error of the value itself.
#[derive(Debug, Default)]
struct WalkEnd {
    is_number: bool,
    inside_out: Vec<String>,
}

impl WalkEnd {
    fn inside(mut self, name: impl ToString) -> Self {
        self.inside_out.push(name.to_string());
        self
    }
}

impl std::fmt::Display for WalkEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the value cannot be serialized")
    }
}

impl std::error::Error for WalkEnd {}

impl ser::Error for WalkEnd {
    fn custom<T: std::fmt::Display>(_: T) -> Self {
        Self::default()
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

fn check_number(is_finite: bool) -> Result<(), WalkEnd> {
    if is_finite {
        return Ok(());
    }
    Err(WalkEnd {
        is_number: true,
        inside_out: Vec::new(),
    })
}

macro_rules! without_numbers {
    ($($function:ident: $type:ty),* $(,)?) => {$(
        fn $function(self, _: $type) -> Result<(), WalkEnd> {
            Ok(())
        }
    )*};
}

impl Serializer for FiniteNumbers {
    type Ok = ();
    type Error = WalkEnd;
    type SerializeSeq = Inside;
    type SerializeTuple = Inside;
    type SerializeTupleStruct = Inside;
    type SerializeTupleVariant = Inside;
    type SerializeMap = Inside;
    type SerializeStruct = Inside;
    type SerializeStructVariant = Inside;

    without_numbers! {
        serialize_bool: bool,
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_i128: i128,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_u128: u128,
        serialize_char: char,
        serialize_str: &str,
        serialize_bytes: &[u8],
        serialize_unit_struct: &'static str,
    }

    fn serialize_f32(self, number: f32) -> Result<(), WalkEnd> {
        check_number(number.is_finite())
    }

    fn serialize_f64(self, number: f64) -> Result<(), WalkEnd> {
        check_number(number.is_finite())
    }

    fn serialize_none(self) -> Result<(), WalkEnd> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), WalkEnd> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), WalkEnd> {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &str, _: u32, _: &str) -> Result<(), WalkEnd> {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), WalkEnd> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), WalkEnd> {
        value.serialize(self).map_err(|stop| stop.inside(variant))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Inside, WalkEnd> {
        Ok(Inside::default())
    }

    fn serialize_tuple(self, _: usize) -> Result<Inside, WalkEnd> {
        Ok(Inside::default())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Inside, WalkEnd> {
        Ok(Inside::default())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Inside, WalkEnd> {
        Ok(Inside::of_variant(name))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Inside, WalkEnd> {
        Ok(Inside::default())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Inside, WalkEnd> {
        Ok(Inside::default())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Inside, WalkEnd> {
        Ok(Inside::of_variant(name))
    }

    fn collect_str<T: std::fmt::Display + ?Sized>(self, _: &T) -> Result<(), WalkEnd> {
        Ok(())
    }
}

impl Inside {
    fn of_variant(name: &'static str) -> Self {
        let variant = Some(name);
        Self {
            variant,
            ..Self::default()
        }
    }

    fn check<T: Serialize + ?Sized>(&self, name: impl ToString, value: &T) -> Result<(), WalkEnd> {
        value.serialize(FiniteNumbers).map_err(|end| {
            let end = end.inside(name);
            match self.variant {
                Some(variant) => end.inside(variant),
                None => end,
            }
        })
    }

    fn check_item<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), WalkEnd> {
        let index = self.next_index;
        self.next_index = index.saturating_add(1);
        self.check(index, item)
    }
}

macro_rules! lists {
    ($($list:ident: $function:ident),*) => {$(
        impl ser::$list for Inside {
            type Ok = ();
            type Error = WalkEnd;

            fn $function<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), WalkEnd> {
                self.check_item(item)
            }

            fn end(self) -> Result<(), WalkEnd> {
                Ok(())
            }
        }
    )*};
}

macro_rules! objects {
    ($($object:ident),*) => {$(
        impl ser::$object for Inside {
            type Ok = ();
            type Error = WalkEnd;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), WalkEnd> {
                self.check(name, value)
            }

            fn end(self) -> Result<(), WalkEnd> {
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

impl ser::SerializeMap for Inside {
    type Ok = ();
    type Error = WalkEnd;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, _: &T) -> Result<(), WalkEnd> {
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WalkEnd> {
        value.serialize(FiniteNumbers)
    }

    fn serialize_entry<K: Serialize + ?Sized, V: Serialize + ?Sized>(
        &mut self,
        key: &K,
        value: &V,
    ) -> Result<(), WalkEnd> {
        value
            .serialize(FiniteNumbers)
            .map_err(|end| end.inside(key_name(key)))
    }

    fn end(self) -> Result<(), WalkEnd> {
        Ok(())
    }
}
