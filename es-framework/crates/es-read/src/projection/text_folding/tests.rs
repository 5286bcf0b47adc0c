//! Texts against lines of the Unicode Character Database, version 16, and against cases that are folded by hand.

use super::fold_text;

/// Lines of `CaseFolding.txt`: the code, the status and the mapping. The status T is for Turkic languages.
const CASE_FOLDING: &str = "
0041; C; 0061; # LATIN CAPITAL LETTER A
0049; C; 0069; # LATIN CAPITAL LETTER I
00C9; C; 00E9; # LATIN CAPITAL LETTER E WITH ACUTE
00DF; F; 0073 0073; # LATIN SMALL LETTER SHARP S
0149; F; 02BC 006E; # LATIN SMALL LETTER N PRECEDED BY APOSTROPHE
01F0; F; 006A 030C; # LATIN SMALL LETTER J WITH CARON
0390; F; 03B9 0308 0301; # GREEK SMALL LETTER IOTA WITH DIALYTIKA AND TONOS
03A3; C; 03C3; # GREEK CAPITAL LETTER SIGMA
03C2; C; 03C3; # GREEK SMALL LETTER FINAL SIGMA
03D0; C; 03B2; # GREEK BETA SYMBOL
0416; C; 0436; # CYRILLIC CAPITAL LETTER ZHE
0531; C; 0561; # ARMENIAN CAPITAL LETTER AYB
0587; F; 0565 0582; # ARMENIAN SMALL LIGATURE ECH YIWN
10A0; C; 2D00; # GEORGIAN CAPITAL LETTER AN
13F8; C; 13F0; # CHEROKEE SMALL LETTER YE
1C90; C; 10D0; # GEORGIAN MTAVRULI CAPITAL LETTER AN
1E9E; F; 0073 0073; # LATIN CAPITAL LETTER SHARP S
1F80; F; 1F00 03B9; # GREEK SMALL LETTER ALPHA WITH PSILI AND YPOGEGRAMMENI
FB01; F; 0066 0069; # LATIN SMALL LIGATURE FI
FF21; C; FF41; # FULLWIDTH LATIN CAPITAL LETTER A
10400; C; 10428; # DESERET CAPITAL LETTER LONG I
1E900; C; 1E922; # ADLAM CAPITAL LETTER ALIF
0049; T; 0131; # LATIN CAPITAL LETTER I
0130; T; 0069; # LATIN CAPITAL LETTER I WITH DOT ABOVE
0130; F; 0069 0307; # LATIN CAPITAL LETTER I WITH DOT ABOVE";

/// Lines of `NormalizationTest.txt`: the source, and its forms NFC, NFD, NFKC and NFKD.
const NORMALIZATION: &str = "
1E0A;1E0A;0044 0307;1E0A;0044 0307;
1E0C 0307;1E0C 0307;0044 0323 0307;1E0C 0307;0044 0323 0307;
1E14 0304;1E14 0304;0045 0304 0300 0304;1E14 0304;0045 0304 0300 0304;
00B2;00B2;00B2;0032;0032;
00BD;00BD;00BD;0031 2044 0032;0031 2044 0032;
0132;0132;0132;0049 004A;0049 004A;
0344;0308 0301;0308 0301;0308 0301;0308 0301;
1E9B 0323;1E9B 0323;017F 0323 0307;1E69;0073 0323 0307;
2126;03A9;03A9;03A9;03A9;
212B;00C5;0041 030A;00C5;0041 030A;
AC00;AC00;1100 1161;AC00;1100 1161;
F900;8C48;8C48;8C48;8C48;
FB03;FB03;FB03;0066 0066 0069;0066 0066 0069;
FF76 FF9E;FF76 FF9E;FF76 FF9E;30AC;30AB 3099;";

fn text(codes: &str) -> String {
    let codes = codes.split_whitespace();
    let character = |code| char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap();
    codes.map(character).collect()
}

#[test]
fn what_case_folding_makes_equal_is_equal() {
    for line in CASE_FOLDING.trim().lines() {
        let [code, _, mapping] = line.splitn(3, "; ").collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let mapping = mapping.split(';').next().unwrap();
        assert_eq!(fold_text(&text(code)), fold_text(&text(mapping)), "{line}");
    }
}

#[test]
fn the_normal_forms_of_a_text_are_equal() {
    for line in NORMALIZATION.trim().lines() {
        let mut forms = line.trim_end_matches(';').split(';').map(text);
        let source = fold_text(&forms.next().unwrap());
        for form in forms {
            assert_eq!(fold_text(&form), source, "{line}");
        }
    }
}

#[test]
fn a_text_is_folded_as_a_person_would_fold_it() {
    for (given, folded) in [
        ("The Ring", "the ring"),
        ("ΟΔΥΣΣΕΥΣ", "οδυσσευσ"),
        ("ὈΔΥΣΣΕΎΣ", "ὀδυσσεύσ"),
        ("Οδύσσεια", "οδύσσεια"),
        ("Cafe\u{301}", "café"),
        ("CAFÉ", "café"),
        ("STRASSE, Straße, STRAẞE", "strasse, strasse, strasse"),
        (
            "İSTANBUL, Istanbul, ıstanbul",
            "istanbul, istanbul, istanbul",
        ),
        ("I\u{307}i\u{307}ı\u{307}", "iii"),
        ("i\u{307}\u{301}", "í"),
        ("\u{1F88}, α\u{345}\u{313}", "ἀι, ἀι"),
        ("ﬁnal ①²", "final 12"),
        ("ＩＳＢＮ　９", "isbn 9"),
        ("Bib\u{AD}lio\u{200B}\u{200D}thek", "bibliothek"),
        ("ガ ｶﾞ カ\u{3099}", "ガ ガ ガ"),
        ("e\u{200D}\u{301}", "é"),
        ("50%_\\'\"\0", "50%_\\'\"\0"),
        ("", ""),
    ] {
        assert_eq!(fold_text(given), folded, "{given}");
    }
}

#[test]
fn different_letters_stay_different() {
    for (one, other) in [("e", "é"), ("o", "ö"), ("ss", "s"), ("0", "o"), ("א", "ב")] {
        assert_ne!(fold_text(one), fold_text(other), "{one} {other}");
    }
}
