//! What one end says the other understands.

use super::frame::{self, Frame};
use super::{Place, PlaceKind, Question, Request};
use proptest::prelude::*;

fn place() -> impl Strategy<Value = Place> {
    let kind = prop_oneof![
        Just(PlaceKind::Host),
        Just(PlaceKind::Device),
        Just(PlaceKind::Array)
    ];
    (
        kind,
        any::<u64>(),
        any::<u64>(),
        any::<u64>(),
        any::<[u32; 3]>(),
    )
        .prop_map(|(kind, base, pitch, rows, first)| Place {
            kind,
            base,
            pitch,
            rows,
            first,
        })
}

fn request() -> impl Strategy<Value = Request> {
    let sizes = any::<[[u32; 3]; 3]>();
    prop_oneof![
        Just(Request::Synchronize {}),
        (any::<u64>(), any::<u32>(), any::<i32>()).prop_map(|(function, attribute, value)| {
            Request::SetFunctionAttribute {
                function,
                attribute,
                value,
            }
        }),
        (any::<u32>(), any::<i32>())
            .prop_map(|(flags, priority)| Request::CreateStream { flags, priority }),
        (
            any::<u64>(),
            sizes,
            any::<u32>(),
            any::<u32>(),
            any::<u64>()
        )
            .prop_map(
                |(function, [grid, block, cluster], shared, flags, stream)| Request::Launch {
                    function,
                    grid,
                    block,
                    cluster,
                    shared,
                    flags,
                    stream
                }
            ),
        (place(), place(), any::<[u64; 4]>()).prop_map(
            |(from, to, [width, height, depth, stream])| {
                Request::Transfer {
                    from,
                    to,
                    width,
                    height,
                    depth,
                    stream,
                }
            }
        ),
        (
            any::<[u64; 3]>(),
            any::<[u32; 3]>(),
            any::<[u32; 4]>(),
            any::<[u32; 5]>()
        )
            .prop_map(
                |([array, address, pitch], size, bits, [kind, wrap, filter, read, normalized])| {
                    Request::CreateTexture {
                        array,
                        address,
                        size,
                        pitch,
                        bits,
                        kind,
                        wrap,
                        filter,
                        read,
                        normalized,
                    }
                }
            ),
    ]
}

proptest! {
    #[test]
    fn requests_arrive_as_they_were_sent(request in request(), payload in any::<Vec<u8>>()) {
        let mut sent = Vec::new();
        frame::write(&mut sent, request.code(), &request.words(), &payload).expect("there is room");
        let got = frame::read(&mut sent.as_slice()).expect("it is whole").expect("there is one");
        prop_assert_eq!(Request::read(got.code, &got.words), Some(request));
        prop_assert_eq!(got.payload, payload);
    }

    #[test]
    fn what_is_cut_off_is_an_error(words in any::<Vec<u64>>(), payload in any::<Vec<u8>>(), cut in 1usize..100) {
        let mut sent = Vec::new();
        frame::write(&mut sent, 7, &words, &payload).expect("there is room");
        let left = sent.len().saturating_sub(cut);
        let got = frame::read(&mut &sent[..left]);
        let is_refused = if left == 0 { got.is_ok_and(|g| g.is_none()) } else { got.is_err() };
        prop_assert!(is_refused);
    }

    #[test]
    fn any_words_are_a_request_that_says_the_same_or_none(code in 0u32..110, words in any::<Vec<u64>>()) {
        if let Some(request) = Request::read(code, &words) {
            prop_assert_eq!((request.code(), request.words()), (code, words));
        }
    }

    #[test]
    fn any_bytes_are_a_message_or_an_error(bytes in any::<Vec<u8>>()) {
        let _ = frame::read(&mut bytes.as_slice());
    }
}

#[test]
fn fields_that_are_too_many_too_few_or_too_large_are_none() {
    assert_eq!(Request::read(15, &[3]), Some(Request::Limit { limit: 3 }));
    assert_eq!(Request::read(15, &[]), None);
    assert_eq!(Request::read(15, &[3, 4]), None);
    assert_eq!(Request::read(15, &[1 << 32]), None);
    assert_eq!(Request::read(9999, &[]), None);
    let question = Question::Map {
        address: 5,
        bytes: 6,
    };
    assert_eq!(
        Question::read(question.code(), &question.words()),
        Some(question)
    );
}

#[test]
fn lengths_that_cannot_be_are_refused_without_taking_memory() {
    let mut bytes = vec![0; 16];
    bytes[8..].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(frame::read(&mut bytes.as_slice()).is_err());
    bytes[8..].copy_from_slice(&(frame::MOST_PAYLOAD - 1).to_le_bytes());
    assert!(frame::read(&mut bytes.as_slice()).is_err());
    assert_eq!(
        frame::read(&mut [].as_slice()).expect("the end"),
        None::<Frame>
    );
}
