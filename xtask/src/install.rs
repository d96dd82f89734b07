//! `cargo xtask install`: installs the C and C++ library with what compilers need to find it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::shell::{cargo, run as shell};
use crate::workspace::Workspace;

/// The files that the library is built into, below the folder of a profile.
const SHARED: &str = "libhairpin_capi.so";
const STATIC: &str = "libhairpin_capi.a";
/// The system libraries that a program needs with the static library: `rustc --print
/// native-static-libs`.
const SYSTEM: &str = "-lgcc_s -lutil -lrt -lpthread -lm -ldl -lc";

/// The arguments of `install`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Install below DIR: include, lib, lib/pkgconfig and lib/cmake/hairpin
    #[arg(long, value_name = "DIR")]
    prefix: PathBuf,
    /// Install the libraries in DIR, a folder of cargo, instead of building them
    #[arg(long, value_name = "DIR")]
    built: Option<PathBuf>,
}

/// Builds the libraries and installs them with headers, pkg-config file and CMake package.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let built = match &arguments.built {
        Some(folder) => folder.clone(),
        None => {
            let build = ["build", "--locked", "--release", "--package", "hairpin-capi"];
            shell(&mut cargo(&workspace.root, build))?;
            workspace.target.join("release")
        }
    };
    install(workspace, &built, &arguments.prefix)?;
    let version = Version::new(workspace)?.full;
    println!("installed hairpin {version} below {}", arguments.prefix.display());
    Ok(())
}

/// Installs what is built in a folder.
pub(crate) fn install(workspace: &Workspace, built: &Path, prefix: &Path) -> Result<()> {
    let version = Version::new(workspace)?;
    let include = workspace.root.join("crates/capi/include");
    for header in ["hairpin.h", "hairpin.hpp"] {
        copy(&include.join(header), &prefix.join("include").join(header))?;
    }
    let lib = prefix.join("lib");
    copy(&built.join(SHARED), &lib.join(format!("libhairpin.so.{}", version.full)))?;
    link(&format!("libhairpin.so.{}", version.full), &lib.join(version.soname()))?;
    link(&version.soname(), &lib.join("libhairpin.so"))?;
    copy(&built.join(STATIC), &lib.join("libhairpin.a"))?;
    write(&lib.join("pkgconfig/hairpin.pc"), &version.pkg_config())?;
    let cmake = lib.join("cmake/hairpin");
    write(&cmake.join("hairpin-config.cmake"), &version.cmake_config())?;
    write(&cmake.join("hairpin-config-version.cmake"), &version.cmake_version())
}

/// The version of the library. Patches of one minor version are compatible.
struct Version {
    full: String,
    minor: String,
}

impl Version {
    fn new(workspace: &Workspace) -> Result<Self> {
        let package = workspace.members.iter().find(|it| it.name == "hairpin-capi");
        let version = &package.context("no package hairpin-capi")?.version;
        Ok(Self {
            full: version.to_string(),
            minor: format!("{}.{}", version.major, version.minor),
        })
    }

    fn soname(&self) -> String {
        format!("libhairpin.so.{}", self.minor)
    }

    fn pkg_config(&self) -> String {
        let Self { full, .. } = self;
        format!(
            "prefix=${{pcfiledir}}/../..\n\
             libdir=${{prefix}}/lib\n\
             includedir=${{prefix}}/include\n\n\
             Name: hairpin\n\
             Description: CME market data and order entry\n\
             Version: {full}\n\
             Libs: -L${{libdir}} -lhairpin\n\
             Libs.private: {SYSTEM}\n\
             Cflags: -I${{includedir}}\n"
        )
    }

    fn cmake_config(&self) -> String {
        let (full, soname) = (&self.full, self.soname());
        let system = SYSTEM.split(' ').map(|it| it.trim_start_matches("-l")).collect::<Vec<_>>();
        let system = system.join(";");
        format!(
            r#"set(HAIRPIN_PREFIX "${{CMAKE_CURRENT_LIST_DIR}}/../../..")
if(NOT TARGET hairpin::hairpin)
  add_library(hairpin::hairpin SHARED IMPORTED)
  set_target_properties(hairpin::hairpin PROPERTIES
    IMPORTED_LOCATION "${{HAIRPIN_PREFIX}}/lib/libhairpin.so.{full}"
    IMPORTED_SONAME "{soname}"
    INTERFACE_INCLUDE_DIRECTORIES "${{HAIRPIN_PREFIX}}/include"
    INTERFACE_COMPILE_FEATURES "cxx_std_17")
  add_library(hairpin::hairpin-static STATIC IMPORTED)
  set_target_properties(hairpin::hairpin-static PROPERTIES
    IMPORTED_LOCATION "${{HAIRPIN_PREFIX}}/lib/libhairpin.a"
    INTERFACE_LINK_LIBRARIES "{system}"
    INTERFACE_INCLUDE_DIRECTORIES "${{HAIRPIN_PREFIX}}/include"
    INTERFACE_COMPILE_FEATURES "cxx_std_17")
endif()
"#
        )
    }

    /// Accepts a request for the same minor version.
    fn cmake_version(&self) -> String {
        let Self { full, minor } = self;
        format!(
            r#"set(PACKAGE_VERSION "{full}")
if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
elseif("${{PACKAGE_FIND_VERSION_MAJOR}}.${{PACKAGE_FIND_VERSION_MINOR}}" VERSION_EQUAL "{minor}")
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
else()
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
"#
        )
    }
}

pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    create_parent(to)?;
    // A program that runs keeps the file that it has mapped.
    let _ = fs::remove_file(to);
    fs::copy(from, to)
        .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

fn link(target: &str, path: &Path) -> Result<()> {
    // The link of an earlier version, if there is one.
    let _ = fs::remove_file(path);
    symlink(target, path).with_context(|| format!("cannot create {}", path.display()))
}

pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    create_parent(path)?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn create_parent(path: &Path) -> Result<()> {
    let folder = path.parent().context("a path without a folder")?;
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
}
