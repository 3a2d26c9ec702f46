"""What changes pictures changes the hash of their code; what says the same in other words does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.claims.quality import results


def hash_of(root: Path) -> str:
    return results.sources.__wrapped__(root, ("a", "one.py"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c.py").write_text('"""Said."""\n\n\ndef f() -> int:\n    """Said."""\n    return 1\n')
    (tmp_path / "one.py").write_text("x = 1\n")
    return tmp_path


def test_words_and_layout_do_not_count(root: Path) -> None:
    before = hash_of(root)
    (root / "a" / "b" / "c.py").write_text('"""Other."""\ndef f() -> int:\n    # Why.\n    return (1)\n')
    assert hash_of(root) == before


@pytest.mark.parametrize(("file", "text"), [("a/b/c.py", "def f() -> int:\n    return 2\n"), ("one.py", "x = 2\n")])
def test_changed_code_counts(root: Path, file: str, text: str) -> None:
    before = hash_of(root)
    (root / file).write_text(text)
    assert hash_of(root) != before


def test_a_new_and_a_missing_file_count(root: Path) -> None:
    before = hash_of(root)
    (root / "a" / "new.py").write_text("")
    assert hash_of(root) != before
    (root / "one.py").unlink()
    with pytest.raises(FileNotFoundError):
        hash_of(root)


def test_a_result_made_with_other_code_is_not_taken_again(monkeypatch: pytest.MonkeyPatch) -> None:
    before = results.key_of("question")
    assert results.key_of("question") == before
    monkeypatch.setattr(results, "sources", lambda: "other code")
    assert results.key_of("question") != before
