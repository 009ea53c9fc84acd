//! Texture and sampler state.

enums! {
    [TEX_ENUMS]

    /// Texture filter.
    a4xx_tex_filter => TexFilter {
        A4XX_TEX_NEAREST = 0, A4XX_TEX_LINEAR = 1, A4XX_TEX_ANISO = 2,
    }

    /// Texture wrap mode.
    a4xx_tex_clamp => TexClamp {
        A4XX_TEX_REPEAT = 0, A4XX_TEX_CLAMP_TO_EDGE = 1, A4XX_TEX_MIRROR_REPEAT = 2,
        A4XX_TEX_CLAMP_TO_BORDER = 3, A4XX_TEX_MIRROR_CLAMP = 4,
    }

    /// Maximum anisotropy.
    a4xx_tex_aniso => TexAniso {
        A4XX_TEX_ANISO_1 = 0, A4XX_TEX_ANISO_2 = 1, A4XX_TEX_ANISO_4 = 2, A4XX_TEX_ANISO_8 = 3,
        A4XX_TEX_ANISO_16 = 4,
    }

    /// Source of a texture component.
    a4xx_tex_swiz => TexSwiz {
        A4XX_TEX_X = 0, A4XX_TEX_Y = 1, A4XX_TEX_Z = 2, A4XX_TEX_W = 3, A4XX_TEX_ZERO = 4,
        A4XX_TEX_ONE = 5,
    }

    /// Dimensionality of a texture.
    a4xx_tex_type => TexType {
        A4XX_TEX_1D = 0, A4XX_TEX_2D = 1, A4XX_TEX_CUBE = 2, A4XX_TEX_3D = 3, A4XX_TEX_BUFFER = 4,
    }
}
