//! Every seed of every target passes.

use hairpin_fuzz::TARGETS;

#[test]
fn seeds_pass() {
    for target in TARGETS {
        (target.run)(&[]);
        for (name, bytes) in (target.seeds)() {
            println!("{} {name}", target.name);
            (target.run)(&bytes);
        }
    }
}

#[test]
fn seeds_have_names_of_their_own() {
    for target in TARGETS {
        let mut names: Vec<_> = (target.seeds)().into_iter().map(|(name, _)| name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count, "{}", target.name);
    }
}
