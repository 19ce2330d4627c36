//! Values of fields.

use std::path::PathBuf;

/// The value of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Field {
    /// None of what an option may hold.
    Nothing,
    /// Yes or no.
    Truth(bool),
    /// A whole number.
    Integer(i128),
    /// A number.
    Float(f64),
    /// A word or a text.
    Text(String),
    /// Several.
    Several(Vec<Field>),
}

/// What has a value as a field.
pub trait ToField {
    /// The value.
    fn to_field(&self) -> Field;
}

macro_rules! integers {
    ($($type:ty),*) => {
        $(impl ToField for $type {
            fn to_field(&self) -> Field {
                Field::Integer((*self).into())
            }
        })*
    };
}

integers!(u8, u16, u32, u64, i8, i16, i32, i64);

impl ToField for usize {
    fn to_field(&self) -> Field {
        // No machine has words of more than 128 bits.
        Field::Integer(*self as i128)
    }
}

impl ToField for bool {
    fn to_field(&self) -> Field {
        Field::Truth(*self)
    }
}

impl ToField for f64 {
    fn to_field(&self) -> Field {
        Field::Float(*self)
    }
}

impl ToField for str {
    fn to_field(&self) -> Field {
        Field::Text(self.to_owned())
    }
}

impl ToField for String {
    fn to_field(&self) -> Field {
        Field::Text(self.clone())
    }
}

impl ToField for PathBuf {
    fn to_field(&self) -> Field {
        Field::Text(self.display().to_string())
    }
}

impl<T: ToField + ?Sized> ToField for &T {
    fn to_field(&self) -> Field {
        (**self).to_field()
    }
}

impl<T: ToField + ?Sized> ToField for Box<T> {
    fn to_field(&self) -> Field {
        (**self).to_field()
    }
}

impl<T: ToField> ToField for Option<T> {
    fn to_field(&self) -> Field {
        self.as_ref().map_or(Field::Nothing, ToField::to_field)
    }
}

impl<T: ToField> ToField for Vec<T> {
    fn to_field(&self) -> Field {
        Field::Several(self.iter().map(ToField::to_field).collect())
    }
}

impl<T: ToField, const N: usize> ToField for [T; N] {
    fn to_field(&self) -> Field {
        Field::Several(self.iter().map(ToField::to_field).collect())
    }
}
