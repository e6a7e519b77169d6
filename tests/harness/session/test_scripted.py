from pathlib import Path

import pytest

from contracts.errors import WrongInput
from harness.session.scripted import load_turns


def written(folder: Path, text: str) -> Path:
    path = folder / "turns.yaml"
    path.write_text(text)
    return path


def test_turns_are_read_with_the_texts_of_files_put_in(tmp_path: Path) -> None:
    (tmp_path / "win.ts").write_text("await mouse.click();\n")
    path = written(
        tmp_path,
        "- say: hello\n  bash: |\n    cat > best.ts <<'END'\n    {{file:win.ts}}END\n- bash: [a, b]\n  timeout_s: 2\n- say: done\n",
    )
    first, second, last = load_turns(path)
    assert first.commands == ["cat > best.ts <<'END'\nawait mouse.click();\nEND\n"]
    assert (second.commands, second.timeout_s, last.commands, last.say) == (["a", "b"], 2, [], "done")


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("- say: a\n- bsh: ls\n", 2, "bsh"), ("- say: a\n  delay_s: -1\n", 2, "delay_s"), ("- bash: [ls, '']\n", 1, "empty"),
        ("say: a\n", 1, "list"), ("[]\n", 1, "list"), ("- say: a\n- bash: '{{file:gone}}'\n", 2, "gone"),
        ("- say: [\n", 2, "YAML"), ("- raw: x\n\n  status: 9\n", 3, "status"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_line(tmp_path: Path, text: str, line: int, word: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(WrongInput) as told:
        load_turns(path)
    assert f"{path}:{line}:" in str(told.value) and word in str(told.value)
