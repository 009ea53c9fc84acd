//! Finds libc's own functions, which the hooks replace.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// One function of the next library in the search order.
pub(super) struct Next {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Next {
    pub(super) const fn new(name: &'static CStr) -> Self {
        Self { name, address: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Looks the function up. This runs when the library is loaded, since the look-up takes locks, which a
    /// signal handler must not do.
    pub(super) fn resolve(&self) {
        // SAFETY: the name is NUL terminated, and this is the purpose of RTLD_NEXT.
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
            // A library that was loaded earlier has called the hook.
            self.resolve();
        }
        let address = self.address.load(Ordering::Relaxed);
        if address.is_null() {
            // No program can be linked to a function that only this library has.
            std::process::abort();
        }
        // SAFETY: same size (asserted), and the caller answers for the type.
        unsafe { std::mem::transmute_copy(&address) }
    }
}

/// Defines C functions that replace libc's. In each body, `$next` is libc's function.
///
/// `open`, `ioctl` and similar functions are variadic in C. The calling conventions of x86-64 and aarch64
/// Linux pass optional arguments like fixed ones, so they are defined with them. If the caller did not pass
/// one, its value is meaningless; it is passed on and ignored.
macro_rules! interpose {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> $ret:ty = |$next:ident| $body:expr;)*) => {$(
        $(#[$doc])*
        /// # Safety
        /// The contract is that of libc's function of this name.
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
            // SAFETY: the linker collects functions without arguments here, and the loader calls them when
            // it loads the library.
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
