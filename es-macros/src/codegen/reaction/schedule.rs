//! Parses and checks `#[schedule(…)]`, which stands above a function.

use croner::{
    Cron,
    errors::CronError,
    parser::{CronParser, Seconds, Year},
};
use jiff::{civil::date, tz::TimeZoneDatabase};
use syn::{Attribute, LitStr};

use crate::codegen::{
    attribute::{self, SeenKeys},
    errors::Errors,
    naming,
};

/// The keys of `#[schedule(…)]`.
pub(crate) struct ScheduleAttr {
    pub(crate) cron: LitStr,
    /// The name of the time zone.
    pub(crate) zone: String,
    /// The variant of `MissedTimes`.
    pub(crate) missed: &'static str,
}

pub(crate) const EXAMPLE: &str = "#[schedule(cron = \"0 6 * * *\", zone = \"Europe/Berlin\")]";
const CRON: &str = "cron = \"0 6 * * *\"";

/// Parses the attribute.
pub(crate) fn parse_schedule_attribute(
    attr: &Attribute,
    errors: &mut Errors,
) -> Option<ScheduleAttr> {
    let mut keys = SeenKeys::new("schedule", &["cron", "zone", "missed"]);
    let (mut cron, mut zone, mut missed) = (None, Some("UTC".to_owned()), Some("One"));
    keys.visit_keys(
        std::slice::from_ref(attr),
        errors,
        |key, meta, errors| match key {
            "cron" => {
                let text = attribute::parse_text(meta, CRON, errors);
                cron = text.filter(|text| check_cron(text, errors));
            }
            "zone" => {
                let text = attribute::parse_text(meta, "zone = \"Europe/Berlin\"", errors);
                zone = text.and_then(|text| check_zone(&text, errors));
            }
            _ => {
                let word = attribute::parse_word(meta, "missed = all", errors);
                let words = ("rule for missed times", "rule");
                missed = word.and_then(|word| attribute::choose(word, &RULES, words, errors));
            }
        },
    );
    if !keys.contains("cron") {
        let message = format!("say when the function is called: write `{EXAMPLE}`");
        errors.record(attr, message);
    }
    Some(ScheduleAttr {
        cron: cron?,
        zone: zone?,
        missed: missed?,
    })
}

fn check_cron(text: &LitStr, errors: &mut Errors) -> bool {
    let value = text.value();
    let parser = CronParser::builder()
        .seconds(Seconds::Disallowed)
        .year(Year::Disallowed)
        .build();
    let message = match parser.parse(&value) {
        Ok(cron) if has_time(&cron) => return true,
        Ok(_) => format!("no day meets `{value}`: correct the day or the month"),
        Err(error) => describe_mistake(&value, &error, |one| parser.parse(one).is_ok()),
    };
    errors.record(text, message);
    false
}

/// The fields of a cron expression, with their values.
const FIELDS: [(&str, &str); 5] = [
    ("minute", "from 0 to 59"),
    ("hour", "from 0 to 23"),
    ("day of the month", "from 1 to 31, or `L` for the last one"),
    ("month", "from 1 to 12, or a name such as `JAN`"),
    ("day of the week", "from 0 to 7, or a name such as `MON`"),
];

/// Says which field of a cron expression is at fault. The parser does not.
fn describe_mistake(value: &str, error: &CronError, is_cron: impl Fn(&str) -> bool) -> String {
    let written: Vec<_> = value.split_whitespace().collect();
    if written.len() != FIELDS.len() {
        return format!(
            "`{value}` has {} fields of 5: write the minute, the hour, the day of the month, the month and the day of the week, as in `{CRON}`",
            written.len()
        );
    }
    let is_wrong = |(index, field): &(usize, &&str)| {
        let mut alone = ["*"; 5];
        alone
            .iter_mut()
            .skip(*index)
            .take(1)
            .for_each(|one| *one = field);
        !is_cron(&alone.join(" "))
    };
    let wrong = written.iter().enumerate().filter(is_wrong);
    let wrong = wrong.filter_map(|(index, field)| {
        let (name, values) = FIELDS.get(index)?;
        Some(format!("`{field}` is no {name}: write numbers {values}"))
    });
    match wrong.collect::<Vec<_>>().as_slice() {
        [] => format!("`{value}` is no cron expression: {error}"),
        wrong => format!("{}, or `*` for each one", wrong.join("; ")),
    }
}

/// Returns false for the 30th of February.
fn has_time(cron: &Cron) -> bool {
    let begin = date(2000, 1, 1).at(0, 0, 0, 0);
    cron.find_next_occurrence(&begin, true).is_ok()
}

fn check_zone(text: &LitStr, errors: &mut Errors) -> Option<String> {
    let (zones, name) = (TimeZoneDatabase::bundled(), text.value());
    if zones.get(&name).is_ok() {
        return Some(name);
    }
    let known: Vec<_> = zones.available().map(|zone| zone.to_string()).collect();
    let known: Vec<_> = known.iter().map(String::as_str).collect();
    let meant = match naming::closest(&name, &known) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "write a name of the IANA time zone database, as in `zone = \"Europe/Berlin\"`"
            .to_owned(),
    };
    errors.record(text, format!("`{name}` is no time zone: {meant}"));
    None
}

const RULES: [(&str, &str); 3] = [("one", "One"), ("all", "All"), ("none", "None")];
