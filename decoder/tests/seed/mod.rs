//! Where property tests begin: always the same seed, a fresh one under CI, or the one that
//! `PROPTEST_RNG_SEED` asks for. It is printed, so that a failure can be had again.

use std::hash::{BuildHasher, RandomState};

use proptest::test_runner::{Config, RngSeed};

/// `cases` random cases. The seed shows in the output of a test that fails.
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
