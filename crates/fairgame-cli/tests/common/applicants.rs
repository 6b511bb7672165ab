//! A file of one's own: applicants, and a policy for hiring them.

use super::Folder;

/// Applicants of two groups, one of which is hired less often for the same skill.
pub(crate) fn applicants(rows: usize, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut unit = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut text = "id,group,skill,city,weight,hired\n".to_owned();
    for row in 0..rows {
        let one = unit() < 0.4;
        let skill = unit() * 10.0;
        let city = ["Aachen", "Bonn", "Celle"][(unit() * 3.0) as usize];
        let hired = skill + unit() * 4.0 - if one { 1.5 } else { 0.0 } > 6.5;
        let (group, hired) = (if one { "a" } else { "b" }, if hired { "yes" } else { "no" });
        let shown = if unit() < 0.05 { String::new() } else { format!("{skill:.3}") };
        text += &format!("{row},{group},{shown},{city},{:.2},{hired}\n", 0.5 + unit());
    }
    text
}

const POLICY: &str = r#"
label = 'hired == "yes"'
constraints = ['positive_rate(each group) >= 0.8 * positive_rate()', 'recall() >= 0.7']
seed = 3

[encoder]
ignore = ["id", "weight"]

[algorithm.practical]
turns = 4000
"#;

/// A folder of applicants to train on, new ones, and the policy.
pub(crate) fn folder() -> Folder {
    let folder = Folder::with("people.csv", applicants(1500, 1));
    folder.write("new.csv", applicants(1500, 2));
    folder.write("policy.toml", POLICY);
    folder
}
