//! libc's own functions, behind ours.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// One function of whatever library comes after this one.
pub(super) struct Next {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Next {
    pub(super) const fn new(name: &'static CStr) -> Self {
        Self { name, address: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Looks the function up: when the library is loaded, because the system's look-up takes
    /// locks, which a signal handler may not.
    pub(super) fn resolve(&self) {
        // SAFETY: the name is NUL terminated, and RTLD_NEXT is meant for just this.
        let address = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.address.store(address, Ordering::Relaxed);
    }

    /// The function, as a pointer of type `F`.
    ///
    /// # Safety
    /// `F` must be the type of a pointer to a C function with the prototype that libc gives
    /// the name, where `...` may be replaced by the arguments that are passed in registers.
    pub(super) unsafe fn get<F: Copy>(&self) -> F {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        if self.address.load(Ordering::Relaxed).is_null() {
            // Called by another library that was loaded before this one.
            self.resolve();
        }
        let address = self.address.load(Ordering::Relaxed);
        if address.is_null() {
            // Nobody can have linked to a function that no library has, except us.
            std::process::abort();
        }
        // SAFETY: same size (asserted), and the caller answers for the type.
        unsafe { std::mem::transmute_copy(&address) }
    }
}

/// Defines C functions that take the place of libc's. In each body, `$next` is libc's own.
///
/// `open`, `ioctl` and friends are variadic in C. The calling conventions of x86-64 and
/// aarch64 Linux pass the one optional argument where a fixed one would be, so they are
/// defined with it: reading it when the caller did not pass it gives a meaningless number,
/// which is passed on and ignored.
macro_rules! interpose {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> $ret:ty = |$next:ident| $body:expr;)*) => {$(
        $(#[$doc])*
        /// # Safety
        /// As libc's function of this name.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> $ret {
            static NEXT: $crate::ffi::next::Next =
                match ::std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => $crate::ffi::next::Next::new(name),
                    Err(_) => panic!("identifiers have no NUL"),
                };
            extern "C" fn resolve() {
                NEXT.resolve();
            }
            // SAFETY: what the linker collects here are functions without arguments, which the
            // loader calls when it loads the library.
            #[used]
            #[unsafe(link_section = ".init_array")]
            static RESOLVE: extern "C" fn() = resolve;
            // SAFETY: the prototype is libc's, written once for both.
            let $next: unsafe extern "C" fn($($ty),*) -> $ret = unsafe { NEXT.get() };
            $body
        }
    )*};
}
pub(super) use interpose;
