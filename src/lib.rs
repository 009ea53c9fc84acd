//! An Adreno A4xx in software.
