//! Instruction sets that code is compiled for, and their vector instructions.
use iced_x86::{Code, Register};

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// AVX-512 (F, BW, DQ, VL): 16 lanes a register, conditions in mask registers.
    Avx512,
    /// AVX2, FMA and F16C: 8 lanes a register, conditions in vectors.
    Avx2,
}

impl Machine {
    /// The best instruction set of this computer, if it has one.
    pub fn here() -> Option<Self> {
        let wide = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        if wide { Some(Self::Avx512) } else { Self::narrow() }
    }

    /// [`Machine::Avx2`], if this computer has it. Computers with AVX-512 have it too.
    pub fn narrow() -> Option<Self> {
        let has_it = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c");
        has_it.then_some(Self::Avx2)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "AVX-512",
            Self::Avx2 => "AVX2",
        }
    }

    /// Number of lanes in a register.
    pub fn lanes(self) -> usize {
        match self {
            Self::Avx512 => 16,
            Self::Avx2 => 8,
        }
    }

    /// Number of vector registers.
    pub fn registers(self) -> u8 {
        match self {
            Self::Avx512 => 32,
            Self::Avx2 => 16,
        }
    }

    /// Vector register `n`.
    pub fn vector(self, n: u8) -> Register {
        match self {
            Self::Avx512 => Register::ZMM0 + u32::from(n),
            Self::Avx2 => Register::YMM0 + u32::from(n),
        }
    }
}

impl Vector {
    /// Whether the sources can be exchanged.
    pub fn commutes(self) -> bool {
        matches!(
            self,
            Self::Add | Self::Mul | Self::AddInteger | Self::MulInteger | Self::And | Self::Or | Self::Xor
        )
    }
}

/// Makes the enumeration of vector instructions: name, the one of AVX-512, the one of AVX2.
macro_rules! instructions {
    ($($(#[$doc:meta])* $name:ident $wide:ident $narrow:ident;)*) => {
        /// A vector instruction that both machines have.
        #[allow(missing_docs, reason = "Intel's names")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Vector {
            $($(#[$doc])* $name,)*
        }

        impl Machine {
            /// The form of an instruction that works on whole registers.
            pub fn form(self, instruction: Vector) -> Code {
                match (self, instruction) {
                    $((Self::Avx512, Vector::$name) => Code::$wide, (Self::Avx2, Vector::$name) => Code::$narrow,)*
                }
            }
        }
    };
}
instructions! {
    Add EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er VEX_Vaddps_ymm_ymm_ymmm256;
    Sub EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er VEX_Vsubps_ymm_ymm_ymmm256;
    Mul EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er VEX_Vmulps_ymm_ymm_ymmm256;
    /// `dst = dst * a - b`, rounded once.
    FusedMulSub EVEX_Vfmsub213ps_zmm_k1z_zmm_zmmm512b32_er VEX_Vfmsub213ps_ymm_ymm_ymmm256;
    Div EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er VEX_Vdivps_ymm_ymm_ymmm256;
    Min EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae VEX_Vminps_ymm_ymm_ymmm256;
    Max EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae VEX_Vmaxps_ymm_ymm_ymmm256;
    Sqrt EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er VEX_Vsqrtps_ymm_ymmm256;
    Round EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae VEX_Vroundps_ymm_ymmm256_imm8;
    Permute EVEX_Vpermilps_zmm_k1z_zmmm512b32_imm8 VEX_Vpermilps_ymm_ymmm256_imm8;
    And EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32 VEX_Vpand_ymm_ymm_ymmm256;
    AndNot EVEX_Vpandnd_zmm_k1z_zmm_zmmm512b32 VEX_Vpandn_ymm_ymm_ymmm256;
    Or EVEX_Vpord_zmm_k1z_zmm_zmmm512b32 VEX_Vpor_ymm_ymm_ymmm256;
    Xor EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32 VEX_Vpxor_ymm_ymm_ymmm256;
    AddInteger EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32 VEX_Vpaddd_ymm_ymm_ymmm256;
    SubInteger EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32 VEX_Vpsubd_ymm_ymm_ymmm256;
    MulInteger EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32 VEX_Vpmulld_ymm_ymm_ymmm256;
    /// The sum of the products of the signed 16-bit halves.
    MulAddHalves EVEX_Vpmaddwd_zmm_k1z_zmm_zmmm512 VEX_Vpmaddwd_ymm_ymm_ymmm256;
    MinUnsigned EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32 VEX_Vpminud_ymm_ymm_ymmm256;
    MaxUnsigned EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32 VEX_Vpmaxud_ymm_ymm_ymmm256;
    MinSigned EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32 VEX_Vpminsd_ymm_ymm_ymmm256;
    MaxSigned EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32 VEX_Vpmaxsd_ymm_ymm_ymmm256;
    Absolute EVEX_Vpabsd_zmm_k1z_zmmm512b32 VEX_Vpabsd_ymm_ymmm256;
    ShiftLeft EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32 VEX_Vpsllvd_ymm_ymm_ymmm256;
    ShiftRight EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32 VEX_Vpsrlvd_ymm_ymm_ymmm256;
    ShiftRightSigned EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32 VEX_Vpsravd_ymm_ymm_ymmm256;
    ShiftLeftBy EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8 VEX_Vpslld_ymm_ymm_imm8;
    ShiftRightBy EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8 VEX_Vpsrld_ymm_ymm_imm8;
    ShiftRightSignedBy EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8 VEX_Vpsrad_ymm_ymm_imm8;
    SignedToFloat EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er VEX_Vcvtdq2ps_ymm_ymmm256;
    FloatToSigned EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae VEX_Vcvttps2dq_ymm_ymmm256;
    Load EVEX_Vmovdqa32_zmm_k1z_zmmm512 VEX_Vmovdqa_ymm_ymmm256;
    Store EVEX_Vmovdqa32_zmmm512_k1z_zmm VEX_Vmovdqa_ymmm256_ymm;
}
