//! The time stamp counter: raw ticks, and whether they can be trusted as a clock.
//!
//! On a processor without one (anything but x86-64) the readings are zero and [`is_usable`] is
//! false, so that [`crate::Clock`] falls back to the kernel's.

/// The counter, without a fence: neighbouring instructions may move across the read.
///
/// The cheapest reading there is, some 10 ns; right for stamping events that are themselves
/// longer than the processor's reordering window.
#[inline]
#[must_use]
pub fn read() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: RDTSC reads a register and touches no memory. It faults only where a process has
    // asked the kernel for that (PR_SET_TSC), which would be a fault in safe code just as well.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

/// The counter, fenced on both sides: every earlier instruction has completed, no later one has
/// begun.
///
/// For intervals of a few tens of nanoseconds, where reordering would be a visible part of the
/// result. About twice the cost of [`read`].
#[inline]
#[must_use]
pub fn read_fenced() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: LFENCE belongs to SSE2, which every x86-64 processor has, and orders instructions
    // without touching memory; for RDTSC see `read`.
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

/// Whether the counter runs at one constant rate, alike on every core, whatever the power state.
///
/// The processor must declare it invariant (CPUID leaf 0x8000_0007, EDX bit 8) and the kernel must
/// not have struck it off its list of clock sources, as it does when its watchdog or its check of
/// the cores against each other has found it unstable.
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

/// A list that cannot be read (a sandbox without sysfs) rejects nothing.
fn is_rejected_by_kernel() -> bool {
    const SOURCES: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    std::fs::read_to_string(SOURCES)
        .is_ok_and(|sources| !sources.split_whitespace().any(|source| source == "tsc"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fenced_and_unfenced_readings_are_of_one_counter() {
        let first = read_fenced();
        let second = read();
        let third = read_fenced();
        assert!(first <= second && second <= third);
        assert_eq!(third > first, cfg!(target_arch = "x86_64"));
    }
}
