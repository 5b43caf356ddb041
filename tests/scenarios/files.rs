//! Files that are wrong, and cases and seeds: what is told, and which runs a file has.

use std::path::Path;
use std::process::Command;

use atom_sim::scenario::batch::Options;
use atom_sim::scenario::load::{load, load_one, load_text};

use super::{WRONG, failures, run};

fn errors(text: &str) -> Vec<String> {
    load_text(Path::new("s.toml"), text).expect_err("it is wrong").iter().map(ToString::to_string).collect()
}

fn with(line: &str) -> String {
    format!("{WRONG}\n{line}\n")
}

#[test]
fn a_wrong_file_gets_line_column_and_what_would_be_right() {
    let one = |text: &str| {
        let errors = errors(text);
        assert_eq!(errors.len(), 1, "{errors:?}");
        errors[0].clone()
    };
    assert_eq!(
        one(&with("[[fault]]\nname = \"servo.slient\"\njoint = 1")),
        "s.toml:20:8: unknown fault \"servo.slient\"; the nearest is \"servo.silent\""
    );
    assert_eq!(
        one(&with("[[fault]]\nname = \"servo.silent\"\njoint = 9")),
        "s.toml:21:9: joint of servo.silent must be a whole number from 1 to 7, found 9"
    );
    assert_eq!(
        one(&with("[[step]]\nclient = \"pgae\"\ndo = \"ping\"")),
        "s.toml:19:1: no client \"pgae\"; there is: page"
    );
    let typo = one(&WRONG.replace("do = \"ping\"", "do = \"pong\""));
    assert!(typo.starts_with("s.toml:12:6: unknown variant `pong`"), "{typo}");
    assert!(typo.ends_with("the nearest is `ping`"), "{typo}");
    let key = one(&WRONG.replace("purpose", "prupose"));
    assert!(key.starts_with("s.toml:2:1: unknown field `prupose`"), "{key}");
    assert!(key.ends_with("the nearest is `purpose`"), "{key}");
    let times = one(&WRONG.replace("at_s = 0.5", "at_s = 0.5\nwithin_s = [0, 1]"));
    assert!(times.contains("expected exactly one of at_s, within_s"), "{times}");
    let late = one(&WRONG.replace("at_s = 0.5", "at_s = 1.5"));
    assert!(late.contains("up to the duration of 1 s, found 1.5 to 1.5"), "{late}");
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let found =
        errors(&with("[[fault]]\nname = \"nothing\"\n[[step]]\nclient = \"page\"\nat_s = 9\ndo = \"hold\""));
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn parameters_are_put_in_and_unknown_ones_are_named() {
    let text = WRONG.replace("state = \"moving\"", "state = \"${state}\"");
    let cases = "[parameters]\nseeds = [3, 5]\ncases = [{ case = \"a\", state = \"holding\" }]\n";
    let scenarios = load_text(Path::new("s.toml"), &format!("{text}\n{cases}")).expect("it is right");
    let names: Vec<&str> = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
    assert_eq!(names, ["wrong[a]#3", "wrong[a]#4", "wrong[a]#5"]);
    assert_eq!(failures(&run(&scenarios, &Options::default())), "");
    let unknown = errors(&format!("{text}\n{}", cases.replace("state =", "stat =")));
    assert!(unknown[0].contains("names a parameter that no case has; there is: case, stat"), "{unknown:?}");
}

#[test]
fn what_a_reply_does_not_have_is_not_looked_at_silently() {
    let that = |that: &str| errors(&WRONG.replace("that.state = \"moving\"", that)).join("\n");
    for (wrong, told) in [
        (
            "that.replies = { client = \"page\", reply = \"pong\", status = 0, min = 1 }",
            "status belongs to ACK",
        ),
        (
            "that.replies = { client = \"page\", reply = \"ack\", result = 0, min = 1 }",
            "result belongs to DONE",
        ),
        (
            "that.replies = { client = \"page\", reply = \"telem\", since_s = 1, min = 1 }",
            "does not belong to telem",
        ),
        ("that.order = { client = \"page\", replies = [{ reply = \"stream\" }] }", "comes once in an order"),
        (
            "that.order = { client = \"page\", replies = [{ reply = \"done\", to = \"play\" }] }",
            "to belongs to ACK",
        ),
        (
            "that.stream = { client = \"page\", field = \"age_ms\", since_s = 1, max = 1 }",
            "since_s belongs to packets",
        ),
    ] {
        assert!(that(wrong).contains(told), "{wrong}: {}", that(wrong));
    }
}

#[test]
fn a_fault_after_the_end_and_an_arm_that_cannot_be_are_refused() {
    let late = errors(&with("[[fault]]\nname = \"button.press\"\nat_s = 1"));
    assert_eq!(late, ["s.toml:19:1: expected at_s from 0 to before the end at 1 s, found 1"]);
    let arm = errors(&with("[arm]\npose_deg = [0, 0, 0, 0, 0, 239]"));
    assert!(arm.len() == 1 && arm[0].starts_with("s.toml:19:1: the arm cannot be: "), "{arm:?}");
}

#[test]
fn runs_are_limited_and_one_of_many_is_loaded_alone() {
    let seeds = errors(&with("[parameters]\nseeds = [0, 100000]"));
    assert!(seeds[0].contains("at most 100000 seeds for each of 1 cases, found [0, 100000]"), "{seeds:?}");
    let cases = "{ case = \"a\" }, ".repeat(1_001);
    let many = errors(&with(&format!("[parameters]\ncases = [{cases}]")));
    assert_eq!(many, ["s.toml: expected at most 1000 cases, found 1001"]);
    let cases = "{ case = \"a\" }, ".repeat(100);
    let both = errors(&with(&format!("[parameters]\nseeds = [1, 1001]\ncases = [{cases}]")));
    assert!(both[0].contains("at most 1000 seeds for each of 100 cases"), "{both:?}");

    let text = with("[parameters]\nseeds = [1, 50000]\ncases = [{ case = \"a\" }, { case = \"b\" }]");
    let one = |name| load_one(Path::new("s.toml"), &text, name);
    let scenario = one(Some("wrong[b]#777")).expect("there is one");
    assert_eq!((scenario.name.as_str(), scenario.seed), ("wrong[b]#777", 777));
    let told = one(Some("wrong[c]#1")).expect_err("there is none")[0].to_string();
    assert!(
        told.starts_with("s.toml: expected the name of one of 100000 scenarios, such as wrong[a]#1, "),
        "{told}"
    );
    assert!(told.ends_with("found \"wrong[c]#1\""), "{told}");
    assert!(one(None).is_err_and(|errors| errors[0].to_string().ends_with("found no name")));
    assert_eq!(load_one(Path::new("s.toml"), WRONG, None).expect("the only one").name, "wrong");
    // What is wrong with another one is not looked at.
    let cases = "[parameters]\ncases = [{ case = \"a\", end_s = 1 }, { case = \"b\", end_s = \"never\" }]";
    let text = with(cases).replace("duration_s = 1\n", "duration_s = \"${end_s}\"\n");
    let one = |name| load_one(Path::new("s.toml"), &text, Some(name));
    assert!(one("wrong[a]").is_ok() && one("wrong[b]").is_err(), "{text}");
}

#[test]
fn two_files_of_one_name_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    for name in ["a.toml", "b.toml"] {
        std::fs::write(path(name), WRONG).expect("a file");
    }
    let errors = load(&[folder.path().to_owned()]).expect_err("the name is twice");
    let expected = format!(
        "{}: the name \"wrong\" is already that of {}",
        path("b.toml").display(),
        path("a.toml").display()
    );
    assert_eq!(errors.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
}

#[test]
fn the_whole_name_of_a_scenario_selects_that_one_alone() {
    let longer = WRONG.replace("name = \"wrong\"", "name = \"wrong-too\"");
    let mut scenarios = load_text(Path::new("s.toml"), WRONG).expect("right");
    scenarios.extend(load_text(Path::new("t.toml"), &longer).expect("right"));
    let names = |only: &str| {
        let options = Options { only: Some(only.to_owned()), ..Options::default() };
        run(&scenarios, &options).into_iter().map(|outcome| outcome.name).collect::<Vec<_>>()
    };
    assert_eq!(names("wrong"), ["wrong"]);
    assert_eq!(names("wron"), ["wrong", "wrong-too"]);
}

/// Exit code and standard error of `atom-sim run` with a folder that has a right and a failing scenario.
fn command(arguments: &[&str]) -> (i32, String) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("fails.toml"), WRONG).expect("a file");
    let right = WRONG.replace("\"wrong\"", "\"right\"").replace("\"moving\"", "\"holding\"");
    std::fs::write(folder.path().join("right.toml"), right).expect("a file");
    std::fs::write(folder.path().join("bad.txt"), "name = 1").expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_atom-sim"))
        .current_dir(folder.path())
        .arg("run")
        .args(arguments)
        .output()
        .expect("the binary runs");
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn the_exit_code_says_what_became_of_the_runs() {
    let table: &[(&[&str], i32, &str)] = &[
        (&["right.toml"], 0, ""),
        (&["."], 1, "1 of 2 scenarios failed"),
        (&["bad.txt"], 2, "nothing was run\nbad.txt:1:8: "),
        (&["none.toml"], 2, "none.toml: cannot be read"),
        (&["right.toml", "--shard", "3/2"], 2, "i/n with 1 ≤ i ≤ n"),
        (&["right.toml", "--shard", "2/2"], 2, "--shard 2/2 of 1 scenarios has none"),
        (&["right.toml", "--only", "x"], 2, "of 1 scenarios none is selected by --only x"),
        (&["right.toml", "--junit", "no/such/folder.xml"], 3, "nothing was run"),
        (&["right.toml", "--record", "right.toml/x"], 3, "nothing was run"),
    ];
    for (arguments, code, told) in table {
        let (found, stderr) = command(arguments);
        assert_eq!(found, *code, "{arguments:?}: {stderr}");
        assert!(stderr.contains(told), "{arguments:?}: {stderr}");
    }
}
