//! The release of the running kernel.

use std::ffi::CStr;

/// Returns `true` if this kernel has at least this version.
pub(crate) fn is_at_least(major: u32, minor: u32) -> bool {
    // SAFETY: zeroes are a valid value of the structure, which the kernel fills.
    let mut names: libc::utsname = unsafe { std::mem::zeroed() };
    // SAFETY: the structure outlives the call, after which the name ends with zero.
    let release = unsafe {
        libc::uname(&raw mut names);
        CStr::from_ptr(names.release.as_ptr())
    };
    kernel_version(&release.to_string_lossy()) >= (major, minor)
}

/// Returns the version of a kernel's release such as `6.1.0-50-amd64`; `(0, 0)` of other text.
pub fn kernel_version(release: &str) -> (u32, u32) {
    let mut numbers = release.split(['.', '-']).map(|it| it.trim().parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_compared_by_number() {
        for release in ["6.4.0", "6.12.117+deb13-amd64", "7.2.13", "10.0-rc1", "6.18.44-fc\n"] {
            assert!(kernel_version(release) >= (6, 4), "{release}");
        }
        for release in ["6.1.0-50-amd64", "5.15.0", "6.3.9", "4.18", "", "x"] {
            assert!(kernel_version(release) < (6, 4), "{release}");
        }
    }
}
