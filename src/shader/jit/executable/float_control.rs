//! A thread's floating-point control: rounding, subnormal numbers, exceptions. A thread inherits the control
//! of its creator, and libraries change it (code built with `-ffast-math` does when it is loaded). Without
//! this module, results would depend on the surrounding program.
//!
//! The module is part of the wall around unsafe code: no safe function reads or writes these registers. The invariants: [`set`] and
//! [`hold`] give the thread the control that Rust's arithmetic assumes (round to nearest, subnormals kept, no
//! traps). Dropping a [`Held`] restores the thread's own control.
#![allow(unsafe_code, reason = "the wall: see its documentation")]

use std::marker::PhantomData;

/// Keeps Rust's floating-point control on this thread. Dropping it restores the thread's own control.
#[must_use = "the control goes back when this is dropped"]
pub struct Held {
    before: Option<Control>,
    /// Makes it `!Send`, as it belongs to its thread.
    thread: PhantomData<*const ()>,
}

/// Gives this thread Rust's floating-point control while the result lives.
pub fn hold() -> Held {
    let now = Control::read();
    let before = (!now.is_rusts()).then_some(now);
    if before.is_some() {
        Control::RUSTS.write();
    }
    Held { before, thread: PhantomData }
}

/// Gives this thread Rust's floating-point control permanently.
pub fn set() {
    std::mem::forget(hold());
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            before.write();
        }
    }
}

/// SSE's control and status (Intel's manual, volume 1, section 10.2.3), and the x87 control word (8.1.5),
/// which functions of libm can use.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
struct Control {
    mxcsr: u32,
    x87: u16,
}

#[cfg(target_arch = "x86_64")]
impl Control {
    /// The control at the start of a process.
    const RUSTS: Self = Self { mxcsr: 0x1f80, x87: 0x037f };
    /// Status bits of MXCSR.
    const STATUS: u32 = 0x3f;

    fn is_rusts(self) -> bool {
        self.mxcsr & !Self::STATUS == Self::RUSTS.mxcsr && self.x87 == Self::RUSTS.x87
    }

    fn read() -> Self {
        let (mut mxcsr, mut x87) = (0u32, 0u16);
        // SAFETY: each instruction stores its register, of 4 and 2 bytes, into a variable of that size.
        unsafe {
            std::arch::asm!("stmxcsr [{}]", "fnstcw [{}]", in(reg) &raw mut mxcsr, in(reg) &raw mut x87,
                options(nostack, preserves_flags));
        }
        Self { mxcsr, x87 }
    }

    fn write(self) {
        let Self { mxcsr, x87 } = self;
        // SAFETY: both values are Rust's, or were read from these registers of this thread, so none sets a
        // reserved bit. Rust's code assumes its own control; another one is only restored on a thread that
        // had it.
        unsafe {
            std::arch::asm!("ldmxcsr [{}]", "fnclex", "fldcw [{}]", in(reg) &raw const mxcsr, in(reg) &raw const x87,
                options(nostack, preserves_flags));
        }
    }
}

/// FPCR (Arm's Architecture Reference Manual, section C5.2.8).
#[cfg(target_arch = "aarch64")]
#[derive(Clone, Copy)]
struct Control(u64);

#[cfg(target_arch = "aarch64")]
impl Control {
    /// The control at the start of a process.
    const RUSTS: Self = Self(0);

    fn is_rusts(self) -> bool {
        self.0 == Self::RUSTS.0
    }

    fn read() -> Self {
        let control: u64;
        // SAFETY: reads a register that every program may read.
        unsafe {
            std::arch::asm!("mrs {}, fpcr", out(reg) control, options(nomem, nostack, preserves_flags))
        };
        Self(control)
    }

    fn write(self) {
        // SAFETY: as on x86-64.
        unsafe { std::arch::asm!("msr fpcr, {}", in(reg) self.0, options(nostack, preserves_flags)) };
    }
}

/// Control of other processors. It is unknown, and not changed.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[derive(Clone, Copy)]
struct Control;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
impl Control {
    const RUSTS: Self = Self;

    fn is_rusts(self) -> bool {
        true
    }

    fn read() -> Self {
        Self
    }

    fn write(self) {}
}

/// A floating-point control that changes results, for tests.
#[doc(hidden)]
#[cfg(all(any(test, feature = "testing"), any(target_arch = "x86_64", target_arch = "aarch64")))]
pub mod testing {
    use std::hint::black_box;

    use super::Control;

    /// A control that changes results: rounds down, and flushes subnormals to zero.
    #[cfg(target_arch = "x86_64")]
    const ODD: Control = Control { mxcsr: 0x1f80 | 0x8040 | 0x2000, x87: 0x067f };
    #[cfg(target_arch = "aarch64")]
    const ODD: Control = Control(1 << 24 | 0b10 << 22);

    /// Sets a floating-point control that changes results on this thread.
    pub fn make_odd() {
        ODD.write();
    }

    /// Runs `work` on a thread whose floating-point control changes results.
    ///
    /// # Panics
    /// `work` panics.
    pub fn with_odd_control<R: Send>(work: impl FnOnce() -> R + Send) -> R {
        std::thread::scope(|scope| {
            let odd = || {
                make_odd();
                let result = work();
                Control::RUSTS.write();
                result
            };
            scope.spawn(odd).join().expect("no panic")
        })
    }

    /// Whether arithmetic uses Rust's control. Not inlined, so that arithmetic does not move across changes
    /// of the control.
    #[inline(never)]
    pub fn is_rusts() -> bool {
        let (third, tiny) = (black_box(2.0f32) / black_box(3.0), black_box(1e-38f32) / black_box(8.0));
        third.to_bits() == 0x3f2a_aaab && tiny > 0.0
    }
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::testing::{is_rusts, with_odd_control};
    use super::*;

    #[test]
    fn control_is_rusts_while_held_and_the_threads_own_afterwards() {
        with_odd_control(|| {
            assert!(!is_rusts());
            let (outer, inner) = (hold(), hold());
            assert!(is_rusts());
            drop(inner);
            assert!(is_rusts());
            drop(outer);
            assert!(!is_rusts());
            set();
            assert!(is_rusts());
        });
    }
}
