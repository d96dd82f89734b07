//! The time stamp counter: raw ticks, and a check whether they are usable as a clock.
//!
//! On processors other than x86-64 the readings are zero and [`is_usable`] returns `false`, so that
//! [`crate::Clock`] uses the kernel's clock.

/// Reads the counter without a fence: adjacent instructions may be reordered across the read.
///
/// This is the cheapest reading, about 10 ns. It is suitable for events longer than the processor's
/// reordering window.
#[inline]
#[must_use]
pub fn read() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: RDTSC reads a register and accesses no memory. It faults only if the process has
    // requested that from the kernel (PR_SET_TSC), which would be a fault in safe code too.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

/// Reads the counter with fences on both sides: every earlier instruction has completed, and no
/// later instruction has begun.
///
/// Suitable for intervals of a few tens of nanoseconds, where reordering would visibly affect the
/// result. Costs about twice as much as [`read`].
#[inline]
#[must_use]
pub fn read_fenced() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: LFENCE belongs to SSE2, which every x86-64 processor has, and orders instructions
    // without accessing memory. For RDTSC see `read`.
    unsafe {
        use core::arch::x86_64::{_mm_lfence, _rdtsc};
        _mm_lfence();
        let ticks = _rdtsc();
        _mm_lfence();
        ticks
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

/// Returns `true` if the counter runs at one constant rate, equal on every core, in every power
/// state.
///
/// The processor must declare the counter invariant (CPUID leaf 0x8000_0007, EDX bit 8). The kernel
/// must list it as a clock source: the kernel removes it if its watchdog or its cross-core check
/// finds it unstable.
#[must_use]
pub fn is_usable() -> bool {
    is_invariant() && !is_rejected_by_kernel()
}

#[cfg(target_arch = "x86_64")]
fn is_invariant() -> bool {
    use core::arch::x86_64::__cpuid;
    const POWER_MANAGEMENT: u32 = 0x8000_0007;
    const INVARIANT_TSC: u32 = 1 << 8;
    let highest = __cpuid(0x8000_0000).eax;
    highest >= POWER_MANAGEMENT && __cpuid(POWER_MANAGEMENT).edx & INVARIANT_TSC != 0
}

#[cfg(not(target_arch = "x86_64"))]
fn is_invariant() -> bool {
    false
}

/// Returns `true` if the kernel does not list the counter. An unreadable list (a sandbox without
/// sysfs) does not count.
fn is_rejected_by_kernel() -> bool {
    const SOURCES: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    std::fs::read_to_string(SOURCES)
        .is_ok_and(|sources| !sources.split_whitespace().any(|source| source == "tsc"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fenced_and_unfenced_reads_are_consistent() {
        let first = read_fenced();
        let second = read();
        let third = read_fenced();
        assert!(first <= second && second <= third);
        assert_eq!(third > first, cfg!(target_arch = "x86_64"));
    }
}
