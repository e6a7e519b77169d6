from pathlib import Path

import pytest

from harness.replay.driver.errors import DriverFailure
from harness.replay.driver.options import Options, Place, find_place, find_script, help_text, parse_command


def options(*words: str, **variables: str) -> Options:
    return parse_command(
        [*words, "best.ts"], {f"VITEXEC_{name}": value for name, value in variables.items()}
    ).options


def test_everything_has_a_default() -> None:
    assert options() == Options()
    assert options().viewport == (1280, 720)
    assert options().timeout == 600


def test_every_option_has_a_variable_and_the_flag_wins() -> None:
    assert options(VIEWPORT="640x360", TIMEOUT="5").viewport == (640, 360)
    assert options("--timeout", "7", TIMEOUT="5").timeout == 7
    assert options(RECORD_FPS="60", GPU="1") == Options(record_fps=60, gpu=True)
    assert options("--no-gpu", GPU="1").gpu is False
    assert options(SEED="3", HEAP_SNAPSHOT="h") == Options(seed=3, heap_snapshot="h")


@pytest.mark.parametrize("name", ["path", "config", "gpu", "viewport", "timeout", "screenshot", "record", "record-fps",
                                  "cpu-profile", "network-trace", "performance-trace", "heap-snapshot", "seed"])  # fmt: skip
def test_help_tells_of_every_option(name: str) -> None:
    assert f"--{name}" in help_text()


def test_the_forms_of_the_command() -> None:
    assert parse_command(["console.log(1)"], {}).form == "once"
    opened = parse_command(["open", "A", "--viewport", "800x600"], {})
    assert (opened.form, opened.session, opened.options.viewport) == ("open", "A", (800, 600))
    ran = parse_command(["run", "A", "--timeout", "3", "best.ts"], {})
    assert (ran.form, ran.session, ran.source, ran.options.timeout) == ("run", "A", "best.ts", 3)
    assert parse_command(["close", "A"], {}).form == "close"
    assert parse_command(["-"], {}).source == "-"
    assert parse_command(["--timeout", "3", "-"], {}).source == "-"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "needs a script"),
        (["run", "A"], "needs a script"),
        (["open", "../x"], "cannot be named"),
        (["a", "b"], "one script at a time"),
        (["--nope", "a"], "--nope"),
        (["--timeout", "-3", "a"], "--timeout"),
        (["--timeout", "soon", "a"], "--timeout cannot be 'soon'"),
        (["--viewport", "big", "a"], "1280x720"),
        (["--record-fps", "500", "a"], "from 1 to 60"),
        (["--time", "3", "a"], "--time"),
    ],
)
def test_a_mistake_is_one_sentence(words: list[str], message: str) -> None:
    with pytest.raises(DriverFailure) as raised:
        parse_command(words, {})
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_script_is_the_path_as_written_then_under_vitexec_then_inline_code(tmp_path: Path) -> None:
    (tmp_path / "vitexec").mkdir()
    under = tmp_path / "vitexec" / "best.ts"
    under.write_text("")
    assert find_script("best.ts", tmp_path, tmp_path) == under
    written = tmp_path / "best.ts"
    written.write_text("")
    assert find_script("best.ts", tmp_path, tmp_path) == written
    assert find_script(str(under), tmp_path, tmp_path) == under
    assert find_script("console.log('best.ts')", tmp_path, tmp_path) is None
    assert find_script("x\n" * 5000, tmp_path, tmp_path) is None
    with pytest.raises(DriverFailure, match=r"there is no script nope\.ts"):
        find_script("nope.ts", tmp_path, tmp_path)


def test_path_is_a_folder_of_a_project_or_a_page_in_it(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("")
    inner = tmp_path / "vitexec"
    inner.mkdir()
    assert find_place(None, inner) == Place(tmp_path, None)
    assert find_place("/levels.html", tmp_path) == Place(tmp_path, "/levels.html")
    assert find_place("levels.html", tmp_path) == Place(tmp_path, "/levels.html")
    assert find_place("/", tmp_path) == Place(tmp_path, "/")
    assert find_place(str(inner), Path("/")) == Place(inner, None)
