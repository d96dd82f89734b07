//! C and C++ compilers, and the installed library.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::support::{programs, workspace};

const SANITIZERS: &[&str] =
    &["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"];

/// A compiler with its options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compiler {
    pub(crate) program: &'static str,
    options: &'static [&'static str],
}

const fn compiler(program: &'static str, options: &'static [&'static str]) -> Compiler {
    Compiler { program, options }
}

const C: [Compiler; 2] = [compiler("gcc", SANITIZERS), compiler("clang", SANITIZERS)];
const CPP: [Compiler; 2] = [compiler("g++", SANITIZERS), compiler("clang++", SANITIZERS)];
/// The compilers without sanitizers, for programs whose speed matters.
const CPP_PLAIN: [Compiler; 2] = [compiler("g++", &["-O2"]), compiler("clang++", &["-O2"])];

/// Returns the C compilers of this machine.
pub(crate) fn c() -> Vec<Compiler> {
    present(&C)
}

/// Returns the C++ compilers of this machine.
pub(crate) fn cpp() -> Vec<Compiler> {
    present(&CPP)
}

/// Returns the C++ compilers of this machine, without sanitizers.
pub(crate) fn cpp_plain() -> Vec<Compiler> {
    present(&CPP_PLAIN)
}

fn present(compilers: &[Compiler]) -> Vec<Compiler> {
    let (present, missing): (Vec<Compiler>, _) =
        compilers.iter().partition(|it| has_program(it.program));
    for Compiler { program, .. } in missing {
        println!("SKIPPED: the tests with {program}: it is not installed");
    }
    present
}

/// Returns `true` if a program exists. CI requires it.
pub(crate) fn has_program(program: &str) -> bool {
    let version = Command::new(program).arg("--version").stdout(Stdio::null()).status();
    let exists = version.is_ok_and(|status| status.success());
    let is_required = std::env::var_os("HAIRPIN_COMPILERS_REQUIRED").is_some();
    assert!(exists || !is_required, "{program} is not installed");
    exists
}

/// Returns the folder below which `cargo xtask install` has installed the library that this test
/// run has built.
pub(crate) fn prefix() -> &'static Path {
    static PREFIX: OnceLock<TempDir> = OnceLock::new();
    let folder = PREFIX.get_or_init(|| {
        let prefix = tempfile::tempdir().unwrap();
        let mut install = Command::new(env!("CARGO"));
        install.args(["run", "--quiet", "--package", "xtask", "--", "install", "--prefix"]);
        install.arg(prefix.path()).arg("--built").arg(programs().join("deps"));
        install.current_dir(workspace()).stdout(Stdio::null());
        install.env("CARGO_TARGET_DIR", programs().parent().unwrap());
        assert!(install.status().unwrap().success());
        prefix
    });
    folder.path()
}

impl Compiler {
    /// Compiles a program with the installed library. Returns its path in `folder`.
    pub(crate) fn compile(self, source: &Path, folder: &Path) -> PathBuf {
        let is_cpp = source.extension().is_some_and(|it| it == "cpp");
        let name = format!("{}-{}", source.file_stem().unwrap().display(), self.program);
        let program = folder.join(name);
        let lib = prefix().join("lib");
        let mut command = Command::new(self.program);
        command
            .arg(if is_cpp { "-std=c++17" } else { "-std=gnu11" })
            .args(["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"])
            .args(self.options)
            .arg("-I")
            .arg(prefix().join("include"))
            .arg(source)
            .args(["-pthread", "-lhairpin", "-L"])
            .arg(&lib)
            .arg(format!("-Wl,-rpath,{}", lib.display()))
            .arg("-o")
            .arg(&program);
        let output = command.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}\n{errors}");
        program
    }
}

/// Returns a source file of the tests.
pub(crate) fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(name)
}
