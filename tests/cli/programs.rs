//! Commands that are programs of their own, as with cargo and git.

use crate::common::program::{ends, outcome, trinim};
use crate::common::scratch;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

/// A program that says its name, process, arguments and variables, and ends as its first argument
/// says. It is written by another process: one that a test begins meanwhile would hold the file
/// open, and it could not be run.
const HELLO: &str = r#"mkdir -p "$(dirname "$0")" && cat >"$0" <<'END' && chmod +x "$0"
#!/bin/sh
echo "$0 $$ quiet=$TRINIM_QUIET never=$NO_COLOR always=$CLICOLOR_FORCE"
printf '<%s>' "$@"
case $1 in
signal) kill -TERM $$ ;;
*) exit ${1:-0} ;;
esac
END"#;

fn write(program: &Path) {
    assert!(processes::command("sh").args(["-c", HELLO]).arg(program).status().unwrap().success());
}

/// The program with the folder `bin` in front of the PATH.
fn with_path(folder: &Path, args: &[&str]) -> Command {
    let mut command = trinim(folder, args);
    command.env("PATH", format!("{}:/usr/bin:/bin", folder.join("bin").display()));
    for name in ["NO_COLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command
}

#[test]
fn a_program_on_the_path_gets_the_arguments_and_gives_its_exit_code() {
    let folder = scratch();
    let path = folder.path();
    let hello = path.join("bin/trinim-hello");
    write(&hello);
    let mut child = with_path(path, &["hello", "7", "a b", "", "--help", "-q", "--", "--json"]);
    child.arg(OsStr::from_bytes(b"\xff"));
    let child = child.spawn().unwrap();
    // It has the process of trinim: a signal or a wait for one reaches the other.
    let id = child.id();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    let said = format!("{} {id} quiet= never= always=\n<7><a b><><--help><-q><--><--json><", hello.display());
    assert_eq!(output.stdout, [said.as_bytes(), b"\xff>"].concat());
    assert_eq!(output.stderr, b"");
    let stopped = with_path(path, &["hello", "signal"]).output().unwrap().status;
    assert_eq!((stopped.code(), stopped.signal()), (None, Some(15)));
}

/// The flags of every command, in front of the name, become variables.
#[test]
fn quiet_and_colours_are_handed_over() {
    let folder = scratch();
    let path = folder.path();
    write(&path.join("bin/trinim-hello"));
    for (args, variables) in [
        (&["-q", "hello"][..], "quiet=1 never= always="),
        (&["--color", "never", "hello"], "quiet= never=1 always="),
        (&["--color=always", "--quiet", "hello"], "quiet=1 never= always=1"),
        (&["--color", "auto", "hello"], "quiet= never= always="),
    ] {
        let (code, out, error) = outcome(&mut with_path(path, args));
        assert!(code == 0 && out.contains(variables) && out.ends_with("<>"), "{args:?}: {code} {out} {error}");
    }
    let (code, _, error) = outcome(&mut with_path(path, &["--frobnicate", "hello"]));
    assert_eq!((code, error.lines().count()), (2, 2), "{error}");
}

#[test]
fn a_program_beside_trinim_comes_first() {
    let folder = scratch();
    let path = folder.path();
    for folder in ["beside", "bin"] {
        write(&path.join(folder).join("trinim-hello"));
    }
    let own = path.join("beside/trinim");
    assert!(processes::command("cp").arg(env!("CARGO_BIN_EXE_trinim")).arg(&own).status().unwrap().success());
    let mut command = processes::command(&own);
    command.arg("hello").env("PATH", path.join("bin")).current_dir(path);
    assert!(outcome(&mut command).1.starts_with(&format!("{}/beside/trinim-hello ", path.display())));
    // A file that is not executable is not a program.
    assert!(processes::command("chmod").arg("-x").arg(path.join("beside/trinim-hello")).status().unwrap().success());
    assert!(outcome(&mut command).1.starts_with(&format!("{}/bin/trinim-hello ", path.display())));
}

/// A name never leads out of the folders, and the folder that the caller is in is none of them.
#[test]
fn hostile_names_run_nothing() {
    let folder = scratch();
    let path = folder.path();
    for program in ["trinim-hello", "bin/trinim-hello", "bin/trinim-", "bin/trinim--x", "bin/trinim-../trinim-up"] {
        write(&path.join(program));
    }
    for name in ["../hello", "./hello", "/bin/sh", "..", "../trinim-up", "", "-x", "--x", "hello/", "hello\n"] {
        let (code, out, error) = outcome(&mut with_path(path, &[name]));
        assert!(code == 2 && out.is_empty() && error.contains("\nhint: "), "{name:?}: {code} {out} {error}");
    }
    for relative in ["", ".", "bin", ":", "bin:."] {
        let mut command = with_path(path, &["hello"]);
        let (code, out, _) = outcome(command.env("PATH", relative));
        assert_eq!((code, out.as_str()), (2, ""), "{relative:?}");
    }
    // What is found, but cannot be run, is reported.
    fs::write(path.join("bin/trinim-broken"), "#!/no/interpreter\n").unwrap();
    assert!(processes::command("chmod").arg("+x").arg(path.join("bin/trinim-broken")).status().unwrap().success());
    let (code, _, error) = outcome(&mut with_path(path, &["broken"]));
    assert!(code == 4 && error.contains("cannot run ") && error.contains("\nhint: "), "{error}");
    assert!(ends(path, 0, &["--help"]).0.contains("\n  games  evolve "));
}
