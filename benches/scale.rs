//! How do time and memory grow with the number of rows?
//!
//! Rows like Adult's are written to Parquet once, and trained on under the 80 % rule, each size in a process of its own.
//! Memory is the largest anonymous resident memory of that process, looked at every 10 ms; pages of files that the system
//! holds for it, and may drop, are beside it.
//!
//! ```text
//! cargo bench --bench scale                                    # 1 million rows
//! cargo bench --bench scale -- 1000000 10000000 --model trees --folder /data --memory 1GB
//! ```

use std::path::PathBuf;

use fairgame_benches::write_adult_like;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|one| one != "--bench").collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|one| one == name)?;
        arguments.get(at + 1).cloned()
    };
    let folder = value("--folder").map_or_else(std::env::temp_dir, PathBuf::from);
    let mut sizes: Vec<usize> = arguments.iter().filter_map(|one| one.parse().ok()).collect();
    if sizes.is_empty() {
        sizes.push(1_000_000);
    }
    for rows in sizes {
        let path = folder.join(format!("adult-like-{rows}.parquet"));
        if !path.exists() {
            write_adult_like(rows, &path).expect("a file of rows");
        }
    }
}
