use super::*;
use crate::RingError;

#[test]
fn buffers_are_aligned_and_zero() {
    for len in [1, 7, 1024, 1 << 15, (HUGE_PAGE / 8) - 1, HUGE_PAGE / 8, 3 * HUGE_PAGE / 8 + 5] {
        let buffer = Buffer::zeros(len);
        let align = if len * 8 >= HUGE_PAGE { HUGE_PAGE } else { ALIGNMENT };
        assert_eq!(buffer.as_ptr() as usize % align, 0, "{len} words");
        assert_eq!(buffer.len(), len);
        assert!(buffer.iter().all(|&w| w == 0));
    }
    assert!(Buffer::zeros(0).is_empty());
}

#[test]
fn limbs_lie_one_after_the_other() {
    let words: Vec<u64> = (0..24).collect();
    let mut poly = Poly::from_words(8, &words, Domain::Coefficient).unwrap();
    assert_eq!((poly.n(), poly.limb_count(), poly.domain()), (8, 3, Domain::Coefficient));
    assert_eq!(poly.limb(1), &words[8..16]);
    poly.limb_mut(2)[7] = 99;
    assert_eq!(poly.words()[23], 99);
    assert_eq!(poly.limbs().map(|l| l[0]).collect::<Vec<_>>(), [0, 8, 16]);
    let copy = poly.clone();
    poly.set_domain(Domain::Evaluation);
    assert_ne!(copy, poly);
    poly.truncate(1);
    assert_eq!((poly.limb_count(), poly.words()), (1, &words[..8]));
    assert_eq!(
        Poly::from_words(7, &words, Domain::Coefficient),
        Err(RingError::Count { what: "words of a polynomial", expected: 28, got: 24 })
    );
    assert!(Poly::from_words(0, &[], Domain::Coefficient).is_err());
}

#[test]
fn what_is_made_like_a_polynomial_shares_its_pool() {
    let pool = Pool::new(1 << 20);
    let of_pool = Poly::zeros_in(&pool, 1024, 3, Domain::Coefficient);
    let like = Poly::unspecified_like(&of_pool, 2, Domain::Evaluation);
    assert_eq!((like.n(), like.limb_count(), like.domain()), (1024, 2, Domain::Evaluation));
    let address = like.words().as_ptr();
    drop(like);
    assert_eq!(pool.free_bytes(), 2 * 8192);
    assert_eq!(of_pool.scratch(2048).as_ptr(), address);
    let alone = Poly::zeros(1024, 1, Domain::Coefficient);
    assert!(alone.scratch(2048).home().is_none() && alone.scratch(2048).iter().all(|&w| w == 0));
    assert!(Poly::unspecified_like(&alone, 2, Domain::Coefficient).words().iter().all(|&w| w == 0));
}

#[test]
fn a_pool_hands_the_same_memory_out_again() {
    let pool = Pool::new(1 << 20);
    let mut poly = Poly::zeros_in(&pool, 1024, 3, Domain::Coefficient);
    let address = poly.words().as_ptr();
    poly.words_mut().fill(7);
    poly.truncate(1);
    drop(poly);
    assert_eq!(pool.free_bytes(), 3 * 8192);
    let again = Poly::unspecified_in(&pool, 1024, 3, Domain::Evaluation);
    assert_eq!(again.words().as_ptr(), address);
    assert_eq!((again.limb_count(), pool.free_bytes()), (3, 0));
    let other = again.clone();
    assert_ne!(other.words().as_ptr(), address);
    drop((again, other));
    assert_eq!(pool.free_bytes(), 2 * 3 * 8192);
    let zero = Poly::zeros_in(&pool, 3072, 1, Domain::Evaluation);
    assert!(zero.words().iter().all(|&w| w == 0));
    pool.clear();
    assert_eq!(pool.free_bytes(), 0);
    drop(zero);
    drop(Buffer::zeros_in(&pool, (1 << 17) + 1));
    assert_eq!(pool.free_bytes(), 3 * 8192, "a buffer over the limit is not kept");
}

#[test]
fn secrets_stay_in_no_pool() {
    let pool = Pool::new(1 << 20);
    for cut in [3, 2] {
        let mut poly = Poly::zeros_in(&pool, 1024, 3, Domain::Coefficient).wiped();
        poly.words_mut().fill(7);
        poly.truncate(cut);
        drop(poly.clone());
        drop(poly);
        for _ in 0..2 {
            let after = Poly::unspecified_in(&pool, 1024, 3, Domain::Coefficient);
            assert!(after.words().iter().all(|&word| word == 0), "{cut} limbs");
            std::mem::forget(after);
        }
    }
}

#[test]
fn what_is_not_kept_takes_any_buffer_that_is_long_enough() {
    let pool = Pool::new(1 << 20);
    let lengths = [500, 1000, 4000];
    let buffers = lengths.map(|len| Buffer::zeros_in(&pool, len));
    let addresses = buffers.each_ref().map(|buffer| buffer.as_ptr());
    drop(buffers);
    let other = Poly::zeros_in(&pool, 200, 1, Domain::Coefficient);
    let scratch = Poly::unspecified_beside(&other, 3, Domain::Coefficient);
    assert_eq!((scratch.words().as_ptr(), scratch.limb_count()), (addresses[1], 3));
    let longer = Buffer::any_in(&pool, 600);
    assert_eq!((longer.as_ptr(), longer.len()), (addresses[2], 600));
    assert_eq!(Buffer::any_in(&pool, 600).len(), 600, "none is left that long");
    let homeless = Poly::zeros(200, 1, Domain::Coefficient);
    assert!(Poly::unspecified_beside(&homeless, 2, Domain::Coefficient).words().iter().all(|&w| w == 0));
    drop((scratch, longer));
    // Each went back under the length it was made for.
    for (len, address) in lengths.into_iter().zip(addresses) {
        assert_eq!(Buffer::unspecified_in(&pool, len).as_ptr(), address);
    }
}

#[test]
fn a_large_buffer_serves_values_of_fewer_limbs() {
    let pool = Pool::new(16 * HUGE_PAGE);
    let (n, bytes) = (1 << 16, 12 << 19);
    let address = {
        let poly = Poly::zeros_in(&pool, n, 12, Domain::Coefficient);
        poly.words().as_ptr()
    };
    // Down to two thirds as long, one after the other.
    for limbs in [11, 9, 8] {
        let poly = Poly::unspecified_in(&pool, n, limbs, Domain::Coefficient);
        assert_eq!((poly.words().as_ptr(), poly.limb_count(), pool.free_bytes()), (address, limbs, 0));
        drop(poly);
        assert_eq!(pool.free_bytes(), bytes);
    }
    let shorter = Poly::unspecified_in(&pool, n, 7, Domain::Coefficient);
    assert_ne!(shorter.words().as_ptr(), address);
    let again = Poly::unspecified_in(&pool, n, 12, Domain::Coefficient);
    assert_eq!((again.words().as_ptr(), again.limb_count()), (address, 12));
    // Zeros are zeros whatever the last user left.
    drop(again);
    assert!(Poly::zeros_in(&pool, n, 10, Domain::Coefficient).words().iter().all(|&word| word == 0));
}
