"""The recorder without torch: a profiler that gives a tree of calls and writes a trace.

python3 -m unittest discover -s tests/recorder
"""

import contextlib
import enum
import gzip
import hashlib
import io
import json
import os
import sys
import tempfile
import unittest
from types import SimpleNamespace
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../extension/recorder"))

import aten_lens_recorder  # noqa: E402
from aten_lens_recorder import exact_lines  # noqa: E402


class Kind(enum.IntEnum):
    TorchOp = 0
    PyCall = 4
    PyCCall = 5


def node(kind, start, name, line=0, children=()):
    caller = SimpleNamespace(file_name="train.py", line_number=line)
    fields = SimpleNamespace() if kind == Kind.TorchOp else SimpleNamespace(caller=caller)
    return SimpleNamespace(tag=kind, start_time_ns=start, name=name, extra_fields=fields, children=list(children))


TREE = [
    node(
        Kind.PyCall,
        1_790_857_026_000_000_001,
        "train.py(5): step",
        18,
        [
            node(Kind.PyCCall, 1_790_857_026_000_000_900, "<built-in method relu>", 8),
            node(Kind.PyCCall, 1_790_857_026_000_000_950, "called from nowhere", 0),
            node(Kind.TorchOp, 1_790_857_026_000_000_100, "aten::mm"),
            node(Kind.PyCCall, 1_790_857_026_000_000_050, "<built-in method mm>", 6),
        ],
    )
]


class Profiler:
    def __init__(self, tree=TREE, with_stack=True):
        self.with_stack = with_stack
        results = SimpleNamespace(experimental_event_tree=lambda: tree)
        self.profiler = SimpleNamespace(kineto_results=results)

    def export_chrome_trace(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("{}")
        return "exported"


class Recorder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        aten_lens_recorder._said.clear()
        self.stderr = io.StringIO()
        redirected = contextlib.redirect_stderr(self.stderr)
        redirected.__enter__()
        self.addCleanup(redirected.__exit__, None, None, None)

    def path(self, name):
        return os.path.join(self.folder, name)

    def lines(self, name):
        with gzip.open(self.path(name)) as file:
            return json.load(file)

    def test_no_handler_stays_none(self):
        self.assertIsNone(exact_lines(None))

    def test_calls_are_written_by_start_beside_the_trace(self):
        exact_lines(lambda prof: prof.export_chrome_trace(self.path("a.json")))(Profiler())
        lines = self.lines("a.lines.json.gz")
        text = lines["strings"].__getitem__
        self.assertEqual(lines["version"], 1)
        self.assertEqual(lines["starts"], [1_790_857_026_000_000_001, 49, 850])
        names = ["train.py(5): step", "<built-in method mm>", "<built-in method relu>"]
        self.assertEqual([text(at) for at in lines["names"]], names)
        self.assertEqual([text(at) for at in lines["files"]], ["train.py"] * 3)
        self.assertEqual(lines["lines"], [18, 6, 8])
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.json", "a.lines.json.gz"])
        self.assertEqual(self.stderr.getvalue(), "")

    def hashed(self, source):
        """What the recorder says of a `train.py` of these bytes."""
        with open(self.path("train.py"), "wb") as file:
            file.write(source)
        with mock.patch.object(sys, "path", [self.folder, *sys.path]):
            exact_lines.export(Profiler(), self.path("a.json"))
        self.assertEqual(self.stderr.getvalue(), "")
        return self.lines("a.lines.json.gz")["sha256"]

    def test_sources_are_hashed_as_the_text_that_an_editor_shows(self):
        expected = {"train.py": hashlib.sha256("# é\nx = 1\n".encode()).hexdigest()}
        self.assertEqual(self.hashed("# é\nx = 1\n".encode()), expected)
        self.assertEqual(self.hashed("# é\r\nx = 1\r\n".encode()), expected)
        self.assertEqual(self.hashed("# é\rx = 1\r".encode()), expected)
        self.assertEqual(self.hashed(b"\xef\xbb\xbf" + "# é\r\nx = 1\n".encode()), expected)

    def test_a_declared_coding_counts(self):
        text = "# -*- coding: latin-1 -*-\nname = 'é'\n"
        self.assertEqual(self.hashed(text.encode("latin-1")), {"train.py": hashlib.sha256(text.encode()).hexdigest()})

    def test_what_is_no_text_has_no_hash_and_its_calls_have_their_lines(self):
        for source in (b"x = '\xe9'\n", b"# coding: no-such\n", b"# coding: hex\n00\n"):
            self.assertEqual(self.hashed(source), {})
            self.assertEqual(self.lines("a.lines.json.gz")["lines"], [18, 6, 8])

    def test_a_file_that_cannot_be_read_has_no_hash_and_its_calls_have_their_lines(self):
        with mock.patch.object(aten_lens_recorder.tokenize, "open", side_effect=PermissionError):
            self.assertEqual(self.hashed(b"x = 1\n"), {})
        self.assertEqual(self.lines("a.lines.json.gz")["lines"], [18, 6, 8])

    def test_of_two_files_of_one_name_the_loaded_one_is_hashed_and_without_it_none(self):
        other = os.path.join(self.folder, "other")
        os.mkdir(other)
        with open(os.path.join(other, "train.py"), "w", encoding="utf-8") as file:
            file.write("y = 2\n")
        with mock.patch.object(sys, "path", [other, *sys.path]):
            self.assertEqual(self.hashed(b"x = 1\n"), {})
            loaded = SimpleNamespace(__file__=os.path.join(other, "train.py"))
            with mock.patch.dict(sys.modules, train=loaded):
                self.assertEqual(self.hashed(b"x = 1\n"), {"train.py": hashlib.sha256(b"y = 2\n").hexdigest()})

    def test_a_call_whose_name_cannot_be_read_is_left_out(self):
        class Freed(SimpleNamespace):
            @property
            def name(self):
                return b"\x93".decode()

        freed = Freed(**{key: value for key, value in vars(TREE[0]).items() if key != "name"})
        exact_lines.export(Profiler(tree=[freed]), self.path("a.json"))
        self.assertEqual(self.lines("a.lines.json.gz")["lines"], [6, 8])
        self.assertEqual(self.stderr.getvalue(), "")

    def test_every_cycle_and_every_export_of_a_handler_has_its_lines(self):
        names = iter(["1.pt.trace.json.gz", "2.pt.trace.json", "3"])

        def handler(prof):
            prof.export_chrome_trace(self.path(next(names)))
            return "handled"

        wrapped, prof = exact_lines(handler), Profiler()
        self.assertEqual([wrapped(prof) for _ in range(3)], ["handled"] * 3)
        for name in ("1.pt.trace", "2.pt.trace", "3"):
            self.assertEqual(len(self.lines(f"{name}.lines.json.gz")["starts"]), 3)
        self.assertNotIn("export_chrome_trace", vars(prof))

    def test_an_export_by_hand_gives_back_what_torch_does(self):
        self.assertEqual(exact_lines.export(Profiler(), self.path("a.json")), "exported")
        self.assertEqual(len(self.lines("a.lines.json.gz")["starts"]), 3)

    def test_without_stacks_one_line_says_so(self):
        wrapped = exact_lines(lambda prof: prof.export_chrome_trace(self.path("a.json")))
        wrapped(Profiler(with_stack=False))
        wrapped(Profiler(with_stack=False))
        self.assertEqual(self.stderr.getvalue().count("\n"), 1)
        self.assertIn("with_stack=True", self.stderr.getvalue())
        self.assertEqual(os.listdir(self.folder), ["a.json"])

    def test_a_broken_profiler_is_one_line_and_no_exception(self):
        prof = Profiler()
        prof.profiler = None
        self.assertEqual(exact_lines(lambda prof: prof.export_chrome_trace(self.path("a.json")))(prof), "exported")
        self.assertEqual(self.stderr.getvalue().count("\n"), 1)

    def test_a_folder_that_cannot_be_written_is_one_line_and_no_exception(self):
        prof = Profiler()
        prof.export_chrome_trace = lambda path: None
        exact_lines(lambda prof: prof.export_chrome_trace(self.path("none/a.json")))(prof)
        self.assertEqual(self.stderr.getvalue().count("\n"), 1)

    def test_a_closed_stderr_is_no_exception(self):
        self.stderr.close()
        exact_lines.export(Profiler(tree=[None]), self.path("a.json"))

    def test_an_exception_of_the_handler_passes_through_and_what_it_exported_has_lines(self):
        def handler(prof):
            prof.export_chrome_trace(self.path("a.json"))
            raise KeyError("of the handler")

        prof = Profiler()
        with self.assertRaisesRegex(KeyError, "of the handler"):
            exact_lines(handler)(prof)
        self.assertEqual(len(self.lines("a.lines.json.gz")["starts"]), 3)
        self.assertNotIn("export_chrome_trace", vars(prof))

    def test_a_profiler_that_cannot_be_watched_still_reaches_the_handler(self):
        self.assertIs(exact_lines(lambda prof: prof)(None), None)


if __name__ == "__main__":
    unittest.main()
