//! Runs each case of RDS's contract with the kernel's RDS over TCP and with our reliable datagrams,
//! and compares the outcomes. `cargo xtask vm --test rds-kernel` runs it in a guest, whose kernel
//! has the modules `rds` and `rds_tcp`.
//!
//! ```text
//! rds_contract /run/netns/a 10.7.0.1 nic0 /run/netns/b 10.7.0.2 nic0
//! ```
//!
//! Both hosts are network namespaces of this machine, each with an address and an interface. The
//! kernel's side is written from the socket API alone: `rds(7)`, `Documentation/networking/rds.rst`
//! and `include/uapi/linux/rds.h`. Each line of the output that begins with `|` is a row of a
//! table in `docs/reference/rds-differences.md`. Exits with 1 if an outcome differs without a
//! reason in `cases`, or is equal although it has one.
#![allow(clippy::unwrap_used, reason = "the program ends on the first error of its set-up")]

mod cases;
mod hosts;
mod kernel;
mod ours;
mod rds;
mod round_trips;

use std::process::ExitCode;

use cases::CASES;
use hosts::Hosts;
use kernel::KernelRds;
use ours::OurRds;
use rds::Implementation;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let hosts = Hosts::new(&arguments);
    let (kernel, ours) = (KernelRds, OurRds::kernel_udp());
    let mut unexpected = 0;
    println!("| case | RDS in Linux | Hairpin | why they differ |\n|---|---|---|---|");
    for (index, case) in CASES.iter().enumerate() {
        // Every case has ports and addresses of its own.
        let outcome = |implementation: &dyn Implementation| {
            (case.run)(&mut cases::World::new(&hosts, implementation, index))
        };
        let (theirs, our_own) = (outcome(&kernel), outcome(&ours));
        println!("| {} | {theirs} | {our_own} | {} |", case.name, case.difference);
        let is_listed = !case.difference.is_empty();
        if (theirs != our_own) != is_listed {
            println!("unexpected: {}: {theirs:?}, {our_own:?}", case.name);
            unexpected += 1;
        }
    }
    println!("compared: {} cases, {unexpected} unexpected", CASES.len());
    round_trips::measure(&hosts);
    if unexpected == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
