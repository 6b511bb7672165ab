//! Any text, read as a problem, is an error or a problem: no panic, no hang, no overflow.
//!
//! The first line is the label, the second the objective, each further line a constraint. What parses
//! must print as text that parses back to it; what binds to the table must compile, and mean the same
//! when it is kept as text.
#![no_main]

use std::sync::OnceLock;

use fairgame::rate::Problem;
use fairgame::rate::language::{Condition, Expression, Statement};
use fairgame::table::{ReadOptions, Source, Table, read};
use libfuzzer_sys::fuzz_target;

const PEOPLE: &str = "age,race,sex,hired,old,`odd` name\n\
    25,Black,f,true,true,1\n35,White,m,false,true,2\n45,Black,m,true,false,3\n\
    22,Asian,f,false,false,\n61,White,f,true,,5\n,White,m,false,true,6\n";

fn people() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        read([Source::stream("people.csv", PEOPLE.as_bytes())], &ReadOptions::default())
            .expect("the table is sound")
    })
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(tree) = Condition::parse(text) {
        assert_eq!(Condition::parse(&tree.to_string()).expect("it prints as itself"), tree);
    }
    if let Ok(tree) = Expression::parse(text) {
        assert_eq!(Expression::parse(&tree.to_string()).expect("it prints as itself"), tree);
    }
    if let Ok(tree) = Statement::parse(text) {
        assert_eq!(Statement::parse(&tree.to_string()).expect("it prints as itself"), tree);
    }
    let mut lines = text.lines();
    let (label, objective) = (lines.next().unwrap_or(""), lines.next().unwrap_or(""));
    let constraints: Vec<&str> = lines.collect();
    match Problem::parse(label, objective, &constraints) {
        Err(error) => drop(error.to_string()),
        Ok(problem) => match problem.skip_empty_groups().bind(people(), &[]) {
            Err(error) => drop(error.to_string()),
            Ok((bound, _)) => {
                let compiled = bound.compile(people(), None).expect("what binds compiles");
                assert_eq!(compiled.losses().constraints(), bound.constraints().len());
                let thawed = bound.frozen().thaw().expect("what binds can be kept as text");
                let again = thawed.compile(people(), None).expect("what binds compiles");
                assert_eq!(again.losses(), compiled.losses());
            }
        },
    }
});
