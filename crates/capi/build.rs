//! Gives the shared library its soname: a program runs with all patches of its minor version.

fn main() {
    let version = |part| std::env::var(format!("CARGO_PKG_VERSION_{part}")).unwrap_or_default();
    let soname = format!("libhairpin.so.{}.{}", version("MAJOR"), version("MINOR"));
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{soname}");
    println!("cargo::rerun-if-changed=build.rs");
}
