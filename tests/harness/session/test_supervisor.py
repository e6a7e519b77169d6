import itertools
import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from harness.session.supervisor import (
    BEAT,
    MAGIC,
    FrameParser,
    Process,
    frame,
    full_disks,
    lay_out_workspace,
    processes,
    started_by_command,
)

frames = st.lists(st.tuples(st.sampled_from(b"HBRCYODG"), st.binary(max_size=300)), max_size=8)


def feed_cut(parser: FrameParser, data: bytes, cuts: list[int]) -> list[tuple[int, bytes]]:
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    found: list[tuple[int, bytes]] = []
    for start, end in itertools.pairwise(edges):
        found += parser.feed(data[start:end])
    return found


@given(frames, st.lists(st.integers(0, 5000), max_size=20))
def test_frames_come_out_as_they_went_in_however_the_stream_is_cut(
    sent: list[tuple[int, bytes]], cuts: list[int]
) -> None:
    data = MAGIC + b"".join(frame(kind, payload) for kind, payload in sent)
    assert feed_cut(FrameParser(), data, cuts) == sent


@given(st.binary(max_size=200), frames, st.lists(st.integers(0, 5000), max_size=20))
def test_whatever_came_before_the_mark_is_skipped(
    junk: bytes, sent: list[tuple[int, bytes]], cuts: list[int]
) -> None:
    junk = junk.replace(MAGIC[:4], b"")
    data = junk + MAGIC + b"".join(frame(kind, payload) for kind, payload in sent)
    assert feed_cut(FrameParser(), data, cuts) == sent


@given(frames, frames)
def test_a_second_mark_between_frames_is_no_frame(
    before: list[tuple[int, bytes]], after: list[tuple[int, bytes]]
) -> None:
    data = MAGIC + b"".join(frame(*one) for one in before) + MAGIC + b"".join(frame(*one) for one in after)
    assert FrameParser().feed(data) == before + after


def test_an_impossible_length_loses_the_sync_until_the_next_mark() -> None:
    parser = FrameParser()
    assert parser.feed(MAGIC + b"\xff\xff\xff\xfeX" + b"rubbish") == []
    assert not parser.synced
    assert parser.feed(MAGIC + frame(BEAT)) == [(BEAT, b"")]


def table(*rows: tuple[int, int, int, int]) -> dict[int, Process]:
    return {pid: Process(pid, parent, pid, session, start, False) for pid, parent, session, start in rows}


INIT, SHELL = (1, 0, 1, 1), (7, 1, 7, 2)


def test_children_and_orphans_in_sessions_of_their_own_belong_to_the_command() -> None:
    now = table(INIT, SHELL, (20, 7, 7, 50), (21, 20, 7, 51), (22, 1, 22, 52))
    assert started_by_command(now, table(INIT, SHELL).values(), 7) == {20, 21, 22}


def test_an_older_server_and_what_it_starts_do_not_belong_to_the_command() -> None:
    older = table(INIT, SHELL, (10, 1, 7, 5))
    now = {**older, **table((30, 10, 7, 60), (31, 30, 7, 61), (40, 7, 7, 62))}
    assert started_by_command(now, older.values(), 7) == {40}


def test_an_orphan_in_an_older_servers_session_is_the_servers() -> None:
    older = table(INIT, SHELL, (10, 1, 10, 5))
    now = {**older, **table((30, 1, 10, 60))}
    assert started_by_command(now, older.values(), 7) == set()


def test_a_process_number_used_again_is_not_taken_for_the_older_process() -> None:
    older = table(INIT, SHELL, (10, 7, 7, 5))
    now = table(INIT, SHELL, (10, 7, 7, 99))
    assert started_by_command(now, older.values(), 7) == {10}


def test_zombies_are_nobodys() -> None:
    now = table(INIT, SHELL) | {20: Process(20, 7, 20, 7, 50, zombie=True)}
    assert started_by_command(now, table(INIT, SHELL).values(), 7) == set()


def test_the_process_table_knows_this_very_process() -> None:
    me = processes()[os.getpid()]
    assert (me.parent, me.group, me.session) == (os.getppid(), os.getpgrp(), os.getsid(0))


def test_a_disk_with_room_is_not_full() -> None:
    assert "/tmp" not in full_disks()


def test_an_empty_workspace_gets_the_game_writable_and_its_modules_as_a_link(tmp_path: Path) -> None:
    game, workspace = tmp_path / "game", tmp_path / "workspace"
    (game / "src").mkdir(parents=True)
    (game / "node_modules" / "three").mkdir(parents=True)
    (game / "src" / "a.ts").write_text("a")
    (game / "src" / "a.ts").chmod(0o444)
    workspace.mkdir()
    lay_out_workspace(game, workspace)
    assert os.access(workspace / "src" / "a.ts", os.W_OK) and (workspace / "src" / "a.ts").read_text() == "a"
    assert (workspace / "node_modules").readlink() == game / "node_modules"
    assert (workspace / "vitexec").is_dir()


def test_a_workspace_that_has_something_is_left_alone(tmp_path: Path) -> None:
    game, workspace = tmp_path / "game", tmp_path / "workspace"
    game.mkdir()
    (game / "index.html").write_text("new")
    workspace.mkdir()
    (workspace / "index.html").write_text("the agent's")
    lay_out_workspace(game, workspace)
    assert (workspace / "index.html").read_text() == "the agent's"
