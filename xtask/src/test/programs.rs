//! The test programs of the workspace, as cargo builds them.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use cargo_metadata::{Message, TargetKind};

use super::Selection;
use crate::shell::cargo;
use crate::workspace::Workspace;

/// What cargo has built.
#[derive(Debug, Default)]
pub(super) struct Built {
    /// The test programs, by name.
    pub(super) programs: Vec<TestProgram>,
    /// The folder of the examples, if the selected packages have any.
    pub(super) examples: Option<PathBuf>,
}

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
    pub(super) fn command(&self, selection: &[&str], is_root: bool) -> Command {
        let mut command = Command::new(&self.executable);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command.args(selection).args(is_root.then_some("--include-ignored"));
        command
    }
}

/// Builds the test programs of the selected packages, and the examples; cargo prints its progress.
pub(super) fn build(workspace: &Workspace, selection: &Selection<'_>) -> Result<Built> {
    let arguments = ["test", "--no-run", "--message-format=json-render-diagnostics"].into_iter();
    let mut command = cargo(&workspace.root, arguments.chain(selection.packages.iter().copied()));
    let output = command.stderr(Stdio::inherit()).output().context("cannot run cargo test")?;
    ensure!(output.status.success(), "cannot test: the tests do not build");
    let mut built = Built::default();
    for message in Message::parse_stream(&*output.stdout) {
        let Message::CompilerArtifact(artifact) = message? else { continue };
        let Some(executable) = artifact.executable.map(PathBuf::from) else { continue };
        if !artifact.profile.test {
            if artifact.target.is_example() {
                built.examples = executable.parent().map(PathBuf::from);
            }
            continue;
        }
        let package = workspace.members.iter().find(|member| member.id == artifact.package_id);
        let package = package.context("cargo built a test of an unknown package")?;
        let folder = package.manifest_path.parent().context("a manifest without a folder")?;
        let target = target_name(&artifact.target);
        let name = format!("{} {target}", package.name);
        built.programs.push(TestProgram { name, executable, folder: folder.into() });
    }
    built.programs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(built)
}

fn target_name(target: &cargo_metadata::Target) -> String {
    let name = &target.name;
    match target.kind.first() {
        Some(TargetKind::Test) => format!("tests/{name}"),
        Some(TargetKind::Bin) => format!("bin {name}"),
        _ => "lib".to_owned(),
    }
}
