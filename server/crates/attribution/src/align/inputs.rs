//! The recorded arguments of an op, as far as they tell one place in the text from another.
//!
//! A Python number among tensors is recorded as a tensor without dims of type `long int` or `double`, or as a `Scalar`
//! with its value. That tells `x * 2` from `x * 0.5` and `x > 0` from `x > 1`.

use source::{Cost, Operand};

/// What it costs that the recorded arguments of an operator are not those of its text.
pub(super) const CONTRADICTION: Cost = 20;

/// One recorded argument.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Input<'a> {
    /// `float`, `long int`, `Scalar`, … Empty for what has no type (absent, a list).
    pub kind: &'a str,
    /// Raw dims: `[4, 4]`.
    pub dims: &'a str,
    /// The value where it is recorded.
    pub concrete: &'a str,
}

/// The recorded arguments; empty when they were not recorded.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Inputs<'a>(Vec<Input<'a>>);

impl<'a> Inputs<'a> {
    /// From the raw JSON of `Input type`, `Input Dims` and `Concrete Inputs`.
    pub fn read(kinds: &'a str, dims: &'a str, concrete: &'a str) -> Self {
        let (kinds, dims, concrete) = (elements(kinds), elements(dims), elements(concrete));
        let at = |list: &[&'a str], place: usize| list.get(place).copied().unwrap_or("");
        let inputs = (0..kinds.len())
            .map(|place| Input {
                kind: at(&kinds, place),
                dims: at(&dims, place),
                concrete: at(&concrete, place),
            })
            .collect();
        Self(inputs)
    }

    /// The number of dimensions of the first argument, where it is a tensor whose dims were recorded.
    pub fn rank(&self) -> Option<u32> {
        let first = self.0.first()?;
        let dims = first.dims.strip_prefix('[')?.strip_suffix(']')?;
        let is_tensor = !first.kind.is_empty() && first.kind != "Scalar" && !first.kind.ends_with("List");
        let is_flat = !dims.contains('[');
        (is_tensor && is_flat && !dims.trim().is_empty()).then(|| dims.split(',').count() as u32)
    }

    /// What a contradiction between the text of an operator and its recorded arguments costs.
    pub fn against_operator(&self, operands: &[Operand]) -> Cost {
        let ([left, right], [first, second, ..]) = (operands, &self.0[..]) else { return 0 };
        let fits = match (left, right) {
            (left, right) if is_number(left) && is_number(right) => false,
            (number, _) | (_, number) if is_number(number) => {
                [first, second].into_iter().any(|input| input.is(number))
            }
            (Operand::Name(a), Operand::Name(b)) if a == b => {
                first.kind == second.kind && first.dims == second.dims
            }
            _ => true,
        };
        if fits { 0 } else { CONTRADICTION }
    }

    /// The same for the numbers that a call or subscript is given. Weaker: a function may pass on something else.
    pub fn against_arguments(&self, operands: &[Operand]) -> Cost {
        const UNSEEN: Cost = 4;
        if self.0.iter().all(|input| input.concrete.is_empty()) {
            return 0;
        }
        let numbers = operands.iter().filter(|o| matches!(o, Operand::Int(_) | Operand::Float(_)));
        let mut unseen = 0;
        for number in numbers {
            if !self.0.iter().any(|input| input.is(number) || input.lists(number)) {
                unseen = UNSEEN;
            }
        }
        unseen
    }
}

/// Whether it is surely a Python number.
pub(super) fn is_number(operand: &Operand) -> bool {
    matches!(operand, Operand::Int(_) | Operand::Float(_) | Operand::Number)
}

impl Input<'_> {
    /// Whether it can be this Python number.
    fn is(&self, number: &Operand) -> bool {
        if self.kind == "Scalar" {
            return match (number, self.concrete.trim_end_matches('.').parse::<f64>()) {
                (_, Err(_)) | (Operand::Number, _) => true,
                (Operand::Int(wanted), Ok(value)) => close(*wanted as f64, value),
                (Operand::Float(wanted), Ok(value)) => close(*wanted, value),
                _ => false,
            };
        }
        self.dims == "[]"
            && match number {
                Operand::Int(_) => self.kind == "long int",
                Operand::Number => true,
                Operand::Float(_) => self.kind == "double",
                _ => false,
            }
    }

    /// Whether it is a list with this number in it.
    fn lists(&self, number: &Operand) -> bool {
        let Operand::Int(wanted) = number else { return false };
        self.concrete
            .trim_matches(['[', ']'])
            .split(',')
            .any(|value| value.trim().parse::<i64>().is_ok_and(|value| value == *wanted))
    }
}

/// Values are printed with few digits.
fn close(wanted: f64, value: f64) -> bool {
    (wanted - value).abs() <= 1e-4 * wanted.abs().max(1e-12)
}

/// The elements of a JSON array, strings without their quotes, arrays as they are.
fn elements(json: &str) -> Vec<&str> {
    let Some(inner) = json.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        return Vec::new();
    };
    let (mut depth, mut quoted, mut from) = (0u32, false, 0);
    let mut found = Vec::new();
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'[' if !quoted => depth += 1,
            b']' if !quoted => depth = depth.saturating_sub(1),
            b',' if !quoted && depth == 0 => {
                found.push(&inner[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    if !inner.trim().is_empty() {
        found.push(&inner[from..]);
    }
    found.into_iter().map(|element| element.trim().trim_matches('"')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_split() {
        assert_eq!(elements(r#"["float","long int",""]"#), ["float", "long int", ""]);
        assert_eq!(elements("[[4, 4], [], [[1], [2]]]"), ["[4, 4]", "[]", "[[1], [2]]"]);
        assert_eq!(elements(r#"["","[-1]","True"]"#), ["", "[-1]", "True"]);
        assert!(elements("[]").is_empty() && elements("").is_empty() && elements("x").is_empty());
    }

    #[test]
    fn numbers_tell_lines_apart() {
        let wrapped = Inputs::read(r#"["float","long int"]"#, "[[4, 4], []]", r#"["",""]"#);
        let x = || Operand::Name("x".into());
        assert_eq!(wrapped.against_operator(&[x(), Operand::Int(2)]), 0);
        assert_ne!(wrapped.against_operator(&[x(), Operand::Float(0.5)]), 0);
        assert_ne!(wrapped.against_operator(&[x(), x()]), 0);
        assert_eq!(wrapped.against_operator(&[x(), Operand::Name("k".into())]), 0);
        let scalar = Inputs::read(r#"["float","Scalar"]"#, "[[], []]", r#"["","1."]"#);
        assert_eq!(scalar.against_operator(&[x(), Operand::Float(1.0)]), 0);
        assert_ne!(scalar.against_operator(&[x(), Operand::Int(0)]), 0);
        let view = Inputs::read(r#"["float","ScalarList"]"#, "[[4], []]", r#"["","[2, -1]"]"#);
        assert_eq!(view.against_arguments(&[Operand::Int(-1)]), 0);
        assert_ne!(view.against_arguments(&[Operand::Int(7)]), 0);
        assert_eq!(Inputs::default().against_operator(&[x(), Operand::Int(2)]), 0);
    }
}
