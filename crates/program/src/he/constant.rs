//! Constants: numbers known when the program is written.

use std::sync::Arc;

use num_complex::Complex64;

use super::{Rule, is_free_factor};

/// A vector of finite numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Numbers {
    /// Real numbers.
    Real(Vec<f64>),
    /// Complex numbers.
    Complex(Vec<Complex64>),
}

impl Numbers {
    /// How many.
    pub fn len(&self) -> usize {
        match self {
            Self::Real(v) => v.len(),
            Self::Complex(v) => v.len(),
        }
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The `i`-th number.
    pub fn get(&self, i: usize) -> Option<Complex64> {
        match self {
            Self::Real(v) => v.get(i).map(|&re| Complex64::new(re, 0.0)),
            Self::Complex(v) => v.get(i).copied(),
        }
    }

    /// The greatest absolute value; 0 of none.
    pub fn magnitude(&self) -> f64 {
        match self {
            Self::Real(v) => v.iter().fold(0.0, |most, x| x.abs().max(most)),
            // A square root only where it may be greater.
            Self::Complex(v) => {
                v.iter().fold(0.0, |most, z| if z.l1_norm() > most { z.norm().max(most) } else { most })
            }
        }
    }

    /// The position of the first NaN or infinity.
    pub fn first_not_finite(&self) -> Option<usize> {
        match self {
            Self::Real(v) => v.iter().position(|x| !x.is_finite()),
            Self::Complex(v) => v.iter().position(|x| !x.is_finite()),
        }
    }

    /// The least power of two after which the numbers repeat, if it divides their number; else that number.
    pub fn period(&self) -> usize {
        fn of<T: PartialEq>(v: &[T]) -> usize {
            let mut period = v.len();
            while period > 1 && period.is_multiple_of(2) {
                let (first, second) = v[..period].split_at(period / 2);
                if first != second {
                    break;
                }
                period /= 2;
            }
            period
        }
        match self {
            Self::Real(v) => of(v),
            Self::Complex(v) => of(v),
        }
    }

    /// The first numbers, `count` of them at most.
    pub fn first(&self, count: usize) -> Self {
        match self {
            Self::Real(v) => Self::Real(v[..count.min(v.len())].to_vec()),
            Self::Complex(v) => Self::Complex(v[..count.min(v.len())].to_vec()),
        }
    }

    /// The same numbers as complex ones.
    pub fn to_complex(&self) -> Vec<Complex64> {
        match self {
            Self::Real(v) => v.iter().map(|&re| Complex64::new(re, 0.0)).collect(),
            Self::Complex(v) => v.clone(),
        }
    }

    /// Checks the length and that every number is finite.
    pub(crate) fn check(&self, slots: usize) -> Result<(), Rule> {
        if let Some(index) = self.first_not_finite() {
            return Err(Rule::NotFinite { index });
        }
        if self.len() != slots {
            return Err(Rule::ConstantLength { found: self.len(), slots });
        }
        Ok(())
    }
}

/// Index into [`super::Program::tables`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableId(pub u32);

/// A named vector of S numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Name, without the `@`.
    pub name: String,
    /// S numbers.
    pub numbers: Numbers,
}

/// The operand of `const`.
#[derive(Debug, Clone, PartialEq)]
pub enum Constant {
    /// One real number in every slot.
    Real(f64),
    /// One complex number in every slot.
    Complex(Complex64),
    /// S numbers, written in place; shared, for each pass copies the program.
    List(Arc<Numbers>),
    /// A named table.
    Table(TableId),
}

impl Constant {
    /// The number a + bi that stands in every slot, if a and b are integers so small that a product with it costs no level.
    pub fn as_gaussian_integer(&self) -> Option<Complex64> {
        match self {
            Self::Complex(z) if is_free_factor(z.re) && is_free_factor(z.im) => Some(*z),
            _ => None,
        }
    }

    /// Whether a product with it costs no level: one number in every slot, its parts integers so small.
    pub fn is_free(&self) -> bool {
        self.as_real_scalar().is_some_and(is_free_factor) || self.as_gaussian_integer().is_some()
    }

    /// The real number that stands in every slot, if it is one.
    pub fn as_real_scalar(&self) -> Option<f64> {
        match self {
            Self::Real(x) => Some(*x),
            Self::Complex(z) if z.im == 0.0 => Some(z.re),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_magnitude_is_that_of_the_greatest_number() {
        // A Pythagorean triple whose parts are smaller than the other numbers.
        let mut z = vec![Complex64::new(-4.5, 0.0), Complex64::new(0.25, 4.75), Complex64::new(3.0, -4.0)];
        assert_eq!(Numbers::Complex(z.clone()).magnitude(), 5.0);
        z.reverse();
        assert_eq!(Numbers::Complex(z).magnitude(), 5.0);
        assert_eq!(Numbers::Real(vec![1.0, -2.5, 2.0]).magnitude(), 2.5);
        assert_eq!(Numbers::Real(Vec::new()).magnitude(), 0.0);
    }

    #[test]
    fn products_with_small_whole_numbers_are_free() {
        let complex = |re, im| Constant::Complex(Complex64::new(re, im));
        let free = [Constant::Real(0.0), Constant::Real(-1_048_576.0), complex(3.0, 0.0), complex(-2.0, 5.0)];
        assert!(free.iter().all(Constant::is_free), "{free:?}");
        let ones = Constant::List(Arc::new(Numbers::Real(vec![1.0; 2])));
        let dear = [
            Constant::Real(0.5),
            Constant::Real(1_048_577.0),
            complex(0.5, 0.0),
            complex(1.0, 0.5),
            complex(0.5, 1.0),
            complex(1.0, 1_048_577.0),
            ones,
            Constant::Table(TableId(0)),
        ];
        assert!(!dear.iter().any(Constant::is_free), "{dear:?}");
    }
}
