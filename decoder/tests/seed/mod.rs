//! The seed of property tests: fixed by default, random under CI, or the value of `PROPTEST_RNG_SEED`. It is
//! printed so that a failure can be repeated.

use std::hash::{BuildHasher, RandomState};

use proptest::test_runner::{Config, RngSeed};

/// A configuration for `cases` random cases. A failing test prints the seed.
pub fn random_cases(cases: u32) -> Config {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let fresh = std::env::var("CI").is_ok_and(|value| value == "true");
    let seed = match config.rng_seed {
        RngSeed::Fixed(asked) => asked,
        RngSeed::Random if fresh => RandomState::new().hash_one(cases),
        RngSeed::Random => 0xa420,
    };
    eprintln!("PROPTEST_RNG_SEED={seed}");
    Config { rng_seed: RngSeed::Fixed(seed), ..config }
}
