//! Properties of the device: `KGSL_DEVICE_GETPROPERTY` and `KGSL_SETPROPERTY`.

use bytemuck::{bytes_of, bytes_of_mut};
use rustix::io::Errno;

use super::args;
use super::context;
use super::file::Reset;
use crate::device::Call;
use crate::ffi::user;
use crate::param::{chip_id, timestamp};

/// `KGSL_PROP_x`.
mod prop {
    pub const DEVICE_INFO: u32 = 0x1;
    pub const MMU_ENABLE: u32 = 0x6;
    pub const INTERRUPT_WAITS: u32 = 0x7;
    pub const VERSION: u32 = 0x8;
    pub const GPU_RESET_STAT: u32 = 0x9;
    pub const PWRCTRL: u32 = 0xe;
    pub const PWR_CONSTRAINT: u32 = 0x12;
    pub const UCHE_GMEM_VADDR: u32 = 0x13;
    pub const HIGHEST_BANK_BIT: u32 = 0x17;
    pub const DEVICE_BITNESS: u32 = 0x18;
    pub const UBWC_MODE: u32 = 0x1b;
    pub const L3_PWR_CONSTRAINT: u32 = 0x22;
    pub const SECURE_BUFFER_ALIGNMENT: u32 = 0x23;
    pub const SECURE_CTXT_SUPPORT: u32 = 0x24;
    pub const SPEED_BIN: u32 = 0x25;
    pub const GAMING_BIN: u32 = 0x26;
    pub const GPU_MODEL: u32 = 0x29;
    pub const VK_DEVICE_ID: u32 = 0x2a;
    pub const IS_LPAC_ENABLED: u32 = 0x2b;
    pub const IS_RAYTRACING_ENABLED: u32 = 0x2d;
    pub const IS_FASTBLEND_ENABLED: u32 = 0x2e;
    pub const IS_AQE_ENABLED: u32 = 0x30;
}

/// Address of tile memory in the kernel, for every A6xx (`uche_gmem_base`).
const GMEM_BASE: u64 = 0x10_0000;
/// Version of the interface in the header that this follows.
const VERSION: args::KgslVersion =
    args::KgslVersion { drv_major: 3, drv_minor: 14, dev_major: 3, dev_minor: 1 };
/// Bits of an address in the kernel's page tables.
const BITNESS: u32 = 48;
/// Bit of an address up to which banks are swizzled, and version of compression, of an A630: `qcom,highest-bank-bit` and
/// `qcom,ubwc-mode` of the vendor's sdm845-gpu.dtsi.
const BANKS: (u32, u32) = (15, 2);
/// Length of the model's name.
const NAME: usize = 32;

/// `KGSL_DEVICE_GETPROPERTY`.
///
/// # Errors
/// The call fails with `EINVAL` if the size is not that of the property, with `ENODEV` for an unknown one, or with
/// `EFAULT`.
pub fn get(call: &Call, ask: &mut args::Property) -> Result<(), Errno> {
    let has = |size: usize| if ask.sizebytes == size as u64 { Ok(()) } else { Err(Errno::INVAL) };
    let chip = call.device.chip;
    let number = |value: u32| {
        has(size_of::<u32>())?;
        user::write(ask.value, &value)
    };
    match ask.kind {
        prop::DEVICE_INFO => {
            has(size_of::<args::Devinfo>())?;
            let info = args::Devinfo {
                device_id: 1,
                chip_id: chip_id(chip),
                mmu_enabled: 1,
                gmem_gpubaseaddr: GMEM_BASE,
                gpu_id: chip.id,
                gmem_sizebytes: chip.gmem_bytes() as u64,
                ..Default::default()
            };
            user::write(ask.value, &info)
        }
        prop::VERSION => {
            has(size_of::<args::KgslVersion>())?;
            user::write(ask.value, &VERSION)
        }
        prop::UCHE_GMEM_VADDR => {
            has(size_of::<u64>())?;
            user::write(ask.value, &GMEM_BASE)
        }
        prop::GPU_MODEL => {
            has(NAME)?;
            let (mut name, text) = ([0; NAME], format!("Adreno{}", chip.id));
            name[..text.len().min(NAME - 1)].copy_from_slice(&text.as_bytes()[..text.len().min(NAME - 1)]);
            user::write(ask.value, &name)
        }
        prop::GPU_RESET_STAT => {
            has(size_of::<u32>())?;
            reset_state(call, ask.value)
        }
        prop::MMU_ENABLE | prop::INTERRUPT_WAITS => number(1),
        prop::HIGHEST_BANK_BIT => number(BANKS.0),
        prop::UBWC_MODE => number(BANKS.1),
        prop::DEVICE_BITNESS => number(BITNESS),
        prop::VK_DEVICE_ID => number(chip_id(chip)),
        prop::SECURE_BUFFER_ALIGNMENT | prop::SECURE_CTXT_SUPPORT | prop::SPEED_BIN | prop::GAMING_BIN => {
            number(0)
        }
        prop::IS_LPAC_ENABLED
        | prop::IS_RAYTRACING_ENABLED
        | prop::IS_FASTBLEND_ENABLED
        | prop::IS_AQE_ENABLED => number(0),
        _ => Err(Errno::NODEV),
    }
}

/// Replaces the id of a context at `address` by what its commands have come to, which is said once.
fn reset_state(call: &Call, address: u64) -> Result<(), Errno> {
    let mut id = 0u32;
    user::read_bytes(address, bytes_of_mut(&mut id))?;
    let reset = context::with(call, id, |context| Ok(std::mem::replace(&mut context.reset, Reset::None)))?;
    user::write(address, &reset.number())
}

/// `KGSL_CONSTRAINT_x`.
mod constraint {
    pub const NONE: u32 = 0;
    pub const PWRLEVEL: u32 = 1;
    pub const L3_NONE: u32 = 2;
    pub const L3_PWRLEVEL: u32 = 3;
}

/// `KGSL_SETPROPERTY`: there is no power to save.
///
/// # Errors
/// The call fails with `EINVAL` for a bad size, context, kind or level, or with `EFAULT`.
pub fn set(call: &Call, ask: &mut args::Property) -> Result<(), Errno> {
    match ask.kind {
        prop::PWRCTRL if ask.sizebytes == 4 => user::read_bytes(ask.value, &mut [0; 4]),
        prop::PWR_CONSTRAINT | prop::L3_PWR_CONSTRAINT => {
            let mut constraint = args::Constraint::default();
            if ask.sizebytes != bytes_of(&constraint).len() as u64 {
                return Err(Errno::INVAL);
            }
            user::read_bytes(ask.value, bytes_of_mut(&mut constraint))?;
            context::with(call, constraint.context_id, |_| Ok(()))?;
            constrain(&constraint)
        }
        _ => Err(Errno::INVAL),
    }
}

fn constrain(constraint: &args::Constraint) -> Result<(), Errno> {
    match constraint.kind {
        constraint::NONE | constraint::L3_NONE => Ok(()),
        constraint::PWRLEVEL | constraint::L3_PWRLEVEL => {
            let mut level = 0u32;
            if constraint.size != size_of::<u32>() as u64 {
                return Err(Errno::INVAL);
            }
            user::read_bytes(constraint.data, bytes_of_mut(&mut level))?;
            // `KGSL_CONSTRAINT_PWR_MIN` and `PWR_MAX`.
            if level <= 1 { Ok(()) } else { Err(Errno::INVAL) }
        }
        _ => Err(Errno::INVAL),
    }
}

/// `KGSL_PERFCOUNTER_GROUP_ALWAYSON`.
const ALWAYS_ON: u32 = 0x1b;
/// Most counters of a read.
const MOST: u32 = 100;

/// `KGSL_PERFCOUNTER_READ`: the clock that is always on. Other counters are not counted.
///
/// # Errors
/// The call fails with `EINVAL` for another counter, for none or too many, or with `EFAULT`.
pub fn read_counters(_: &Call, ask: &mut args::PerfcounterRead) -> Result<(), Errno> {
    if ask.count == 0 || ask.count > MOST {
        return Err(Errno::INVAL);
    }
    let mut rows: Vec<args::PerfcounterReadGroup> = user::read_array(ask.reads, ask.count, MOST)?;
    for row in &mut rows {
        if row.groupid != ALWAYS_ON || row.countable != 0 {
            return Err(Errno::INVAL);
        }
        row.value = timestamp();
    }
    user::write_bytes(ask.reads, bytemuck::cast_slice(&rows))
}
