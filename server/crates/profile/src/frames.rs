//! What the name of a `python_function` event says. Names are torch's own (`torch/csrc/profiler/collection.cpp`):
//! `path.py(12): function`, `<built-in method rsqrt of type object at 0x…>`, `nn.Module: Linear_0`.

use trace::{Interner, Symbol};

use crate::model::Callee;

/// Reads a frame's name. What fits no form is [`Callee::Other`] and stays plain text.
pub(crate) fn callee(name: &str, strings: &mut Interner) -> Callee {
    if let Some(instance) = name.strip_prefix("nn.Module: ") {
        let class = match instance.rsplit_once('_') {
            Some((class, number)) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => {
                class
            }
            _ => instance,
        };
        return Callee::Module { class: strings.intern(class), instance: strings.intern(instance) };
    }
    if let Some((name, owner)) = builtin(name) {
        return Callee::Builtin { name: strings.intern(name), owner: owner.map(|o| strings.intern(o)) };
    }
    match python(name) {
        Some((file, line, function)) => {
            Callee::Python { file: path(file, strings), line, function: strings.intern(function) }
        }
        None => Callee::Other,
    }
}

/// `<built-in method NAME of OWNER object at 0x…>`, `<built-in function NAME>`, `<method 'NAME' of 'OWNER' objects>`.
fn builtin(name: &str) -> Option<(&str, Option<&str>)> {
    let inner = name.strip_prefix('<')?.strip_suffix('>')?;
    if let Some(rest) = inner.strip_prefix("built-in ") {
        let rest = rest.strip_prefix("method ").or_else(|| rest.strip_prefix("function ")).unwrap_or(rest);
        return Some(match rest.split_once(" of ") {
            Some((name, owner)) => {
                (name, Some(owner.split_once(" object at ").map_or(owner, |(owner, _)| owner)))
            }
            None => (rest, None),
        });
    }
    let (name, owner) = inner.strip_prefix("method ")?.split_once(" of ")?;
    Some((name.trim_matches('\''), Some(owner.strip_suffix(" objects")?.trim_matches('\''))))
}

/// Split from the right: directories may hold parentheses and colons.
fn python(name: &str) -> Option<(&str, u32, &str)> {
    let mut end = name.len();
    while let Some(close) = name[..end].rfind("): ") {
        let open = name[..close].rfind('(')?;
        let digits = &name[open + 1..close];
        let function = &name[close + 3..];
        if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) && !function.is_empty() {
            return digits.parse().ok().filter(|_| open > 0).map(|line| (&name[..open], line, function));
        }
        end = close;
    }
    None
}

/// `path:line` of `CallFrom`; the line stands behind the last colon, for a drive letter has one too.
pub(crate) fn call_from(text: &str, strings: &mut Interner) -> Option<(Symbol, u32)> {
    let (file, line) = text.rsplit_once(':')?;
    if file.is_empty() || !line.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    line.parse().ok().map(|line| (path(file, strings), line))
}

/// A path, with the backslashes back that a writer's missing escapes turned into control characters: `D:\train.py`
/// written as it is reads as `D:`, TAB, `rain.py`.
fn path(text: &str, strings: &mut Interner) -> Symbol {
    if !text.contains(|c: char| c < ' ') {
        return strings.intern(text);
    }
    let mut fixed = String::with_capacity(text.len() + 4);
    for c in text.chars() {
        match c {
            '\t' => fixed.push_str("\\t"),
            '\n' => fixed.push_str("\\n"),
            '\r' => fixed.push_str("\\r"),
            '\u{8}' => fixed.push_str("\\b"),
            '\u{c}' => fixed.push_str("\\f"),
            other => fixed.push(other),
        }
    }
    strings.intern(&fixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str) -> String {
        let mut strings = Interner::default();
        let callee = callee(name, &mut strings);
        let text = |s: Symbol| strings.text(s).to_owned();
        match callee {
            Callee::Python { file, line, function } => format!("{}|{line}|{}", text(file), text(function)),
            Callee::Builtin { name, owner } => {
                format!("{} of {}", text(name), owner.map(text).unwrap_or_default())
            }
            Callee::Module { class, instance } => format!("{} {}", text(class), text(instance)),
            Callee::Other => "other".to_owned(),
        }
    }

    #[test]
    fn splits_python_frames_from_the_right() {
        assert_eq!(read("train.py(5): step"), "train.py|5|step");
        assert_eq!(read("runs (2)/a:b/train.py(5): step"), "runs (2)/a:b/train.py|5|step");
        assert_eq!(read("train.py(0): <lambda>"), "train.py|0|<lambda>");
        assert_eq!(read("D:\train.py(5): step"), "D:\\train.py|5|step");
    }

    #[test]
    fn keeps_malformed_names_as_text() {
        for name in
            ["x.py(abc): f", "(): ", "(5): f", "train.py(5): ", "train.py", "x.py(99999999999): f", ""]
        {
            assert_eq!(read(name), "other", "{name}");
        }
    }

    #[test]
    fn names_builtins_and_modules() {
        assert_eq!(read("<built-in method rsqrt of type object at 0x7f57>"), "rsqrt of type");
        assert_eq!(read("<built-in function len>"), "len of ");
        assert_eq!(read("<method 'add' of 'torch._C.TensorBase' objects>"), "add of torch._C.TensorBase");
        assert_eq!(read("nn.Module: My_Block_12"), "My_Block My_Block_12");
        assert_eq!(read("nn.Module: Odd"), "Odd Odd");
    }

    #[test]
    fn splits_call_from_at_the_last_colon() {
        let mut strings = Interner::default();
        let (file, line) = call_from(r"d:\ml\train.py:6", &mut strings).unwrap_or_else(|| panic!("a call"));
        assert_eq!((strings.text(file), line), (r"d:\ml\train.py", 6));
        assert!(call_from("train.py", &mut strings).is_none());
        assert!(call_from("train.py:", &mut strings).is_none());
    }
}
