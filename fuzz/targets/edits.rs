//! Changes of a sound archive, eight bytes each: a letter of its header, or a number of one of its arrays.

use fairgame::archive::{Archive, Numbers};

pub fn change(archive: &mut Archive, edit: &[u8; 8]) {
    let [kind, place @ .., a, b, c, d] = *edit;
    let place = u32::from_le_bytes([place[0], place[1], place[2], 0]) as usize;
    let value = u32::from_le_bytes([a, b, c, d]);
    if kind % 2 == 0 {
        let mut header = std::mem::take(&mut archive.header).into_bytes();
        if !header.is_empty() {
            let at = place % header.len();
            // A letter that keeps more of JSON's shape than a random byte would.
            header[at] = b"0123456789.-,[]{}\":eEnulltruefas x"[value as usize % 34];
        }
        archive.header = String::from_utf8_lossy(&header).into_owned();
        return;
    }
    let count = archive.arrays.iter_mut().count().max(1);
    let Some((_, numbers)) = archive.arrays.iter_mut().nth(place % count) else { return };
    let at = place / count;
    let shorter = kind % 16 == 15;
    match numbers {
        Numbers::F32(all) if shorter => drop(all.pop()),
        Numbers::F64(all) if shorter => drop(all.pop()),
        Numbers::U32(all) if shorter => drop(all.pop()),
        Numbers::U64(all) if shorter => drop(all.pop()),
        Numbers::F32(all) => set(all, at, f32::from_bits(value)),
        Numbers::F64(all) => set(all, at, f64::from(f32::from_bits(value))),
        Numbers::U32(all) => set(all, at, if kind & 4 == 0 { value % 64 } else { value }),
        Numbers::U64(all) => set(all, at, u64::from(value) << (kind & 32)),
    }
}

fn set<T>(all: &mut [T], at: usize, value: T) {
    let count = all.len().max(1);
    if let Some(one) = all.get_mut(at % count) {
        *one = value;
    }
}
