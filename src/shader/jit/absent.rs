//! Where there is no compiler: every program is interpreted.
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__m512i;
use std::convert::Infallible;
use std::marker::PhantomData;

use super::environment::Environment;
use super::finish::Finish;
pub use super::finish::WarpGroup;
use super::program::Program;
use super::reading::Reading;
#[cfg(target_arch = "x86_64")]
use super::reading::TexelExtent;
use super::run::Outcome;
use super::warp::Warp;

/// A compiled program, of which there is none.
pub enum Routine {}

impl Routine {
    /// None.
    pub fn new(_: &Program) -> Option<Self> {
        None
    }

    /// Never called.
    pub fn toll(&self) -> Option<WarpCost> {
        match *self {}
    }

    /// Never called.
    pub fn makes_pixels(&self) -> bool {
        match *self {}
    }

    /// Never called.
    pub fn requests(&self) -> Option<&[[u32; 2]]> {
        match *self {}
    }

    /// Never called.
    pub fn way(&self, _: &Program, _: &[Option<Reading>]) -> Option<usize> {
        match *self {}
    }
}

/// A texture for compiled code, of which there is none.
#[derive(Clone, Copy, Debug)]
pub struct Texels<'a>(Infallible, PhantomData<&'a [u8]>);

/// Warps that run side by side at most.
pub const TOGETHER: usize = 1;

/// What a warp of those costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpCost {
    /// Its instructions.
    pub instructions: u64,
    /// Those of them that are machine code.
    pub compiled: u64,
    /// Its requests for texels.
    pub requests: u64,
}

/// None do.
pub fn run_together(_: &Program, _: &mut [Warp], _: &mut impl Environment, _: Option<&Finish>) -> WarpGroup {
    WarpGroup::Not
}

/// There is no machine that code is made for.
pub fn target() -> Option<&'static str> {
    None
}

/// Nothing is refused.
pub fn refusal() -> Option<String> {
    None
}

/// Nothing.
pub fn listing(_: &Program, _: &dyn Fn(u32) -> String) -> String {
    String::new()
}

/// Never called.
pub fn run(_: &Program, routine: &Routine, _: &mut Warp, _: &mut impl Environment) -> Outcome {
    match *routine {}
}

/// Does nothing: it would be a hint.
pub fn prefetch<T>(_: &[T]) {}

/// Memory of which dwords are read at 16 places at once, of which there is none.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Dwords<'a>(Infallible, PhantomData<&'a [u8]>);

#[cfg(target_arch = "x86_64")]
impl<'a> Dwords<'a> {
    /// None.
    pub fn new(_: &'a [u8]) -> Option<Self> {
        None
    }

    /// Never called.
    pub fn at(&self, _: __m512i) -> __m512i {
        match self.0 {}
    }

    /// Never called.
    pub fn pairs(&self, _: __m512i) -> [__m512i; 2] {
        match self.0 {}
    }
}

#[cfg(target_arch = "x86_64")]
impl<'a> Texels<'a> {
    /// Never called.
    pub fn new(dwords: Dwords<'a>, _: TexelExtent) -> Self {
        match dwords.0 {}
    }
}
