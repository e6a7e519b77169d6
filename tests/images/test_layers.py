"""Layers come out the same whatever the order or the day, and a difference really is one."""

import io
import tarfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from images.layers import Entry, parents, write_difference, write_entries, write_root

EPOCH = 1_700_000_000

Tree = dict[str, tuple[str, bytes, int]]

names = st.text("ab", min_size=1, max_size=2)
paths = st.lists(names, min_size=1, max_size=3).map("/".join)
nodes = st.one_of(
    st.tuples(st.just("file"), st.binary(max_size=4), st.sampled_from([0o644, 0o755])),
    st.tuples(st.just("folder"), st.just(b""), st.sampled_from([0o755, 0o700])),
    st.tuples(st.just("link"), st.sampled_from([b"x", b"y"]), st.just(0o777)),
)


def legal(tree: Tree) -> Tree:
    """Without what lies below a file or a link, and with every folder above."""
    kept = {
        path: node
        for path, node in tree.items()
        if all(tree.get(up, ("folder", b"", 0))[0] == "folder" for up in parents(path))
    }
    return {**{up: ("folder", b"", 0o755) for path in kept for up in parents(path)}, **kept}


trees = st.dictionaries(paths, nodes, max_size=8).map(legal)


def layer(path: Path, tree: Tree) -> Path:
    entries = {
        name: Entry(None if kind != "file" else data, mode, link=data.decode() if kind == "link" else None)
        for name, (kind, data, mode) in tree.items()
    }
    with path.open("wb") as out:
        write_entries(out, entries, EPOCH)
    return path


def apply(tree: Tree, path: Path) -> Tree:
    """What an engine makes of a layer over a tree."""
    result = dict(tree)
    with tarfile.open(path) as archive:
        members = archive.getmembers()
        for member in members:
            folder, _, name = member.name.rpartition("/")
            if name.startswith(".wh."):
                gone = f"{folder}/{name[4:]}".lstrip("/")
                result = {p: n for p, n in result.items() if p != gone and not p.startswith(gone + "/")}
        for member in members:
            if member.name.rpartition("/")[2].startswith(".wh."):
                continue
            if not member.isdir():
                result = {p: n for p, n in result.items() if not p.startswith(member.name + "/")}
            stream = archive.extractfile(member) if member.isreg() else None
            if member.isdir():
                result[member.name] = ("folder", b"", member.mode)
            elif member.issym():
                result[member.name] = ("link", member.linkname.encode(), 0o777)
            else:
                result[member.name] = ("file", stream.read() if stream else b"", member.mode)
    return result


@given(smaller=trees, larger=trees)
@settings(max_examples=150, deadline=None)
def test_a_difference_laid_over_the_smaller_tree_gives_the_larger(
    tmp_path_factory: object, smaller: Tree, larger: Tree
) -> None:
    folder = tmp_path_factory.mktemp("trees")  # type: ignore[attr-defined]
    old, new, difference = (
        layer(folder / "old", smaller),
        layer(folder / "new", larger),
        folder / "difference",
    )
    with difference.open("wb") as out:
        write_difference(old, new, out, EPOCH)
    assert apply(smaller, difference) == larger


@given(tree=trees, data=st.data())
@settings(max_examples=50, deadline=None)
def test_the_order_in_which_members_are_given_does_not_matter(tree: Tree, data: st.DataObject) -> None:
    entries = {name: Entry(content, mode) for name, (kind, content, mode) in tree.items() if kind == "file"}
    shuffled = dict(data.draw(st.permutations(list(entries.items()))))
    first, second = io.BytesIO(), io.BytesIO()
    assert write_entries(first, entries, EPOCH) == write_entries(second, shuffled, EPOCH)
    assert first.getvalue() == second.getvalue()


def test_a_root_loses_what_is_of_the_host_and_later_dates(tmp_path: Path) -> None:
    source, target = tmp_path / "root.tar", tmp_path / "layer.tar"
    members = {
        "./etc/hostname": 10,
        "./etc/machine-id": 7,
        "./var/log/apt/x.log": 1,
        "./usr/bin/tool": EPOCH + 99,
    }
    with tarfile.open(source, "w") as root:
        for name, mtime in members.items():
            member = tarfile.TarInfo(name)
            member.mtime, member.size, member.uname = mtime, 3, "somebody"
            root.addfile(member, io.BytesIO(b"abc"))
    with target.open("wb") as out:
        write_root(source, out, EPOCH)
    with tarfile.open(target) as made:
        found = {member.name: (member.size, member.mtime, member.uname) for member in made}
    assert found == {"etc/machine-id": (0, 7, ""), "usr/bin/tool": (3, EPOCH, "")}


def test_a_changed_hard_link_brings_its_target_along_and_before_it(tmp_path: Path) -> None:
    old, new, difference = tmp_path / "old", tmp_path / "new", tmp_path / "difference"
    with tarfile.open(old, "w") as root:
        root.addfile(_file("z"), io.BytesIO(b"abc"))
    with tarfile.open(new, "w") as root:
        root.addfile(_file("z"), io.BytesIO(b"abc"))
        link = tarfile.TarInfo("a")
        link.type, link.linkname = tarfile.LNKTYPE, "./z"
        root.addfile(link)
    with difference.open("wb") as out:
        write_difference(old, new, out, EPOCH)
    with tarfile.open(difference) as made:
        assert [(member.name, member.linkname) for member in made] == [("z", ""), ("a", "z")]


def _file(name: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size = 3
    return member
