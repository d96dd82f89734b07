//! No C start-up code: it would call a `main` that there is none of.
fn main() {
    println!("cargo:rustc-link-arg-bins=-nostartfiles");
}
