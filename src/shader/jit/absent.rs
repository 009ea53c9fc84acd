//! Replacement for hosts without a compiler: every program is interpreted.
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__m512i;
use std::convert::Infallible;
use std::marker::PhantomData;

use super::environment::Environment;
use super::epilogue::Epilogue;
pub use super::epilogue::{Vectors, WarpGroup};
use super::lowered::Lowered;
use super::reading::Reading;
#[cfg(target_arch = "x86_64")]
use super::reading::TexelExtent;
use super::run::Outcome;
use super::warp::Warp;

/// A compiled program. It never exists.
pub enum Routine {}

impl Routine {
    /// Returns `None`: no program can be compiled.
    pub fn new(_: &Lowered, _: Vectors) -> Option<Self> {
        None
    }

    /// Never called.
    pub fn lockstep_cost(&self) -> Option<WarpCost> {
        match *self {}
    }

    /// Never called.
    pub(super) fn run_lockstep(
        &self,
        _: &Lowered,
        _: &mut [Warp],
        _: &mut impl Environment,
        _: Option<&Epilogue>,
    ) -> WarpGroup {
        match *self {}
    }

    /// Never called.
    pub fn requests(&self) -> Option<&[[u32; 2]]> {
        match *self {}
    }

    /// Never called.
    pub fn way(&self, _: &Lowered, _: &[Option<Reading>]) -> Option<usize> {
        match *self {}
    }
}

/// A texture for compiled code. It never exists.
#[derive(Clone, Copy, Debug)]
pub struct Texels<'a>(Infallible, PhantomData<&'a [u8]>);

/// Most warps in lockstep.
pub const MAX_LOCKSTEP: usize = 1;

/// Cost of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpCost {
    /// Number of its instructions.
    pub instructions: u64,
    /// Number of its compiled instructions.
    pub compiled: u64,
    /// Number of its samples.
    pub requests: u64,
}

/// Returns `None`: there is no instruction set to compile for.
pub fn target() -> Option<&'static str> {
    None
}

/// Returns `None`: no memory for code is ever requested.
pub fn refusal() -> Option<String> {
    None
}

/// Returns an empty listing.
pub fn listing(_: &Lowered, _: Option<&Routine>, _: &dyn Fn(u32) -> String) -> String {
    String::new()
}

/// Never called.
pub fn run(_: &Lowered, routine: &Routine, _: &mut Warp, _: &mut impl Environment) -> Outcome {
    match *routine {}
}

/// Ignores the hint to prefetch.
pub fn prefetch<T>(_: &[T]) {}

/// Memory for gathers of 16 dwords. It never exists.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Dwords<'a>(Infallible, PhantomData<&'a [u8]>);

#[cfg(target_arch = "x86_64")]
impl<'a> Dwords<'a> {
    /// Returns `None`: there are no gathers.
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
