//! Tests of the completion queue. They are not part of its file, which the loom model includes too.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::completion_queue::{Completion, CompletionQueue};

#[test]
fn completion_flags_contain_buffer_and_more() {
    let last = Completion { result: 4, flags: 7 << 16 | 1 };
    assert_eq!((last.buffer(), last.has_more()), (Some(7), false));
    let more = Completion { result: 4, flags: 2 };
    assert_eq!((more.buffer(), more.has_more()), (None, true));
    assert!(Completion { result: -libc::ENOBUFS, flags: 0 }.is_empty());
    assert!(!Completion { result: 0, flags: 0 }.is_empty());
    assert!(!Completion { result: -libc::ECONNRESET, flags: 0 }.is_empty());
    assert!(!Completion { result: i32::MIN, flags: 0 }.is_empty());
}

#[test]
#[should_panic(expected = "the queue must have room")]
fn panics_on_push_to_full_queue() {
    let completions = CompletionQueue::new(2);
    (0..3).for_each(|result| completions.push(Completion { result, flags: 0 }));
}

proptest! {
    /// Covers the wrap-around of both counts.
    #[test]
    fn pops_in_push_order(
        pushes in prop::collection::vec(any::<(bool, i32, u32)>(), 0..200),
    ) {
        let completions = CompletionQueue::starting_at(5, u32::MAX - 20);
        let mut model = VecDeque::new();
        for (push, result, flags) in pushes {
            if push && model.len() < 8 {
                completions.push(Completion { result, flags });
                model.push_back(Completion { result, flags });
            } else {
                prop_assert_eq!(completions.first(), model.pop_front());
                completions.pop();
            }
            prop_assert_eq!(completions.count(), model.len());
            prop_assert!(completions.iter().eq(model.iter().copied()));
        }
    }
}
