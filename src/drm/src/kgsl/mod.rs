//! The KGSL device, `/dev/kgsl-3d0`: the interface of the vendor's kernel, which tinygrad and Mesa's turnip can use.
//! The device is there for chips from the A6xx on.
//!
//! The descriptor that an open gives is a memory file as long as all memory of that open. An object of memory is a range
//! of its pages, and the object's id is the number of its first page. So the real `mmap` at the offset that the interface
//! prescribes, id times the page size, maps the object, also where a program calls it by an address that no library can
//! replace. The emulator has a mapping of its own ([`Window`](crate::ffi::pages::Window)), so that nothing that the program
//! unmaps is missing to a job.
//!
//! Most objects have the GPU address at which the program has mapped them (`KGSL_MEMFLAGS_USE_CPU_MAP`). Each submit
//! asks the system where that is ([`places`]). All opens of a process share one address space, as with the kernel; ids and
//! contexts belong to an open.
//!
//! Errors and limits are those of the kernel's driver, msm-4.14 to 5.15 of the vendor (`kgsl.c`, `adreno.c`).
//!
//! After a fork, the child has the parent's objects, in memory that both share. It can use and free them, and gets new
//! ones from a device that it opens itself.

pub mod args;
pub mod command;
pub mod context;
pub mod file;
pub mod memory;
pub mod objects;
pub mod open;
pub mod places;
pub mod property;
