//! Omits the C startup code, which would call `main`: the program has no `main`.
fn main() {
    println!("cargo:rustc-link-arg-bins=-nostartfiles");
}
