//! What a machine takes for the instructions of a limb program, and the choice of key-switch methods by it.
//!
//! | file | subject |
//! |---|---|
//! | [`work`] | how much of each kind of work a program or a key switch is |
//! | [`table`] | what a machine takes for each kind, as a file |
//! | [`methods`] | the method that takes the least for each number of limbs; the key forms worth having |
//! | `suited` | the methods whose finished program takes the least |

pub mod methods;
mod suited;
pub mod table;
pub mod work;

pub use methods::{Allowed, Methods, worthwhile};
pub use table::{Auxiliary, CostError, CostTable, Rates};
pub use work::{Kind, Work};
