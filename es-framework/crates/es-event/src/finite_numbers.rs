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

/// A list in a value, with the index of its next item.
#[derive(Debug)]
struct Items(usize);

/// The inside of an enum's variant, which is in a member with the variant's name.
#[derive(Debug)]
struct Variant<T> {
    name: &'static str,
    inside: T,
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
    type SerializeSeq = Items;
    type SerializeTuple = Items;
    type SerializeTupleStruct = Items;
    type SerializeTupleVariant = Variant<Items>;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Variant<Self>;

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

    fn serialize_seq(self, _: Option<usize>) -> Result<Items, WalkEnd> {
        Ok(Items(0))
    }

    fn serialize_tuple(self, _: usize) -> Result<Items, WalkEnd> {
        Ok(Items(0))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items, WalkEnd> {
        Ok(Items(0))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, WalkEnd> {
        let inside = Items(0);
        Ok(Variant { name, inside })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, WalkEnd> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, WalkEnd> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, WalkEnd> {
        let inside = self;
        Ok(Variant { name, inside })
    }

    fn collect_str<T: std::fmt::Display + ?Sized>(self, _: &T) -> Result<(), WalkEnd> {
        Ok(())
    }
}

impl Items {
    fn check<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), WalkEnd> {
        let index = self.0;
        self.0 = index.saturating_add(1);
        item.serialize(FiniteNumbers)
            .map_err(|stop| stop.inside(index))
    }
}

impl ser::SerializeSeq for Items {
    type Ok = ();
    type Error = WalkEnd;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), WalkEnd> {
        self.check(item)
    }

    fn end(self) -> Result<(), WalkEnd> {
        Ok(())
    }
}

impl ser::SerializeTuple for Items {
    type Ok = ();
    type Error = WalkEnd;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), WalkEnd> {
        self.check(item)
    }

    fn end(self) -> Result<(), WalkEnd> {
        Ok(())
    }
}

impl ser::SerializeTupleStruct for Items {
    type Ok = ();
    type Error = WalkEnd;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), WalkEnd> {
        self.check(item)
    }

    fn end(self) -> Result<(), WalkEnd> {
        Ok(())
    }
}

impl ser::SerializeTupleVariant for Variant<Items> {
    type Ok = ();
    type Error = WalkEnd;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), WalkEnd> {
        self.inside
            .check(item)
            .map_err(|stop| stop.inside(self.name))
    }

    fn end(self) -> Result<(), WalkEnd> {
        Ok(())
    }
}

impl ser::SerializeMap for FiniteNumbers {
    type Ok = ();
    type Error = WalkEnd;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, _: &T) -> Result<(), WalkEnd> {
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WalkEnd> {
        value.serialize(*self)
    }

    fn serialize_entry<K: Serialize + ?Sized, V: Serialize + ?Sized>(
        &mut self,
        key: &K,
        value: &V,
    ) -> Result<(), WalkEnd> {
        value
            .serialize(*self)
            .map_err(|stop| stop.inside(key_name(key)))
    }

    fn end(self) -> Result<(), WalkEnd> {
        Ok(())
    }
}

impl ser::SerializeStruct for FiniteNumbers {
    type Ok = ();
    type Error = WalkEnd;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), WalkEnd> {
        value.serialize(*self).map_err(|stop| stop.inside(name))
    }

    fn end(self) -> Result<(), WalkEnd> {
        Ok(())
    }
}

impl ser::SerializeStructVariant for Variant<FiniteNumbers> {
    type Ok = ();
    type Error = WalkEnd;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), WalkEnd> {
        value
            .serialize(self.inside)
            .map_err(|stop| stop.inside(name).inside(self.name))
    }

    fn end(self) -> Result<(), WalkEnd> {
        Ok(())
    }
}
