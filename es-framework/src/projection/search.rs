//! What finds a part of a text without a look at each row: groups of three characters. In SQLite
//! they are kept in a table of their own, which follows the rows; PostgreSQL has an index of them.

use std::collections::BTreeSet;

use super::{
    Table,
    tables::{PLACE, lowered, quoted},
};

/// How many characters a part needs so that the groups help.
const GROUP: usize = 3;
/// How many groups of a part are looked up. Each takes its time, and a few tell nearly as much.
const MOST_GROUPS: usize = 6;
/// How many characters of a part are told PostgreSQL, if it is asked which of their groups are rare.
const MOST_COMPARED: usize = 24;

fn plain_name(table: &Table) -> String {
    format!("es_search_{}", table.model.name)
}

/// SQLite's table of the groups.
pub(crate) fn name(table: &Table) -> String {
    quoted(&plain_name(table))
}

fn trigger(table: &Table, what: &str) -> String {
    format!("{}_{what}", plain_name(table))
}

/// The trigger without which the groups are not those of the rows: it goes with their table.
pub(super) fn keeper(table: &Table) -> String {
    trigger(table, "update")
}

pub(super) const IS_KEPT: &str =
    "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND name = ?1";

/// The place of the last row whose groups are there. It is asked for with each row that changes, so
/// it is looked up where FTS5 notes its rows: a query of the groups takes as long as a row.
fn last(table: &Table, condition: &str) -> String {
    let rows = quoted(&format!("{}_docsize", plain_name(table)));
    format!("coalesce((SELECT id FROM {rows}{condition} ORDER BY id DESC LIMIT 1), -1)")
}

/// The place of the last row that the groups find, as SQL.
pub(crate) fn indexed(table: &Table) -> String {
    let keeper = keeper(table).replace('\'', "''");
    let is_kept = format!(
        " WHERE EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name = '{keeper}')"
    );
    last(table, &is_kept)
}

/// The places of the rows whose groups are not there.
pub(crate) fn newest(table: &Table) -> String {
    let rows = quoted(table.model.name);
    format!(
        "SELECT {PLACE} FROM {rows} WHERE {PLACE} > {}",
        indexed(table)
    )
}

/// The places of all rows.
pub(super) fn all(table: &Table) -> String {
    format!("SELECT {PLACE} FROM {}", quoted(table.model.name))
}

/// Makes the table of the groups, empty, and what keeps those of its rows right that change or go.
/// A row that comes has a place after all that are there, so it waits for its turn.
pub(super) fn create(table: &Table) -> Vec<String> {
    let (groups, rows) = (name(table), quoted(table.model.name));
    let (names, last) = (names(table), last(table, ""));
    let searched = table.searched.iter().map(|column| lowered(column));
    let searched: Vec<_> = searched.collect();
    let new: Vec<_> = searched.iter().map(|name| format!("new.{name}")).collect();
    let differ: Vec<_> = searched
        .iter()
        .map(|name| format!("old.{name} IS NOT new.{name}"))
        .collect();
    let add = format!(
        "INSERT INTO {groups} (rowid, {names}) VALUES (new.{PLACE}, {});",
        new.join(", ")
    );
    let remove = format!("DELETE FROM {groups} WHERE rowid = old.{PLACE};");
    let on = |what: &str, when: &str, action: &str| {
        let trigger = quoted(&trigger(table, what));
        format!("CREATE TRIGGER {trigger} AFTER {what} ON {rows} WHEN {when} BEGIN {action} END")
    };
    let changes = format!("({}) AND old.{PLACE} <= {last}", differ.join(" OR "));
    vec![
        format!("DROP TABLE IF EXISTS {groups}"),
        format!(
            "CREATE VIRTUAL TABLE {groups} USING fts5({names}, content='', contentless_delete=1, \
             detail=none, tokenize='trigram case_sensitive 1')"
        ),
        on("delete", &format!("old.{PLACE} <= {last}"), &remove),
        on("update", &changes, &format!("{remove} {add}")),
    ]
}

/// The columns of the groups, which may not have just any name.
fn names(table: &Table) -> String {
    let columns = table.searched.iter();
    let names: Vec<_> = columns
        .map(|column| quoted(&format!("es_groups_{column}")))
        .collect();
    names.join(", ")
}

/// Adds the groups of the next rows, up to `?1` of them.
pub(super) fn advance(table: &Table) -> String {
    let columns: Vec<_> = table.searched.iter().map(|name| lowered(name)).collect();
    format!(
        "INSERT INTO {} (rowid, {}) SELECT {PLACE}, {} FROM {} WHERE {PLACE} > {} \
         ORDER BY {PLACE} LIMIT ?1",
        name(table),
        names(table),
        columns.join(", "),
        quoted(table.model.name),
        last(table, ""),
    )
}

/// What finds the rows that may hold these parts, in lower case, unless all are too short.
pub(crate) fn groups<'a>(parts: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut groups = BTreeSet::new();
    for part in parts {
        let characters: Vec<char> = part.chars().collect();
        // SQLite leaves this character out.
        let is_kept = |group: &&[char]| !group.contains(&'\0');
        let all: Vec<_> = characters.windows(GROUP).filter(is_kept).collect();
        let step = all.len().div_ceil(MOST_GROUPS).max(1);
        for group in all.iter().step_by(step).chain(all.last()) {
            let group: String = group.iter().collect();
            groups.insert(format!("\"{}\"", group.replace('"', "\"\"")));
        }
    }
    let groups: Vec<_> = groups.into_iter().collect();
    (!groups.is_empty()).then(|| groups.join(" AND "))
}

/// What is between letters and, to PostgreSQL's groups, ends a word: `l b` would have none but ` b`. A
/// part with other signs has groups on both sides of them.
const SIGNS: &str = " -'";
/// The letter that stands for each of them in the groups.
const LETTER: &str = "q";

/// A text as PostgreSQL's groups are made of it, which keeps groups of letters across words. It is made
/// for each row that is compared: `translate` takes six times as long.
pub(super) fn as_one_word(text: &str) -> String {
    SIGNS.chars().fold(text.to_owned(), |text, sign| {
        let sign = sign.to_string().replace('\'', "''");
        format!("replace({text}, '{sign}', '{LETTER}')")
    })
}

/// Whether a part is long enough for groups.
pub(super) fn has_group(part: &str) -> bool {
    part.chars().nth(GROUP.saturating_sub(1)).is_some()
}

/// What of a part is told PostgreSQL, if it is asked which groups are rare.
fn begin(part: &str) -> Vec<char> {
    part.chars().take(MOST_COMPARED).collect()
}

/// Groups of a part's beginning that PostgreSQL surely has: whether other characters are letters to it
/// depends on the database's locale, and what is none has no group.
pub(crate) fn plain_groups(part: &str) -> BTreeSet<String> {
    let begin = begin(part);
    let is_plain =
        |character: &char| character.is_ascii_alphanumeric() || SIGNS.contains(*character);
    let plain = |group: &&[char]| group.iter().all(is_plain);
    let groups = begin.windows(GROUP).filter(plain);
    groups.map(String::from_iter).collect()
}

/// The longest pieces of a part's beginning that have only such groups.
pub(crate) fn runs(part: &str, groups: &[String]) -> BTreeSet<String> {
    let begin = begin(part);
    let mut runs = BTreeSet::new();
    let mut run = String::new();
    for group in begin.windows(GROUP).map(String::from_iter) {
        if !groups.contains(&group) {
            runs.insert(std::mem::take(&mut run));
        } else if run.is_empty() {
            run = group;
        } else {
            run.extend(group.chars().last());
        }
    }
    runs.insert(run);
    runs.remove("");
    runs
}

/// The pattern of PostgreSQL's LIKE that finds a part anywhere in such a text, unless the part is
/// too short for groups.
pub(super) fn anywhere_in_one_word(part: &str) -> Option<String> {
    let is_sign = |character: char| SIGNS.contains(character);
    has_group(part).then(|| anywhere(&part.replace(is_sign, LETTER)))
}

/// The pattern of PostgreSQL's LIKE that finds a part anywhere.
pub(super) fn anywhere(part: &str) -> String {
    let mut pattern = String::with_capacity(part.len().saturating_add(2));
    pattern.push('%');
    for character in part.chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_looked_up_by_its_groups_of_three() {
        assert_eq!(groups(["ring"]).unwrap(), r#""ing" AND "rin""#);
        assert_eq!(groups(["a\"b", "x"]).unwrap(), r#""a""b""#);
        assert_eq!(groups(["äöü"]).unwrap(), "\"äöü\"");
        assert_eq!(groups(["ab", ""]), None);
        assert_eq!(groups(["a\0b"]), None);
        assert_eq!(
            groups(["abcdefghi"]).unwrap(),
            r#""abc" AND "cde" AND "efg" AND "ghi""#
        );
    }

    #[test]
    fn words_are_one_to_the_groups_of_postgresql() {
        assert_eq!(anywhere_in_one_word("l b").unwrap(), "%lqb%");
        assert_eq!(anywhere_in_one_word("100%: 'x").unwrap(), r"%100\%:qqx%");
        assert_eq!(anywhere_in_one_word("l "), None);
        let replaced = as_one_word("title");
        assert_eq!(
            replaced,
            "replace(replace(replace(title, ' ', 'q'), '-', 'q'), '''', 'q')"
        );
    }

    #[test]
    fn groups_are_plain_if_any_database_has_them() {
        let plain = |part| Vec::from_iter(plain_groups(part));
        assert_eq!(plain("ring a"), ["g a", "ing", "ng ", "rin"]);
        assert_eq!(plain("ringring"), ["gri", "ing", "ngr", "rin"]);
        assert_eq!(plain("é-ri: r"), ["-ri"]);
        assert_eq!(plain("%_?"), [""; 0]);
        let many: String = ('a'..='z').chain('0'..='9').collect();
        assert_eq!(plain_groups(&many).len(), 22);
    }

    #[test]
    fn groups_that_follow_each_other_are_one_run() {
        let runs = |part, groups: &[&str]| {
            let groups: Vec<_> = groups.iter().map(ToString::to_string).collect();
            Vec::from_iter(runs(part, &groups))
        };
        assert_eq!(runs("of broul", &["f b", " br", "bro", "rou"]), ["f brou"]);
        assert_eq!(
            runs("the string", &["ing", "e s", "the"]),
            ["e s", "ing", "the"]
        );
        assert_eq!(runs("abcabcd", &["abc", "bcd"]), ["abc", "abcd"]);
        assert_eq!(runs("the", &[]), [""; 0]);
    }

    #[test]
    fn signs_of_a_pattern_are_only_signs() {
        assert_eq!(anywhere(r"50%_\"), r"%50\%\_\\%");
    }
}
