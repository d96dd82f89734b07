//! The functions that execute another program.

use std::ffi::{c_char, c_int, c_void};

use libc::pid_t;

use super::descriptors::open_descriptors;
use crate::settings::settings;
use crate::{guard, process, real};

type Strings = *const *const c_char;

macro_rules! exec {
    ($($name:ident($($argument:ident: $kind:ty),*);)*) => {$(
        /// # Safety
        /// As for exec(3).
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name($($argument: $kind),*) -> c_int {
            process::before_exec(true);
            // SAFETY: the program's arguments.
            let failed = unsafe { real::$name($($argument),*) };
            process::after_exec();
            failed
        }
    )*};
}

exec! {
    execve(path: *const c_char, arguments: Strings, variables: Strings);
    execv(path: *const c_char, arguments: Strings);
    execvp(file: *const c_char, arguments: Strings);
    execvpe(file: *const c_char, arguments: Strings, variables: Strings);
    fexecve(fd: c_int, arguments: Strings, variables: Strings);
    execveat(
        folder: c_int, path: *const c_char, arguments: Strings, variables: Strings, flags: c_int
    );
}

macro_rules! spawn {
    ($($name:ident)*) => {$(
        /// # Safety
        /// As for posix_spawn(3).
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name(
            process: *mut pid_t,
            path: *const c_char,
            actions: *const c_void,
            attributes: *const c_void,
            arguments: Strings,
            variables: Strings,
        ) -> c_int {
            process::before_exec(false);
            let spawn = real::$name;
            // SAFETY: the program's arguments.
            let result = unsafe { spawn(process, path, actions, attributes, arguments, variables) };
            process::after_exec();
            result
        }
    )*};
}

spawn!(posix_spawn posix_spawnp);

/// # Safety
/// As for posix_spawn_file_actions_adddup2(3).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn posix_spawn_file_actions_adddup2(
    actions: *mut c_void,
    from: c_int,
    to: c_int,
) -> c_int {
    if let Some(_inside) = guard::enter() {
        process::share(from, "a spawned program receives the descriptor");
    }
    // SAFETY: the program's arguments.
    unsafe { real::posix_spawn_file_actions_adddup2(actions, from, to) }
}

/// # Safety
/// As for posix_spawn_file_actions_addclose(3).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn posix_spawn_file_actions_addclose(
    actions: *mut c_void,
    fd: c_int,
) -> c_int {
    if process::is_inherited(fd) {
        return 0;
    }
    // SAFETY: the program's arguments.
    unsafe { real::posix_spawn_file_actions_addclose(actions, fd) }
}

/// Closes the open descriptors one by one, except those that the spawned program must inherit.
///
/// # Safety
/// As for posix_spawn_file_actions_addclosefrom_np(3).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn posix_spawn_file_actions_addclosefrom_np(
    actions: *mut c_void,
    first: c_int,
) -> c_int {
    if settings().inherited().next().is_none() {
        // SAFETY: the program's arguments.
        return unsafe { real::posix_spawn_file_actions_addclosefrom_np(actions, first) };
    }
    for fd in open_descriptors(first.max(0).cast_unsigned(), u32::MAX) {
        // Descriptors beyond the limit are refused; the library's are closed by the execution.
        // SAFETY: as above.
        let failed = unsafe { posix_spawn_file_actions_addclose(actions, fd.cast_signed()) };
        if failed == libc::ENOMEM {
            return failed;
        }
    }
    0
}

/// The functions with a variable number of arguments. Each places the arguments after the first
/// next to those on the stack, where they are the array that the other functions require.
#[cfg(target_arch = "x86_64")]
mod variadic {
    use super::{Strings, c_char, c_int, execve, execvp, process, real};

    macro_rules! variadic {
        ($($name:ident => $then:ident;)*) => {$(
            /// # Safety
            /// As for exec(3).
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            pub(crate) unsafe extern "C" fn $name(path: *const c_char) -> c_int {
                std::arch::naked_asm!(
                    // The return address, then arguments 2 to 6 in front of the others. The stack
                    // is aligned to 16 bytes at the call, as the ABI requires.
                    "pop rax",
                    "push r9",
                    "push r8",
                    "push rcx",
                    "push rdx",
                    "push rsi",
                    "mov rsi, rsp",
                    "push rax",
                    "call {then}",
                    "pop rcx",
                    "add rsp, 40",
                    "push rcx",
                    "ret",
                    then = sym $then,
                )
            }
        )*};
    }

    variadic! {
        execl => with_environment;
        execlp => with_search;
        execle => with_variables;
    }

    unsafe extern "C" {
        static environ: Strings;
    }

    unsafe extern "C-unwind" fn with_environment(path: *const c_char, arguments: Strings) -> c_int {
        // SAFETY: the program's arguments and environment.
        unsafe { execve(path, arguments, environ) }
    }

    unsafe extern "C-unwind" fn with_search(file: *const c_char, arguments: Strings) -> c_int {
        // SAFETY: the program's arguments.
        unsafe { execvp(file, arguments) }
    }

    unsafe extern "C-unwind" fn with_variables(path: *const c_char, arguments: Strings) -> c_int {
        process::before_exec(true);
        // SAFETY: the array ends with null, and the environment follows.
        unsafe {
            let mut end = arguments;
            while !(*end).is_null() {
                end = end.add(1);
            }
            let failed = real::execve(path, arguments, *end.add(1).cast::<Strings>());
            process::after_exec();
            failed
        }
    }
}
