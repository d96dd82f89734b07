//! The test programs of the workspace, as cargo builds them.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use cargo_metadata::{Message, TargetKind};

use super::Selection;
use crate::shell::cargo;
use crate::workspace::Workspace;

/// A test program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TestProgram {
    /// Package and target: `hairpin-mdp3 tests/it`, `hairpin-mdp3 lib`.
    pub(super) name: String,
    executable: PathBuf,
    /// The package's folder, in which its tests run.
    folder: PathBuf,
}

impl TestProgram {
    /// Returns the command that runs the program, with the tests that need root for root.
    pub(super) fn command(&self, is_root: bool) -> Command {
        let mut command = Command::new(&self.executable);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command.args(is_root.then_some("--include-ignored"));
        command
    }
}

/// Builds the test programs of the selected packages; cargo prints its progress.
pub(super) fn build(workspace: &Workspace, selection: &Selection<'_>) -> Result<Vec<TestProgram>> {
    let targets = ["--bins", "--tests", "--examples"].into_iter();
    let library = selection.has_library.then_some("--lib");
    let format = ["--no-run", "--message-format=json-render-diagnostics"];
    let arguments = ["test"].into_iter().chain(targets).chain(library).chain(format);
    let mut command = cargo(&workspace.root, arguments.chain(selection.packages.iter().copied()));
    let output = command.stderr(Stdio::inherit()).output().context("cannot run cargo test")?;
    ensure!(output.status.success(), "cannot test: the tests do not build");
    let mut programs = Vec::new();
    for message in Message::parse_stream(&*output.stdout) {
        let Message::CompilerArtifact(artifact) = message? else { continue };
        let Some(executable) = artifact.executable.filter(|_| artifact.profile.test) else {
            continue;
        };
        let package = workspace.members.iter().find(|member| member.id == artifact.package_id);
        let package = package.context("cargo built a test of an unknown package")?;
        let folder = package.manifest_path.parent().context("a manifest without a folder")?;
        let target = target_name(&artifact.target);
        programs.push(TestProgram {
            name: format!("{} {target}", package.name),
            executable: executable.into(),
            folder: folder.into(),
        });
    }
    programs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(programs)
}

fn target_name(target: &cargo_metadata::Target) -> String {
    let name = &target.name;
    match target.kind.first() {
        Some(TargetKind::Test) => format!("tests/{name}"),
        Some(TargetKind::Example) => format!("examples/{name}"),
        Some(TargetKind::Bin) => format!("bin {name}"),
        _ => "lib".to_owned(),
    }
}
