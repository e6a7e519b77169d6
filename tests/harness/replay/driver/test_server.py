"""The project's server, run for real by node in a container: Vite projects and plain pages, its orders, what it refuses."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from .conftest import Box, Lines, Stand

pytestmark = [pytest.mark.docker, pytest.mark.browser]

FETCH = """
const response = await fetch(process.argv[1], { redirect: "manual", headers: JSON.parse(process.argv[2] ?? "{}") });
const text = await response.text();
console.log(JSON.stringify({ status: response.status, headers: Object.fromEntries(response.headers), text: text.slice(0, 4000) }));
"""


class Server:
    def __init__(self, box: Box, lines: Lines) -> None:
        self._box = box
        self._lines = lines
        self.first = json.loads(lines.line())

    def order(self, op: str, **fields: Any) -> dict[str, Any]:
        return self._lines.ask({"op": op, **fields})

    def get(self, path: str, **headers: str) -> dict[str, Any]:
        url = f"http://127.0.0.1:{self.first['port']}{path}"
        done = self._box.run("node", "--input-type=module", "-e", FETCH, url, json.dumps(headers))
        return json.loads(done.stdout)


def serve(box: Box, *arguments: str) -> Iterator[Server]:
    with box.container.open_exec(["node", "/tmp/driver/server.mjs", "--control", *arguments]) as channel:
        yield Server(box, Lines(channel))


@pytest.fixture(scope="module")
def project(box: Box) -> Iterator[Server]:
    yield from serve(box, "--root", "/workspace")


@pytest.fixture(scope="module")
def plain(box: Box) -> Iterator[Server]:
    yield from serve(box, "--root", "/tmp/page", "--serve", "static", "--entry", "/game/")


def test_every_answer_carries_the_nonce(project: Server, plain: Server) -> None:
    for server in (project, plain):
        for path in ("/", "/nothing.js", "/@vitexec/client.js", "/favicon.ico"):
            assert server.get(path)["headers"]["x-playproof-nonce"] == server.first["nonce"]
    assert project.first["nonce"] != plain.first["nonce"]
    assert plain.first["entry"] == "/game/"


def test_a_favicon_nobody_supplied_is_empty(project: Server, plain: Server) -> None:
    for server in (project, plain):
        answer = server.get("/favicon.ico")
        assert (answer["status"], answer["text"]) == (200, "")


def test_a_script_is_taken_in_compiled_and_bound_to_its_run(project: Server, plain: Server) -> None:
    for server in (project, plain):
        text = 'import { mouse } from "vitexec";\nconst n: number = 1;\nexport { n, mouse };\n'
        assert server.order("put_script", name="best.ts", text=text)["url"] == "/vitexec/best.ts"
        served = server.get("/vitexec/best.ts?vitexec=abc123")["text"]
        assert '"/@vitexec/client.js?run=abc123"' in served
        assert ": number" not in served
        check = json.loads(server.get("/@vitexec/check?url=%2Fvitexec%2Fbest.ts%3Fvitexec%3Dabc123")["text"])
        assert check == {"ok": True, "message": None}


def test_another_importer_gets_the_unbound_client(project: Server) -> None:
    project.order("put_script", name="lib.ts", text='export * from "vitexec";')
    assert '"/@vitexec/client.js"' in project.get("/vitexec/lib.ts")["text"]
    project.order(
        "put_script", name="best.ts", text='export * from "./lib.ts"; export * from "/src/state.ts";'
    )
    served = project.get("/vitexec/best.ts?vitexec=ff")["text"]
    assert '"/vitexec/lib.ts?vitexec=ff"' in served
    assert '"/src/state.ts"' in served


def test_a_broken_script_is_told_with_its_place(project: Server, plain: Server) -> None:
    for server in (project, plain):
        server.order("put_script", name="broken.ts", text="let a = 1;\nlet b = ;\n")
        check = json.loads(server.get("/@vitexec/check?url=%2Fvitexec%2Fbroken.ts%3Fvitexec%3Da")["text"])
        assert check["ok"] is False
        assert "let b = ;" in check["message"] or "2:" in check["message"]
        missing = json.loads(server.get("/@vitexec/check?url=%2Fvitexec%2Fnone.ts%3Fvitexec%3Da")["text"])
        assert missing["ok"] is False


@pytest.mark.parametrize("name", ["../best.ts", "/etc/x.ts", "best.sh", ".ts", "a/b.ts", ""])
def test_a_script_name_that_is_a_path_is_refused(project: Server, name: str) -> None:
    assert "cannot be named" in project.order("put_script", name=name, text="")["error"]


def test_a_script_above_a_mebibyte_is_refused(project: Server) -> None:
    assert project.order("put_script", name="big.ts", text="//" + "x" * (1024 * 1024 - 2))["ok"] is True
    assert "1 MiB" in project.order("put_script", name="big.ts", text="//" + "x" * (1024 * 1024))["error"]
    assert project.order("put_script", name="big.ts", text="")["ok"] is True


def test_no_file_outside_the_project_is_served(box: Box, project: Server, plain: Server) -> None:
    box.put("/tmp/secret.ts", "export const answer = 42;")
    for path in (
        "/@fs/tmp/secret.ts",
        "/@fs/tmp/secret.ts?vitexec=abc",
        "/@fs/tmp/secret.ts?raw",
        "/@fs/tmp/secret.ts?vitexec=abc&raw",
        "/..%2f..%2ftmp/secret.ts",
        "/%2e%2e/tmp/secret.ts?vitexec=abc",
        "/tmp/secret.ts?vitexec=abc",
    ):
        for server in (project, plain):
            assert "42" not in server.get(path)["text"], path
    assert project.order("script_url", file="/tmp/secret.ts")["url"] == "/@fs/tmp/secret.ts"
    assert "42" in project.get("/@fs/tmp/secret.ts?vitexec=abc")["text"]


def test_the_digest_lists_the_projects_own_files(project: Server) -> None:
    files = {file["path"]: file for file in project.order("digest")["files"]}
    assert {"index.html", "src/main.ts", "src/state.ts"} <= set(files)
    assert not any(path.startswith("vitexec/") for path in files)
    assert all(re.fullmatch(r"[0-9a-f]{64}", file["sha256"]) and file["size"] >= 0 for file in files.values())


def test_an_unknown_order_is_refused_and_the_server_goes_on(project: Server) -> None:
    assert "there is no order" in project.order("toString")["error"]
    assert project.order("prepare")["copied"] is False


def test_a_plain_page_is_served_as_it_is(box: Box, plain: Server) -> None:
    for name in ("index.html", "js/game.js", "style.css"):
        served = plain.get(f"/game/{name}")
        assert served["text"] == box.run("cat", f"/tmp/page/game/{name}").stdout.decode()
    assert plain.get("/game/js/game.js")["headers"]["content-type"].startswith("text/javascript")
    assert plain.get("/game")["status"] == 301
    assert plain.get("/nothing")["status"] == 404
    part = plain.get("/game/style.css", range="bytes=0-3")
    assert (part["status"], part["text"], part["headers"]["content-range"][:10]) == (
        206,
        "body",
        "bytes 0-3/",
    )
    assert plain.get("/game/style.css", range="bytes=9999-")["status"] == 416


def test_a_script_plays_a_plain_page_through_its_own_modules(static_stand: Stand) -> None:
    played = static_stand.play(
        """
        import { mouse } from "vitexec";
        import { game } from "/game/js/game.js";
        import { rules } from "rules";
        while (!game.text) await new Promise((done) => setTimeout(done, 10));
        await mouse.moveTo(40, 50); await mouse.click();
        console.log(JSON.stringify([game.clicks, rules.loaded, game.text.includes("export const rules"), (globalThis as any).classic]));"""
    )
    assert played.value == [[[40, 50, True]], 2, True, 1]
    assert played.logs == [played.logs[-1]]


def test_the_server_ends_when_its_stdin_does(box: Box) -> None:
    done = box.run("sh", "-c", "node /tmp/driver/server.mjs --control --root /workspace < /dev/null")
    assert done.code == 0
    assert json.loads(done.stdout)["port"] > 0


def test_what_a_configuration_prints_stays_out_of_the_protocol(box: Box) -> None:
    box.put(
        "/workspace/loud.config.mjs",
        'import { defineConfig } from "vite"; console.log("loud"); export default defineConfig({});',
    )
    done = box.run(
        "sh",
        "-c",
        'echo \'{"op":"stop"}\' | node /tmp/driver/server.mjs --control --root /workspace --config loud.config.mjs',
    )
    assert [json.loads(line).get("port", 1) > 0 for line in done.stdout.splitlines()] == [True, True]
    broken = box.run("node", "/tmp/driver/server.mjs", "--control", "--root", "/nowhere")
    assert json.loads(broken.stdout) == {"error": "there is no project folder /nowhere"}


def test_dependencies_are_found_before_the_page_asks_for_them(box: Box) -> None:
    box.put("/tmp/deps/index.html", '<!doctype html><script type="module" src="/main.js"></script>')
    box.put("/tmp/deps/main.js", 'import { tiny } from "tiny"; console.log(tiny);')
    box.put("/tmp/deps/node_modules/tiny/package.json", '{"name":"tiny","version":"1.0.0","main":"index.js"}')
    box.put("/tmp/deps/node_modules/tiny/index.js", "exports.tiny = 7;")
    made = box.run(
        "node",
        "/tmp/driver/server.mjs",
        "--optimize-only",
        "--root",
        "/tmp/deps",
        "--cache-dir",
        "/tmp/deps-cache",
    )
    assert json.loads(made.stdout)["dependencies"] == ["tiny"]
    listed = box.run("ls", "/tmp/deps-cache/deps").stdout.decode().split()
    assert "tiny.js" in listed
    before = box.run("cat", "/tmp/deps-cache/deps/_metadata.json").stdout
    box.run(
        "sh",
        "-c",
        "node /tmp/driver/server.mjs --control --root /tmp/deps --cache-dir /tmp/deps-cache < /dev/null",
    )
    assert box.run("cat", "/tmp/deps-cache/deps/_metadata.json").stdout == before
    ran = box.vitexec('import { tiny } from "tiny"; console.log("script", tiny);', folder="/tmp/deps")
    assert ran.stdout.decode().splitlines() == ["logs:", "[log] 7", "[log] script 7"]
