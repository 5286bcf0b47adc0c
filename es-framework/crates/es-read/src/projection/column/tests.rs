//! Fields become cells and are read again, or are refused.

use super::*;

#[test]
fn a_value_comes_back_as_it_was() {
    fn same<T: ColumnType + PartialEq + std::fmt::Debug + Clone>(value: T) {
        let cell = value.to_cell("x").unwrap();
        assert_eq!(T::from_cell(cell, "x").unwrap(), value);
    }
    same("a\"b".to_owned());
    same(uuid::Uuid::nil());
    same(i64::MIN);
    same(1.0_f64);
    same(0.1_f32);
    same(true);
    same(Some(7_u8));
    same(None::<String>);
    same(vec![Some("a".to_owned()), None]);
    same(vec![u128::MAX, u128::from(u64::MAX) + 1, 0]);
    same(vec![i128::MIN, i128::from(i64::MIN), i128::MAX]);
    same(BTreeMap::from([("debt".to_owned(), u64::MAX)]));
    same("2026-01-01T00:00:00.5Z".parse::<jiff::Timestamp>().unwrap());
    same(Some(jiff::civil::Date::constant(2026, 3, 29)));
}

#[test]
fn clients_get_each_digit_of_a_large_integer() {
    let cell = vec![u128::MAX].to_cell("debts").unwrap();
    let json = cell_to_json(cell, ColumnKind::Json).unwrap();
    assert_eq!(json.get(), "[340282366920938463463374607431768211455]");
}

#[test]
fn a_value_that_leaves_out_what_it_requires_is_refused() {
    #[derive(Serialize, serde::Deserialize, schemars::JsonSchema)]
    struct Branch {
        #[serde(skip_serializing_if = "Vec::is_empty")]
        twigs: Vec<u8>,
    }
    let branch = |twigs| vec![Branch { twigs }];
    assert!(branch(vec![1]).to_cell("branches").is_ok());
    let error = branch(vec![]).to_cell("branches").err().unwrap();
    assert!(
        error.to_string().contains("missing field `twigs`"),
        "{error}"
    );
}

#[test]
fn times_are_in_the_order_of_their_cells() {
    let cell = |text: &str| match text.parse::<jiff::Timestamp>().unwrap().to_cell("at") {
        Ok(Cell::Text(text)) => text,
        other => panic!("{other:?}"),
    };
    let (whole, half) = (cell("2026-01-01T00:00:00Z"), cell("2026-01-01T00:00:00.5Z"));
    assert!(whole < half, "{whole} {half}");
    let year_0 = cell("0000-01-01T00:00:00Z");
    assert!(year_0 < whole, "{year_0}");
    let before: jiff::Timestamp = "-000001-12-31T23:59:59Z".parse().unwrap();
    let error = before.to_cell("at").unwrap_err().to_string();
    assert!(error.contains("from the year 0"), "{error}");
}

#[test]
fn dates_are_in_the_order_of_their_cells() {
    let cell = |year| jiff::civil::Date::constant(year, 1, 31).to_cell("on");
    assert_eq!(cell(2026), Ok(Cell::Text("2026-01-31".to_owned())));
    assert_eq!(cell(0), Ok(Cell::Text("0000-01-31".to_owned())));
    let error = cell(-1).unwrap_err().to_string();
    assert!(error.contains("from the year 0"), "{error}");
    for text in [
        "2026-02-30",
        "-000001-01-31",
        "tomorrow",
        "2026-01-31T00:00:00Z",
    ] {
        let error = parse_value::<jiff::civil::Date>(text).unwrap_err();
        assert!(error.contains("must be a date"), "{error}");
    }
}

#[test]
fn a_parameter_is_read_as_json_schema_defines_its_type() {
    assert_eq!(parse_value::<u32>("310.0"), Ok(310));
    assert_eq!(parse_value::<i64>("1e3"), Ok(1_000));
    assert_eq!(parse_value::<i64>("-0"), Ok(0));
    assert_eq!(
        parse_value::<i64>("310.5"),
        Err("must be a whole number".to_owned())
    );
    for text in [
        "-000001-12-31T23:59:59Z",
        "9999-12-31T23:59:59Z",
        "2026-07-01T12:00:00.0123456789Z",
        "yesterday",
    ] {
        let error = parse_value::<jiff::Timestamp>(text).unwrap_err();
        assert!(error.contains("from the year 0"), "{error}");
    }
}

#[test]
fn what_does_not_fit_names_the_field() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = number.to_cell("weight").unwrap_err();
        let text = "weight: NaN and the infinities are no JSON numbers";
        assert_eq!(error.to_string(), text);
        let error = Some(number).to_cell("weight").unwrap_err();
        assert_eq!(error.to_string(), text);
    }
    let error = vec![Some(1.5), Some(f64::NAN)]
        .to_cell("weights")
        .unwrap_err();
    let text = "weights: /1: NaN and the infinities are no JSON numbers";
    assert_eq!(error.to_string(), text);
    let error = i64::from_cell(Cell::Text("x".into()), "pages").unwrap_err();
    assert!(error.to_string().starts_with("pages: "), "{error}");
}

#[test]
fn texts_are_read_as_what_the_column_holds() {
    assert_eq!(parse_value::<i64>("7"), Ok(7));
    assert_eq!(parse_value::<Option<bool>>("true"), Ok(Some(true)));
    assert!(parse_value::<u8>("300").is_err());
    assert!(parse_value::<f64>("inf").is_err());
    assert!(parse_value::<uuid::Uuid>("7").is_err());
    assert!(parse_value::<jiff::Timestamp>("yesterday").is_err());
}

#[test]
fn a_parameter_is_in_the_range_of_its_type() {
    let refused = Err("must be a number in the range of its type".to_owned());
    for text in ["1e39", "-1e39"] {
        assert_eq!(parse_value::<f32>(text), refused, "{text}");
        assert!(parse_value::<Option<f32>>(text).is_err(), "{text}");
        assert!(parse_value::<Vec<f32>>(&format!("[{text}]")).is_err());
        assert!(parse_value::<f64>(text).is_ok(), "{text}");
    }
    assert_eq!(parse_value::<f32>("3.4e38"), Ok(3.4e38));
    assert!(parse_value::<f64>("1e309").is_err());
}
