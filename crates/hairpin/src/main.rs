//! Low-latency trading connectivity: the command.
fn main() {}
