//! Whatever goes wrong, nothing is half-written and nothing is lost: killed, stopped, a full disk, mistakes.

mod common;

use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use common::Folder;
use common::applicants::folder;

/// Killed at any moment, nothing half-written; resumed, the same bits.
#[test]
fn killed_and_resumed() {
    let folder = folder();
    let common = ["train", "people.csv", "--policy", "policy.toml", "--turns", "60000", "--quiet"];
    let whole = folder.fairgame(&[&common[..], &["-o", "whole.safetensors"]].concat());
    assert!(matches!(whole.code, Some(0 | 1)), "{whole:?}");
    let part = [
        &common[..],
        &["-o", "part.safetensors", "--checkpoint", "run", "--resume", "--checkpoint-every", "300"],
    ]
    .concat();
    for wait in [30, 90, 160, 250, 400] {
        let mut child = folder.command(&part).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
        // Whole or not there.
        if folder.path("part.safetensors").exists() {
            assert_eq!(folder.bytes("part.safetensors"), folder.bytes("whole.safetensors"));
        }
    }
    let resumed = folder.fairgame(&part);
    assert_eq!(resumed.code, whole.code, "{resumed:?}");
    assert_eq!(folder.bytes("part.safetensors"), folder.bytes("whole.safetensors"));
    // A checkpoint that is there is not overwritten unasked, and not taken up by another training.
    let unasked = folder.fairgame(&[&common[..], &["--checkpoint", "run"]].concat());
    assert_eq!(unasked.code, Some(2));
    assert!(unasked.stderr.contains("--resume"), "{unasked:?}");
    let other = folder.fairgame(&[&part[..], &["--seed", "4"]].concat());
    assert_eq!(other.code, Some(2));
    assert!(other.stderr.contains("other settings or other data"), "{other:?}");
}

/// Ctrl-C, SIGTERM and SIGHUP end a training with what was kept, say so, and it can go on.
#[cfg(unix)]
#[test]
fn stopped_by_hand() {
    let folder = folder();
    let train = [
        "train",
        "people.csv",
        "--policy",
        "policy.toml",
        "--turns",
        "2000000000",
        "--recipe",
        "paper",
        "--keep",
        "1000000",
        "-o",
        "m.safetensors",
        "--checkpoint",
        "run",
        "--checkpoint-every",
        "5000",
        "--resume",
    ];
    let mut last = 0;
    // Where the tests themselves run under `nohup`, so does the program.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let signals = match ignored {
        Some(mask) if mask & 1 == 1 => &["-INT", "-TERM"][..],
        _ => &["-INT", "-TERM", "-HUP"],
    };
    for &signal in signals {
        let before = std::fs::read(folder.path("run/checkpoint.safetensors")).unwrap_or_default();
        let mut command = folder.command(&train);
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Until it has got on by a checkpoint.
        while std::fs::read(folder.path("run/checkpoint.safetensors")).unwrap_or_default() == before
        {
            assert_eq!(child.try_wait().unwrap(), None, "it plays on until it is stopped");
            std::thread::sleep(Duration::from_millis(20));
        }
        let kill =
            std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(kill.unwrap().success());
        let output = child.wait_with_output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(130), "{message}");
        let at = message.split("stopped at turn ").nth(1).expect("it says where");
        let turn: u64 = at.split(' ').next().unwrap().parse().unwrap();
        assert!(turn > last, "{message}");
        last = turn;
        let evaluated = folder.fairgame(&["evaluate", "m.safetensors", "new.csv"]);
        assert!(matches!(evaluated.code, Some(0 | 1 | 3)), "{evaluated:?}");
    }
}

/// One SIGTERM ends a prediction that waits for rows, and nothing stands in the place of its output.
#[cfg(unix)]
#[test]
fn a_prediction_that_waits_is_ended() {
    let folder = folder();
    let train = ["train", "people.csv", "--policy", "policy.toml", "--turns", "300", "--quiet"];
    let trained = folder.fairgame(&[&train[..], &["-o", "m.safetensors"]].concat());
    assert!(matches!(trained.code, Some(0 | 1)), "{trained:?}");
    let mut command = folder.command(&["predict", "m.safetensors", "-", "-o", "out.csv"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, &folder.bytes("new.csv")[..100]).unwrap();
    let partial = || {
        let entries = std::fs::read_dir(folder.path(".")).unwrap();
        entries
            .filter_map(Result::ok)
            .any(|one| one.file_name().to_string_lossy().contains("partial"))
    };
    // Its output is open, or is about to be, and it waits for the rest of its input.
    for _ in 0..50 {
        std::thread::sleep(Duration::from_millis(20));
        if partial() {
            break;
        }
    }
    assert_eq!(child.try_wait().unwrap(), None, "it waits for rows");
    let kill = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    let status = child.wait().unwrap();
    drop(input);
    assert!(!status.success(), "{status:?}");
    assert!(!folder.path("out.csv").exists());
}

/// A training that no turn ends, with checkpoints in `run`; it has saved one.
#[cfg(unix)]
fn endless(folder: &Folder, shell: &str) -> std::process::Child {
    let binary = env!("CARGO_BIN_EXE_fairgame");
    let script = format!(
        "{shell} {binary} train people.csv --policy policy.toml --turns 2000000000 --recipe paper \
         --keep 1000000 -o m.safetensors --checkpoint run --checkpoint-every 5000 --resume"
    );
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script]).current_dir(folder.path(""));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let saved = || std::fs::read(folder.path("run/checkpoint.safetensors")).unwrap_or_default();
    let before = saved();
    let mut child = command.spawn().unwrap();
    while saved() == before {
        assert_eq!(child.try_wait().unwrap(), None, "it plays on until it is stopped");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

#[cfg(unix)]
fn signal(child: &std::process::Child, signal: &str) {
    let kill = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
}

/// A second training in the folder of another one is refused, and told whose it is; after a kill it is free.
#[cfg(unix)]
#[test]
fn one_training_in_a_folder() {
    let folder = folder();
    let mut first = endless(&folder, "exec");
    let second = folder.fairgame(&[
        "train",
        "people.csv",
        "--policy",
        "policy.toml",
        "--turns",
        "300",
        "--checkpoint",
        "run",
        "--resume",
    ]);
    assert_eq!(second.code, Some(2), "{second:?}");
    let who = format!("process {} is training there", first.id());
    assert!(second.stderr.contains(&who), "{second:?}");
    first.kill().unwrap();
    first.wait().unwrap();
    let mut third = endless(&folder, "exec");
    signal(&third, "-INT");
    assert_eq!(third.wait().unwrap().code(), Some(130));
}

/// Under `nohup` a hangup is nothing, and SIGTERM still ends the training.
#[cfg(unix)]
#[test]
fn no_hangup_under_nohup() {
    let folder = folder();
    let mut child = endless(&folder, "trap '' HUP; exec");
    let saved = || std::fs::read(folder.path("run/checkpoint.safetensors")).unwrap_or_default();
    signal(&child, "-HUP");
    let before = saved();
    for _ in 0..2 {
        let before = saved();
        while saved() == before {
            assert_eq!(child.try_wait().unwrap(), None, "a hangup ended it");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    assert_ne!(saved(), before);
    signal(&child, "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

/// Results that were to go to a closed standard output are not lost without a word.
#[cfg(unix)]
#[test]
fn closed_standard_output() {
    let folder = folder();
    let binary = env!("CARGO_BIN_EXE_fairgame");
    let run = |arguments: &str, output: &str| {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &format!("exec {binary} {arguments} {output}")]);
        let run = shell.current_dir(folder.path("")).output().unwrap();
        (run.status.code(), String::from_utf8_lossy(&run.stderr).into_owned())
    };
    let train = "train people.csv --policy policy.toml --turns 300 --quiet -o m.safetensors";
    let (code, message) = run(train, ">&-");
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("standard output") && message.contains("closed"), "{message}");
    // The model is there all the same.
    for arguments in ["predict m.safetensors new.csv", "evaluate m.safetensors new.csv", "man"] {
        let (code, message) = run(arguments, ">&-");
        assert_eq!(code, Some(2), "{arguments}: {message}");
        assert!(message.contains("closed"), "{arguments}: {message}");
        let (code, message) = run(arguments, ">/dev/null");
        assert!(matches!(code, Some(0 | 1 | 3)), "{arguments}: {message}");
    }
    let (code, message) = run("predict m.safetensors new.csv -o scored.csv --quiet", ">&-");
    assert_eq!(code, Some(0), "nothing was to go there: {message}");
}

/// What is known to need more memory than there is, is refused with the number before the first turn.
#[cfg(target_os = "linux")]
#[test]
fn more_than_the_memory() {
    let folder = folder();
    let train = "train people.csv --policy policy.toml --recipe paper --quiet";
    let limited = |arguments: &str| {
        let binary = env!("CARGO_BIN_EXE_fairgame");
        let script = format!("ulimit -v 2000000; exec {binary} {arguments}");
        let mut shell = std::process::Command::new("sh");
        let run = shell.args(["-c", &script]).current_dir(folder.path("")).output().unwrap();
        (run.status.code(), String::from_utf8_lossy(&run.stderr).into_owned())
    };
    let every = limited(&format!("{train} --keep every --turns 100000000"));
    assert_eq!(every.0, Some(2), "{}", every.1);
    assert!(every.1.contains("keeping 100000000 models") && every.1.contains("GB"), "{}", every.1);
    // As many threads as nobody has.
    let many = limited(&format!("{train} --turns 300 --threads 1000000000"));
    assert!(matches!(many.0, Some(0 | 1)), "{}", many.1);
}

/// Small compressed files whose rows or columns need more memory than there is are refused with the line and the number.
#[cfg(target_os = "linux")]
#[test]
fn files_that_grow_beyond_the_memory() {
    let folder = folder();
    let pack = |name: &str, first: &str, piece: &str, times: usize| {
        let file = std::fs::File::create(folder.path(name)).unwrap();
        let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        packed.write_all(first.as_bytes()).unwrap();
        (0..times).for_each(|_| packed.write_all(piece.as_bytes()).unwrap());
        packed.finish().unwrap();
    };
    pack("fields.csv.gz", "1", &",1".repeat(100_000), 110);
    pack("long.csv.gz", "a,b\n1,", &"x".repeat(1 << 20), 1000);
    let wide = format!("{}\n", "1,".repeat(499_999) + "1");
    pack("rows.csv.gz", "", &wide, 800);
    let binary = env!("CARGO_BIN_EXE_fairgame");
    for (arguments, wanted) in [
        ("data describe fields.csv.gz --no-header", "line 1: 11000001 columns would take 24.2 GB"),
        ("train fields.csv.gz --no-header --label c1", "line 1: 11000001 columns would take"),
        ("data describe long.csv.gz --max-field 1500M --max-record 1500M", "line 2: the row"),
        ("data describe rows.csv.gz --no-header", "there is less memory"),
    ] {
        let script = format!("ulimit -v 2000000; exec {binary} {arguments}");
        let mut shell = std::process::Command::new("sh");
        let run = shell.args(["-c", &script]).current_dir(folder.path("")).output().unwrap();
        let message = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(2), "{arguments}: {message}");
        assert!(message.contains(wanted), "{arguments}: {message}");
    }
}

/// A disk that is full when the training is done: a message, nothing half-written, and the model not lost.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let folder = folder();
    let train = ["train", "people.csv", "--policy", "policy.toml", "--turns", "300", "--quiet"];
    let rescue = folder.path("rescue");
    std::fs::create_dir(&rescue).unwrap();
    let whole = folder.fairgame(&[&train[..], &["-o", "whole.safetensors"]].concat());
    assert!(matches!(whole.code, Some(0 | 1)), "{whole:?}");
    let mut command = folder.command(&[&train[..], &["-o", "/dev/full"]].concat());
    let output = command.env("TMPDIR", &rescue).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("No space left") && message.contains("rescue"), "{message}");
    let saved: Vec<_> =
        std::fs::read_dir(&rescue).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(std::fs::read(&saved[0]).unwrap(), folder.bytes("whole.safetensors"));

    // Files may not grow beyond four kilobytes: what a disk does that fills up while a file is written.
    let before = folder.listing();
    let binary = env!("CARGO_BIN_EXE_fairgame");
    for arguments in [
        "train people.csv --policy policy.toml --turns 300 --quiet -o full.safetensors",
        "predict whole.safetensors new.csv -o full.csv",
        "predict whole.safetensors new.csv -o full.parquet",
        "report whole.safetensors -o full.html",
        "data export compas full",
    ] {
        let script = format!("trap '' XFSZ; ulimit -f 8; exec {binary} {arguments}");
        let mut shell = std::process::Command::new("sh");
        let output = shell.args(["-c", &script]).current_dir(folder.path("")).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {message}");
        // Parquet's writer has its own words around it, by how far it had got.
        let said = message.contains("cannot be written: ") && message.contains("File too large");
        assert!(said, "{arguments}: {message}");
        std::fs::remove_dir(folder.path("full")).ok();
        assert_eq!(folder.listing(), before, "{arguments}");
    }
}

/// Each mistake: exit code 2, one message that says what to do, nothing on standard output, no file.
#[test]
fn mistakes() {
    let folder = folder();
    let model = folder.fairgame(&[
        "train",
        "people.csv",
        "--policy",
        "policy.toml",
        "--turns",
        "50",
        "-o",
        "m.safetensors",
    ]);
    assert!(matches!(model.code, Some(0 | 1)), "{model:?}");
    let half = folder.bytes("m.safetensors");
    folder.write("half.safetensors", &half[..half.len() / 2]);
    folder.write("bad.toml", "label = 'hired == \"yes\"'\nturns = 5\n");
    folder.write("broken.toml", "label = \n");
    folder.write("texts.csv", "hired,decision\nyes,accept\nno,reject\n");
    folder.write("scores.csv", "hired,score\nyes,1.5\nno,-2\n");
    folder.write("gaps.csv", "hired,score\nyes,0.5\nno,\n");
    let label = ["--label", "hired == \"yes\""];
    let train = |more: &[&'static str]| [&["train", "people.csv"], more].concat();
    let cases: Vec<(Vec<&str>, &str)> = vec![
        (train(&[]), "no label"),
        (train(&["--policy", "nosuch.toml"]), "cannot be read"),
        (train(&["--policy", "@adlt"]), "adult"),
        (train(&["--policy", "bad.toml"]), "turns"),
        (train(&["--policy", "broken.toml"]), "not TOML"),
        (train(&["--policy", "policy.toml", "--set", "model"]), "--set"),
        (train(&["--policy", "policy.toml", "--set", "sed = 3"]), "sed"),
        (train(&["--policy", "policy.toml", "--constraint", "recal() >= 0.9"]), "recall"),
        (
            train(&["--policy", "policy.toml", "--constraint", "tpr(grup == \"a\") >= 0.9"]),
            "did you mean `group`",
        ),
        (
            train(&["--policy", "policy.toml", "--constraint", "tpr(group == \"c\") >= 0.9"]),
            "group",
        ),
        (train(&["--policy", "policy.toml", "--constraint", "accuracy() >= 1.1"]), "no classifier"),
        (train(&["--policy", "policy.toml", "--weight", "wieght"]), "did you mean `weight`"),
        (train(&["--policy", "policy.toml", "--weight", "city"]), "category"),
        (train(&["--policy", "policy.toml", "--turns", "0"]), "above 0"),
        (train(&["--policy", "policy.toml", "--batch", "0"]), "above 0"),
        (train(&["--policy", "policy.toml", "--step", "-1"]), "step"),
        (train(&["--policy", "policy.toml", "--units", "5"]), "mlp"),
        (train(&["--policy", "policy.toml", "--model", "mlp", "--units", "0"]), "unit"),
        (train(&["--policy", "policy.toml", "--keep", "some"]), "every"),
        (train(&["--policy", "policy.toml", "--keep", "0"]), "nothing to select from"),
        (train(&["--policy", "policy.toml", "--epsilon", "0.1"]), "epsilon"),
        (train(&["--policy", "policy.toml", "--algorithm", "discrete"]), "radius"),
        (train(&["--policy", "policy.toml", "--algorithm", "continuous"]), "convex"),
        (train(&["--policy", "policy.toml", "--val-fraction", "1.5"]), "fraction"),
        (train(&["--policy", "policy.toml", "--val-fraction", "0"]), "fraction"),
        (train(&["--policy", "policy.toml", "--test-fraction", "-0.1"]), "fraction"),
        (train(&["--policy", "policy.toml", "-o", "no/such/folder/m"]), "folder"),
        (train(&["--policy", "policy.toml", "-o", "."]), "folder"),
        // Nobody, not even root, can make a file there.
        (train(&["--policy", "policy.toml", "-o", "/proc/m.safetensors"]), "may be written to"),
        (train(&["--policy", "policy.toml", "--validation", "texts.csv"]), "column"),
        (train(&["--policy", "policy.toml", "--test", "nosuch.csv"]), "nosuch.csv"),
        (train(&["--policy", "policy.toml", "--ignore", "cty"]), "city"),
        (vec!["evaluate", "nosuch", "new.csv"], "cannot be read"),
        (vec!["evaluate", "people.csv", "new.csv"], "not a model"),
        (vec!["evaluate", "half.safetensors", "new.csv"], "not a model"),
        (vec!["evaluate", "m.safetensors", "texts.csv"], "column"),
        (vec!["evaluate", "m.safetensors", "new.csv", "--confidence", "1"], "confidence"),
        (vec!["evaluate", "m.safetensors", "new.csv", "--weight", "hired"], "weight"),
        (vec!["predict", "m.safetensors", "texts.csv"], "column"),
        (vec!["predict", "m.safetensors", "new.csv", "-o", "out.xyz"], "format"),
        (vec!["predict", "m.safetensors", "new.csv", "--id", "di"], "did you mean `id`"),
        (vec!["predict", "m.safetensors", "new.csv", "--format", "parquet"], "standard output"),
        ([&["audit", "texts.csv", "--prediction", "decision"], &label[..]].concat(), "decision =="),
        ([&["audit", "texts.csv", "--prediction", "decison"], &label[..]].concat(), "decision"),
        (
            [&["audit", "scores.csv", "--prediction", "score"], &label[..]].concat(),
            "between 0 and 1",
        ),
        ([&["audit", "gaps.csv", "--prediction", "score"], &label[..]].concat(), "no prediction"),
        (vec!["audit", "scores.csv", "--prediction", "score"], "no label"),
    ];
    let before = folder.listing();
    for (arguments, wanted) in cases {
        let run = folder.fairgame(&arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}: {run:?}");
        assert!(run.stdout.is_empty(), "{arguments:?}: {run:?}");
        assert!(
            run.stderr.contains("error: ") && run.stderr.contains(wanted),
            "{arguments:?}: {run:?}"
        );
        let errors = run.stderr.lines().filter(|line| line.starts_with("error: ")).count();
        assert_eq!(errors, 1, "{arguments:?}: {run:?}");
        assert!(!run.stderr.contains("panicked"), "{arguments:?}: {run:?}");
    }
    assert_eq!(folder.listing(), before, "no file was left behind");
}

/// A disk that has no room for rows beyond the memory budget, and a folder of temporary files that is not there: said before
/// training, and nothing is written.
#[cfg(target_os = "linux")]
#[expect(clippy::print_stdout, reason = "it says what was left out")]
#[test]
fn no_room_for_rows() {
    let folder = Folder::new();
    let mut csv = String::from("x,group,label\n");
    for row in 0..1_000_000_u64 {
        let draw = row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let (x, group) = (draw % 1000, if draw % 3 == 0 { "a" } else { "b" });
        csv.push_str(&format!("{x},{group},{}\n", draw / 7 % 1400 < 200 + x));
    }
    folder.write("people.csv", csv);
    std::fs::create_dir(folder.path("small")).unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
        .arg(folder.path("small"))
        .status();
    let mounted = mounted.is_ok_and(|status| status.success());
    let train = |place: &str| {
        let rule = "positive_rate(each group) >= 0.8 * positive_rate()";
        let mut command = folder.command(&["train", "people.csv", "--label", "label"]);
        command.args(["--constraint", rule, "--model", "linear", "--memory", "1KB"]);
        let found =
            command.args(["-o", "m.safetensors"]).env("TMPDIR", folder.path(place)).output();
        let found = found.unwrap();
        assert!(!folder.path("m.safetensors").exists());
        (found.status.code(), String::from_utf8_lossy(&found.stderr).into_owned())
    };
    let mut places = vec!["missing"];
    if mounted {
        places.push("small");
    } else {
        println!("a full disk was left out: a small file system cannot be mounted here");
    }
    let found: Vec<_> = places.iter().map(|place| train(place)).collect();
    if mounted {
        std::process::Command::new("umount").arg(folder.path("small")).status().unwrap();
    }
    for (code, said) in found {
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("for rows that are beyond the memory budget"), "{said}");
        assert!(said.contains("TMPDIR") && said.contains("--memory"), "{said}");
    }
}
