//! Arguments while they are put together: objects that grow, with everything else kept as the JSON it came as.

use toolgate_wire::RawJson;

/// A value that is being put together.
#[derive(Debug)]
pub(super) enum Tree {
    /// A finished value.
    Value(RawJson),
    /// An object, its members in the order they came.
    Object(Vec<(String, Self)>),
}

impl Tree {
    /// Begins with an object; anything else counts as an empty one.
    pub(super) fn of(object: &RawJson) -> Self {
        Self::Object(object.members().into_iter().map(|(name, value)| (name, Self::Value(value))).collect())
    }

    /// Sets the value at a path. What stands in the way of the path and is no object gives way.
    pub(super) fn set(&mut self, path: &[String], value: RawJson) {
        let Some((name, deeper)) = path.split_first() else {
            *self = Self::Value(value);
            return;
        };
        if let Self::Value(old) = self {
            *self = Self::of(old);
        }
        let Self::Object(members) = self else { return };
        let place = match members.iter().position(|(known, _)| known == name) {
            Some(place) => place,
            None => {
                members.push((name.clone(), Self::Value(RawJson::NULL)));
                members.len() - 1
            }
        };
        if let Some((_, member)) = members.get_mut(place) {
            member.set(deeper, value);
        }
    }

    pub(super) fn to_json(&self) -> RawJson {
        let mut text = String::new();
        self.write(&mut text);
        RawJson::from_bytes(text).unwrap_or(RawJson::NULL)
    }

    fn write(&self, out: &mut String) {
        let members = match self {
            Self::Value(value) => return out.push_str(value.as_str()),
            Self::Object(members) => members,
        };
        out.push('{');
        for (place, (name, value)) in members.iter().enumerate() {
            if place > 0 {
                out.push(',');
            }
            out.push_str(RawJson::string(name).as_str());
            out.push(':');
            value.write(out);
        }
        out.push('}');
    }
}
