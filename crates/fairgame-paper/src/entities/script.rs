//! Scripts, by sound: from Latin letters to others, and the ways back on which listings differ.

/// An alphabet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    /// With or without marks above its letters.
    Latin,
    /// Russian.
    Cyrillic,
    /// Greek.
    Greek,
    /// Japanese syllables.
    Katakana,
}

impl Script {
    /// A text in Latin letters as it is written in this script; what the script has no letters for stays.
    pub(super) fn write(self, latin: &str) -> String {
        let table = match self {
            Script::Latin => return latin.to_owned(),
            Script::Cyrillic => CYRILLIC,
            Script::Greek => GREEK,
            Script::Katakana => KATAKANA,
        };
        let lower = latin.to_lowercase();
        let mut rest = lower.as_str();
        let mut text = String::new();
        while let Some(first) = rest.chars().next() {
            // The tables have longer sounds first.
            let sound = table.iter().find(|(sound, _)| rest.starts_with(sound));
            let (length, letters) = match sound {
                Some((sound, letters)) => (sound.len(), *letters),
                None => (first.len_utf8(), &rest[..first.len_utf8()]),
            };
            text.push_str(letters);
            rest = &rest[length..];
        }
        text
    }

    /// Pairs of ways to write the same sound in Latin letters, of which listings choose one or the other.
    pub(super) fn spellings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Script::Latin => &[("ph", "f"), ("ck", "k"), ("y", "i"), ("ou", "u"), ("oo", "u")],
            Script::Cyrillic => &[
                ("zh", "j"),
                ("kh", "h"),
                ("ts", "c"),
                ("sh", "ch"),
                ("ya", "ia"),
                ("yu", "iu"),
                ("ov", "off"),
                ("v", "w"),
                ("k", "c"),
                ("y", "i"),
            ],
            Script::Greek => &[
                ("ou", "u"),
                ("ch", "h"),
                ("th", "t"),
                ("g", "gh"),
                ("v", "b"),
                ("ei", "i"),
                ("ks", "x"),
                ("k", "c"),
                ("f", "ph"),
            ],
            Script::Katakana => &[
                ("shi", "si"),
                ("chi", "ti"),
                ("tsu", "tu"),
                ("fu", "hu"),
                ("ji", "zi"),
                ("ou", "o"),
                ("r", "l"),
                ("u", ""),
                ("k", "c"),
            ],
        }
    }
}

/// Sounds to letters, longer sounds first.
type Sound = (&'static str, &'static str);

const CYRILLIC: &[Sound] = &[
    ("shch", "щ"),
    ("zh", "ж"),
    ("kh", "х"),
    ("ts", "ц"),
    ("ch", "ч"),
    ("sh", "ш"),
    ("ya", "я"),
    ("yu", "ю"),
    ("a", "а"),
    ("b", "б"),
    ("v", "в"),
    ("g", "г"),
    ("d", "д"),
    ("e", "е"),
    ("z", "з"),
    ("i", "и"),
    ("y", "й"),
    ("k", "к"),
    ("l", "л"),
    ("m", "м"),
    ("n", "н"),
    ("o", "о"),
    ("p", "п"),
    ("r", "р"),
    ("s", "с"),
    ("t", "т"),
    ("u", "у"),
    ("f", "ф"),
];

const GREEK: &[Sound] = &[
    ("ou", "ου"),
    ("th", "θ"),
    ("ch", "χ"),
    ("ks", "ξ"),
    ("ps", "ψ"),
    ("a", "α"),
    ("v", "β"),
    ("g", "γ"),
    ("d", "δ"),
    ("e", "ε"),
    ("z", "ζ"),
    ("i", "ι"),
    ("k", "κ"),
    ("l", "λ"),
    ("m", "μ"),
    ("n", "ν"),
    ("o", "ο"),
    ("p", "π"),
    ("r", "ρ"),
    ("s", "σ"),
    ("t", "τ"),
    ("y", "υ"),
    ("f", "φ"),
];

const KATAKANA: &[Sound] = &[
    ("sha", "シャ"),
    ("shu", "シュ"),
    ("sho", "ショ"),
    ("she", "シェ"),
    ("cha", "チャ"),
    ("chu", "チュ"),
    ("cho", "チョ"),
    ("che", "チェ"),
    ("shi", "シ"),
    ("chi", "チ"),
    ("tsu", "ツ"),
    ("ka", "カ"),
    ("ki", "キ"),
    ("ku", "ク"),
    ("ke", "ケ"),
    ("ko", "コ"),
    ("sa", "サ"),
    ("su", "ス"),
    ("se", "セ"),
    ("so", "ソ"),
    ("ta", "タ"),
    ("te", "テ"),
    ("to", "ト"),
    ("na", "ナ"),
    ("ni", "ニ"),
    ("nu", "ヌ"),
    ("ne", "ネ"),
    ("no", "ノ"),
    ("ha", "ハ"),
    ("hi", "ヒ"),
    ("fu", "フ"),
    ("he", "ヘ"),
    ("ho", "ホ"),
    ("ma", "マ"),
    ("mi", "ミ"),
    ("mu", "ム"),
    ("me", "メ"),
    ("mo", "モ"),
    ("ya", "ヤ"),
    ("yu", "ユ"),
    ("yo", "ヨ"),
    ("yi", "イ"),
    ("ye", "エ"),
    ("si", "シ"),
    ("ti", "チ"),
    ("tu", "ツ"),
    ("hu", "フ"),
    ("zi", "ジ"),
    ("ze", "ゼ"),
    ("zo", "ゾ"),
    ("di", "ヂ"),
    ("du", "ヅ"),
    ("ra", "ラ"),
    ("ri", "リ"),
    ("ru", "ル"),
    ("re", "レ"),
    ("ro", "ロ"),
    ("wa", "ワ"),
    ("ga", "ガ"),
    ("gi", "ギ"),
    ("gu", "グ"),
    ("ge", "ゲ"),
    ("go", "ゴ"),
    ("za", "ザ"),
    ("ji", "ジ"),
    ("zu", "ズ"),
    ("da", "ダ"),
    ("de", "デ"),
    ("do", "ド"),
    ("ba", "バ"),
    ("bi", "ビ"),
    ("bu", "ブ"),
    ("be", "ベ"),
    ("bo", "ボ"),
    ("pa", "パ"),
    ("pi", "ピ"),
    ("pu", "プ"),
    ("pe", "ペ"),
    ("po", "ポ"),
    ("a", "ア"),
    ("i", "イ"),
    ("u", "ウ"),
    ("e", "エ"),
    ("o", "オ"),
    ("n", "ン"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_write_by_sound() {
        assert_eq!(Script::Cyrillic.write("Zhukov"), "жуков");
        assert_eq!(Script::Greek.write("Thalis"), "θαλισ");
        assert_eq!(Script::Katakana.write("shimoda"), "シモダ");
        assert_eq!(Script::Latin.write("Käse"), "Käse");
    }
}
