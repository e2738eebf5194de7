//! The root of a declaration: one object, whatever the root of the schema is.

use super::shape::{Form, Kinds, Ledger, Others, Plain, Shape, Words};
use super::union;

/// The key of the only parameter of a tool whose schema is not about an object.
pub(super) const WRAPPED_KEY: &str = "value";

/// The arguments of a function.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) words: Words,
    /// Of type object, without a list of values.
    pub(super) object: Plain,
    /// Whether the arguments of the tool are the value of [`WRAPPED_KEY`].
    pub(super) is_wrapped: bool,
}

impl Root {
    /// `None` when no arguments at all can be given.
    pub(super) fn of(shape: Shape, ledger: &mut Ledger) -> Option<Self> {
        let Shape { mut words, form } = shape;
        let object = match form {
            Form::Never => return None,
            Form::Plain(plain) => {
                if !plain.meant_kinds().meets(Kinds::OBJECT) {
                    return Some(Self::wrapped(Shape { words, form: Form::Plain(plain) }));
                }
                *plain
            }
            Form::Union(shapes) => {
                let is_object =
                    |shape: &Shape| shape.plain().is_some_and(|plain| plain.meant_kinds().meets(Kinds::OBJECT));
                let (objects, others): (Vec<Shape>, Vec<Shape>) = shapes.into_iter().partition(is_object);
                if objects.is_empty() {
                    return Some(Self::wrapped(Shape { words, form: Form::Union(others) }));
                }
                union::one_object(objects, &mut words, ledger)
            }
        };
        let object = with_object_alone(object, &mut words, ledger);
        Some(Self { words, object, is_wrapped: false })
    }

    fn wrapped(shape: Shape) -> Self {
        let mut object = Plain::of(Kinds::OBJECT);
        object.object.required = vec![WRAPPED_KEY.to_owned()];
        object.object.others = Others::Closed;
        object.object.properties = vec![(WRAPPED_KEY.to_owned(), shape)];
        Self { words: Words::default(), object, is_wrapped: true }
    }
}

/// Arguments are an object; a list of values beside that is told in words.
fn with_object_alone(mut plain: Plain, words: &mut Words, ledger: &mut Ledger) -> Plain {
    plain.kinds = Kinds::OBJECT;
    if let Some(values) = plain.values.take() {
        ledger.loosen();
        if let Some(text) = super::shape::told(&values.into()) {
            words.note(format!("One of: {text}."));
        }
    }
    plain
}
