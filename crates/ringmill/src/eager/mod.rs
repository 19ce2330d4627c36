//! Eager operations, each in three spellings: `op` gives a new ciphertext, `op_into` overwrites one, `op_assign`
//! overwrites its first operand. What is overwritten goes back to the pool.

mod arithmetic;
mod checks;
mod galois;
mod keyed;
mod plain;
pub(crate) mod shape;

/// The `_into` and `_assign` spellings of an operation.
macro_rules! spellings {
    ($op:ident, $into:ident, $assign:ident $(, $arg:ident : $ty:ty)*) => {
        #[doc = concat!("As [`", stringify!($op), "`](Self::", stringify!($op), "), into `out`.")]
        ///
        /// # Errors
        #[doc = concat!("Those of [`", stringify!($op), "`](Self::", stringify!($op), "); `out` is then unchanged.")]
        pub fn $into(&self, a: &Ciphertext $(, $arg: $ty)*, out: &mut Ciphertext) -> Result<(), Error> {
            *out = self.$op(a $(, $arg)*)?;
            Ok(())
        }

        #[doc = concat!("As [`", stringify!($op), "`](Self::", stringify!($op), "), in place of `a`.")]
        ///
        /// # Errors
        #[doc = concat!("Those of [`", stringify!($op), "`](Self::", stringify!($op), "); `a` is then unchanged.")]
        pub fn $assign(&self, a: &mut Ciphertext $(, $arg: $ty)*) -> Result<(), Error> {
            *a = self.$op(a $(, $arg)*)?;
            Ok(())
        }
    };
}
use spellings;
