//! The installed package, as build systems find it.

use std::path::Path;
use std::process::Command;

use crate::compiler::{has_program, prefix};
use crate::support::workspace;

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the error message that a program prints in an empty folder.
fn error_of(program: &Path) -> String {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(program).current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

const MISSING: &str = "Error: cannot read config.xml: No such file or directory (os error 2)\n";

#[test]
fn cmake_finds_the_package() {
    if !has_program("cmake") {
        println!("SKIPPED: the CMake package: cmake is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let version = env!("CARGO_PKG_VERSION").rsplit_once('.').unwrap().0;
    let source = workspace().join("examples/cpp/best_prices.cpp");
    let project = |version: &str| {
        format!(
            "cmake_minimum_required(VERSION 3.16)\nproject(app CXX)\n\
             find_package(hairpin {version} REQUIRED)\n\
             foreach(name hairpin hairpin-static)\n\
             add_executable(app-${{name}} {})\n\
             target_link_libraries(app-${{name}} hairpin::${{name}})\nendforeach()\n",
            source.display()
        )
    };
    let configure = || {
        let mut cmake = Command::new("cmake");
        cmake.args(["-S", ".", "-B", "build"]).current_dir(folder.path());
        cmake.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix().display()));
        cmake
    };
    let file = folder.path().join("CMakeLists.txt");
    std::fs::write(&file, project("9.9")).unwrap();
    assert!(!configure().output().unwrap().status.success(), "another version is not found");
    std::fs::write(&file, project(version)).unwrap();
    run(&mut configure());
    run(Command::new("cmake").args(["--build", "build"]).current_dir(folder.path()));
    for name in ["app-hairpin", "app-hairpin-static"] {
        assert_eq!(error_of(&folder.path().join("build").join(name)), MISSING, "{name}");
    }
}

#[test]
fn pkg_config_finds_the_package() {
    if !has_program("pkg-config") || !has_program("g++") {
        println!("SKIPPED: hairpin.pc: pkg-config or g++ is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut pkg_config = Command::new("pkg-config");
    pkg_config.env("PKG_CONFIG_PATH", prefix().join("lib/pkgconfig"));
    let flags = run(pkg_config.args(["--cflags", "--libs", "hairpin"]));
    let program = folder.path().join("best_prices");
    let mut compile = Command::new("g++");
    compile.arg("-std=c++17").arg(workspace().join("examples/cpp/best_prices.cpp"));
    compile.args(flags.split_whitespace()).arg("-o").arg(&program);
    compile.arg(format!("-Wl,-rpath,{}", prefix().join("lib").display()));
    run(&mut compile);
    assert_eq!(error_of(&program), MISSING);
    // Everything in the program, as the guide states.
    let mut pkg_config = Command::new("pkg-config");
    pkg_config.env("PKG_CONFIG_PATH", prefix().join("lib/pkgconfig"));
    let lib = run(pkg_config.args(["--variable=libdir", "hairpin"]));
    let program = folder.path().join("best_prices-static");
    let mut compile = Command::new("g++");
    compile.arg("-std=c++17").arg(workspace().join("examples/cpp/best_prices.cpp"));
    compile.arg("-I").arg(prefix().join("include"));
    compile.arg(format!("{}/libhairpin.a", lib.trim())).args(["-pthread", "-ldl", "-lm"]);
    run(compile.arg("-o").arg(&program));
    assert_eq!(error_of(&program), MISSING);
}
