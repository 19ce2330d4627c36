//! `#[derive(StructuredError)]`: see the crate `ringmill-errors`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Data, DeriveInput, Error, Field, Fields, Ident, parse_macro_input};

/// Implements `ringmill_errors::StructuredError`.
///
/// The code of an enum is the name of the variant, that of a struct its own name. Fields are the named ones, in order; what a
/// tuple holds is the error of another crate or module, with a code and fields of its own. A field of a type that has no
/// `ToField` is marked `#[field(display)]`, to be reported as its text, `#[field(code)]`, an error that is reported as its code, or
/// `#[field(skip)]`.
#[proc_macro_derive(StructuredError, attributes(field))]
pub fn structured_error(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    implement(&input).unwrap_or_else(Error::into_compile_error).into()
}

fn implement(input: &DeriveInput) -> Result<TokenStream, Error> {
    let name = &input.ident;
    let arms = match &input.data {
        Data::Enum(data) => {
            let each = data.variants.iter().map(|v| {
                let variant = &v.ident;
                arm(&quote!(Self::#variant), variant, &v.fields)
            });
            each.collect::<Result<Vec<_>, _>>()?
        }
        Data::Struct(data) => vec![arm(&quote!(Self), name, &data.fields)?],
        Data::Union(_) => return Err(Error::new_spanned(name, "a union is no error")),
    };
    if arms.is_empty() {
        return Err(Error::new_spanned(name, "an enum without variants is no error"));
    }
    let (codes, fields): (Vec<_>, Vec<_>) = arms.into_iter().unzip();
    let (generics, types, bounds) = input.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #generics ::ringmill_errors::StructuredError for #name #types #bounds {
            fn code(&self) -> &'static str {
                match self { #(#codes)* }
            }

            fn fields(&self) -> ::std::vec::Vec<(&'static str, ::ringmill_errors::Field)> {
                match self { #(#fields)* }
            }
        }
    })
}

/// The code and the fields of a variant or a struct, each as an arm of a match.
fn arm(path: &TokenStream, name: &Ident, fields: &Fields) -> Result<(TokenStream, TokenStream), Error> {
    let code = name.to_string();
    let code = quote!(#path { .. } => #code,);
    let Fields::Named(named) = fields else {
        return Ok((code, quote!(#path { .. } => ::std::vec::Vec::new(),)));
    };
    let (mut bound, mut pairs) = (Vec::new(), Vec::new());
    for field in &named.named {
        let Some(ident) = &field.ident else { continue };
        let label = ident.to_string();
        let value = match how(field)? {
            How::Plain => quote!(::ringmill_errors::ToField::to_field(#ident)),
            How::Display => {
                quote!(::ringmill_errors::Field::Text(::std::string::ToString::to_string(#ident)))
            }
            How::Code => {
                quote!(::ringmill_errors::Field::Text(::ringmill_errors::StructuredError::code(#ident).to_owned()))
            }
            How::Skip => continue,
        };
        bound.push(ident);
        pairs.push(quote!((#label, #value)));
    }
    Ok((code, quote!(#path { #(#bound,)* .. } => ::std::vec![#(#pairs),*],)))
}

/// How a field is reported.
enum How {
    Plain,
    Display,
    Code,
    Skip,
}

fn how(field: &Field) -> Result<How, Error> {
    let Some(attribute) = field.attrs.iter().find(|a: &&Attribute| a.path().is_ident("field")) else {
        return Ok(How::Plain);
    };
    let word: Ident = attribute.parse_args()?;
    match word.to_string().as_str() {
        "display" => Ok(How::Display),
        "code" => Ok(How::Code),
        "skip" => Ok(How::Skip),
        _ => Err(Error::new_spanned(&word, "write #[field(display)], #[field(code)] or #[field(skip)]")),
    }
}
