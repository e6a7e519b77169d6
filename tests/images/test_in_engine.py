"""The images as an engine runs them: known by the digest foretold, thin to load, working under full hardening."""

import io
import tarfile
import uuid
from collections.abc import Generator
from pathlib import Path
from typing import Any

import docker
import pytest
from docker import DockerClient

from harness.engine import Container, ContainerSpec, Engine, Limits
from images.archive import compose
from images.build import Layers
from images.engine_load import layers_in_engine, load_image
from images.layers import Entry, write_entries
from images.recipe import Debian, Recipe
from images.store import ImageStore

pytestmark = pytest.mark.docker

LIMITS = Limits(memory_bytes=2 << 30, pids=512, cpus=2, file_bytes=None)
SANDBOX = """
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path="/usr/lib/chromium/chromium", chromium_sandbox=True)
    page = browser.new_page()
    page.goto("chrome://sandbox")
    print(page.inner_text("body"))
"""
FILM = "ffmpeg -loglevel error -f lavfi -i testsrc=d=1:s=64x64 -c:v libx264 -pix_fmt yuv420p /tmp/a.mp4 && test -s /tmp/a.mp4"
SERVE = """
cd /tmp && echo 'const n: number = 41; export default n + 1' > a.ts && (vite --port 5199 --host 127.0.0.1 > vite.log 2>&1 &)
for _ in $(seq 100); do python3 -c 'import urllib.request as r; print(r.urlopen("http://127.0.0.1:5199/a.ts").read())' 2> /dev/null && exit 0; sleep 0.2; done
cat vite.log; exit 1
"""
FORBIDDEN = r"find / -xdev \( -name .git -o -name 'contracts' -o -path '*/evaluators/*' -o -path '*/canaries/*' \) -not -path '/proc/*' 2> /dev/null"


@pytest.fixture(scope="module")
def client() -> Generator[DockerClient]:
    found = docker.from_env(timeout=600)
    yield found
    found.close()


@pytest.fixture(scope="module")
def engine() -> Generator[Engine]:
    found = Engine.connect()
    yield found
    found.close()


@pytest.fixture(scope="module", params=["replay", "agent"])
def box(request: pytest.FixtureRequest, client: DockerClient, engine: Engine) -> Generator[Container]:
    ref = ImageStore().ready(request.param, None, client)
    run_id = f"images-test-{uuid.uuid4().hex[:8]}"
    spec = ContainerSpec(
        image=ref.engine_ref,
        role="agent" if request.param == "agent" else "browser",
        run_id=run_id,
        command=("sleep", "300"),
        limits=LIMITS,
    )
    container = engine.create(spec)
    container.start()
    yield container
    engine.remove_run(run_id)


def shell(box: Container, command: str) -> tuple[int | None, str]:
    done = box.exec(["sh", "-c", command], timeout_s=120)
    return done.code, (done.stdout + done.stderr).decode(errors="replace")


def test_chromium_starts_with_its_own_sandbox_on(box: Container) -> None:
    done = box.exec(["python3", "-"], timeout_s=120, stdin=SANDBOX.encode())
    assert "You are adequately sandboxed." in done.stdout.decode(), done.stderr.decode()


def test_ffmpeg_encodes_and_vite_serves_on_a_read_only_root(box: Container) -> None:
    assert shell(box, FILM)[0] == 0
    code, served = shell(box, SERVE)
    assert (code, "const n = 41;" in served) == (0, True), served
    assert shell(box, "touch /usr/x")[0] != 0


def test_no_image_holds_history_contracts_evaluators_or_answers(box: Container) -> None:
    assert shell(box, FORBIDDEN)[1] == ""


def test_the_image_is_of_no_particular_host(box: Container) -> None:
    _, text = shell(box, "cat /etc/machine-id; ls /etc/apt/sources.list* /var/lib/apt/lists /var/log; id -un")
    assert text.splitlines()[-1] == "agent"
    assert "Packages" not in text


def test_the_digest_is_known_before_the_engine_has_seen_the_image(client: DockerClient) -> None:
    ref = ImageStore().ready("replay", None, client)
    assert ImageStore().resolve("replay").digest == ref.digest
    assert ref.digest == ref.engine_ref or client.images.get(ref.engine_ref).tags


def test_a_second_image_on_the_same_layers_is_loaded_without_them(
    tmp_path: Path, client: DockerClient
) -> None:
    layers = Layers(tmp_path)
    recipe = Recipe(name="thin", epoch=1_700_000_000, debian=Debian(suite="trixie", packages=()))
    unique = uuid.uuid4().hex.encode()

    def keep(name: str, content: bytes) -> tuple[str, str]:
        def make(target: Path) -> str:
            with target.open("wb") as out:
                return write_entries(out, {f"etc/{name}": Entry(content)}, recipe.epoch)

        return name, layers.keep(name, name, make)

    low, high = keep("low", unique), keep("high", unique)
    first, second = compose("thin", recipe, [low], {}), compose("thin", recipe, [low, high], {})
    files = {layer: layers.file(layer) for _, layer in (low, high)}
    loaded: list[Any] = []
    try:
        loaded.append(load_image(client, first, files, lambda _: None, tag=False))
        assert layers_in_engine(client, second) == {low[1]}
        files[low[1]].unlink()
        loaded.append(load_image(client, second, files, lambda _: None, tag=False))
        assert file_of(client, loaded[1], "etc/low") == unique
        assert loaded == [first.digest, second.digest]
    finally:
        for reference in reversed(loaded):
            client.images.remove(reference)


def file_of(client: DockerClient, image: str, path: str) -> bytes:
    container = client.containers.create(image, ["none"])
    try:
        pieces, _ = container.get_archive(f"/{path}")
        with tarfile.open(fileobj=io.BytesIO(b"".join(pieces))) as archive:
            stream = archive.extractfile(archive.getmembers()[0])
            return stream.read() if stream else b""
    finally:
        container.remove()
