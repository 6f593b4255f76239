//! Exports of a trace by hand, and where a script's imports end: what it takes to put something else around them.

use std::ops::Range;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprCall, Stmt};
use ruff_text_size::Ranged;

use crate::Module;
use crate::lines::newline;

/// `prof.export_chrome_trace(path)`, with a plain name and one argument. Ranges are in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChromeExport {
    /// The name of the profiler.
    pub profiler: Range<u32>,
    /// From the name to the parenthesis that opens, which is included.
    pub callee: Range<u32>,
}

impl Module {
    /// The exports by hand, in order.
    pub fn chrome_exports(&self) -> Vec<ChromeExport> {
        let mut finder = Finder(Vec::new());
        if self.text().contains("export_chrome_trace") {
            finder.visit_body(self.suite());
        }
        finder.0.sort_by_key(|export| export.callee.start);
        finder.0
    }

    /// Where a new import goes and the text that puts it there: behind the imports that the file begins with, or before
    /// all code.
    pub fn import_insertion(&self, import: &str) -> (u32, String) {
        let (text, lines) = (&**self.text(), self.lines());
        let newline = newline(text);
        let is_head = |(at, stmt): (usize, &Stmt)| match stmt {
            Stmt::Import(_) | Stmt::ImportFrom(_) => true,
            Stmt::Expr(docstring) => at == 0 && docstring.value.is_string_literal_expr(),
            _ => false,
        };
        let head = self.suite().iter().enumerate().take_while(|&(at, stmt)| is_head((at, stmt))).count();
        let Some(last) = head.checked_sub(1).map(|at| &self.suite()[at]) else {
            let first = self.suite().first().map_or(text.len() as u32, |stmt| stmt.start().into());
            let at = lines.range(text, lines.line(first)).map_or(first, |line| line.start);
            return (at, format!("{import}{newline}"));
        };
        // `import a; b = f(` goes on: behind all that begins on the line.
        let mut line = lines.line(last.end().into());
        for stmt in &self.suite()[head..] {
            if lines.line(stmt.start().into()) == line {
                line = lines.line(stmt.end().into());
            }
        }
        let at = lines.range(text, line).map_or(last.end().into(), |line| line.end);
        (at, format!("{newline}{import}"))
    }
}

struct Finder(Vec<ChromeExport>);

impl<'a> Visitor<'a> for Finder {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        crate::deep(|| visitor::walk_stmt(self, stmt));
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Call(call) = expr {
            self.0.extend(export(call));
        }
        crate::deep(|| visitor::walk_expr(self, expr));
    }
}

fn export(call: &ExprCall) -> Option<ChromeExport> {
    let callee = call.func.as_attribute_expr()?;
    let profiler = callee.value.as_name_expr()?;
    let arguments = &call.arguments;
    let path = match (&*arguments.args, &*arguments.keywords) {
        ([path], []) => !path.is_starred_expr(),
        ([], [path]) => path.arg.as_deref() == Some("path"),
        _ => false,
    };
    (path && callee.attr.as_str() == "export_chrome_trace").then(|| ChromeExport {
        profiler: profiler.start().into()..profiler.end().into(),
        callee: call.start().into()..u32::from(arguments.start()) + 1,
    })
}

#[cfg(test)]
mod tests {
    use crate::Module;

    fn exports(text: &str) -> Vec<String> {
        let found = Module::parse(text).chrome_exports();
        found
            .iter()
            .map(|export| text[export.callee.start as usize..export.callee.end as usize].to_owned())
            .collect()
    }

    #[test]
    fn exports_are_found_wherever_they_are_and_in_no_other_form() {
        let text = "def f(p, *a):\n    p.export_chrome_trace('a')\n    return [q.export_chrome_trace(path='b') for q in a]\n";
        assert_eq!(exports(text), ["p.export_chrome_trace(", "q.export_chrome_trace("]);
        for other in
            ["p().export_chrome_trace('a')", "p.export_chrome_trace(*a)", "p.export_chrome_trace('a', None)"]
        {
            assert!(exports(other).is_empty(), "{other}");
        }
    }

    #[test]
    fn an_import_goes_behind_those_at_the_top() {
        let put = |text: &str| {
            let (at, new) = Module::parse(text).import_insertion("import new");
            let mut text = text.to_owned();
            text.insert_str(at as usize, &new);
            assert!(Module::parse(&*text).is_valid(), "{text}");
            text
        };
        assert_eq!(
            put("import a\nfrom b import (\n    c,\n)  # why\n\nx = 1\n"),
            "import a\nfrom b import (\n    c,\n)  # why\nimport new\n\nx = 1\n"
        );
        assert_eq!(put("\"\"\"What it is.\"\"\"\nx = 1\n"), "\"\"\"What it is.\"\"\"\nimport new\nx = 1\n");
        assert_eq!(
            put("#!/usr/bin/env python\n@f\ndef g(): ...\n"),
            "#!/usr/bin/env python\nimport new\n@f\ndef g(): ...\n"
        );
        assert_eq!(put("import a; x = f(\n    1)\ny = 2"), "import a; x = f(\n    1)\nimport new\ny = 2");
        assert_eq!(put("import a"), "import a\nimport new");
        assert_eq!(put("import a\r\n"), "import a\r\nimport new\r\n");
        assert_eq!(put(""), "import new\n");
    }
}
