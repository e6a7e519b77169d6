"""Every container gets the same walls, whatever its spec asks for."""

import json
from typing import Any, cast

import pytest

from contracts.errors import WrongInput
from harness.engine import ContainerSpec, Limits
from harness.engine.hardening import container_name, container_request, seccomp_profile, volume_options

LIMITS = Limits(memory_bytes=1 << 30, pids=100, cpus=1.5, file_bytes=5 << 20)
FORBIDDEN = [
    "mount",
    "umount2",
    "pivot_root",
    "setns",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "mount_setattr",
    "bpf",
    "keyctl",
    "add_key",
    "request_key",
    "perf_event_open",
    "userfaultfd",
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "kcmp",
    "pidfd_getfd",
    "open_by_handle_at",
    "quotactl",
    "reboot",
    "swapon",
    "swapoff",
    "syslog",
    "acct",
    "iopl",
    "ioperm",
    "settimeofday",
    "clock_settime",
    "clock_adjtime",
    "adjtimex",
    "sethostname",
    "setdomainname",
    "vhangup",
    "nfsservctl",
    "modify_ldt",
    "fanotify_init",
    "uselib",
]


def spec(**over: Any) -> ContainerSpec:
    asked: dict[str, Any] = {
        "image": "i",
        "role": "agent",
        "run_id": "r1",
        "command": ("a", "b"),
        "limits": LIMITS,
    }
    return ContainerSpec(**{**asked, **over})


def host(**over: Any) -> dict[str, Any]:
    request = container_request(spec(**over), {}, "PROFILE")
    return cast(dict[str, Any], request["HostConfig"])


@pytest.mark.parametrize("role", ["agent", "game", "browser"])
def test_the_walls_are_the_same_for_every_role(role: str) -> None:
    walls = host(role=role)
    assert walls["NetworkMode"] == "none"
    assert walls["ReadonlyRootfs"] is True
    assert walls["Privileged"] is False
    assert walls["CapDrop"] == ["ALL"] and "CapAdd" not in walls
    assert walls["SecurityOpt"] == ["no-new-privileges", "seccomp=PROFILE"]
    assert walls["IpcMode"] == "private"
    assert walls["LogConfig"] == {"Type": "none", "Config": {}}
    assert "Binds" not in walls and "Devices" not in walls and "PidMode" not in walls


def test_limits_are_passed_on_and_swap_is_not_a_way_around_memory() -> None:
    walls = host()
    assert walls["Memory"] == walls["MemorySwap"] == 1 << 30
    assert (walls["PidsLimit"], walls["NanoCpus"]) == (100, 1_500_000_000)
    limits = {one["Name"]: (one["Soft"], one["Hard"]) for one in walls["Ulimits"]}
    assert limits == {"core": (0, 0), "nofile": (16384, 16384), "fsize": (5 << 20, 5 << 20)}


def test_only_the_agents_own_supervisor_is_pid_1() -> None:
    assert [host(role=role)["Init"] for role in ("agent", "game", "browser")] == [False, True, True]


def test_temporary_folders_are_always_there_sized_and_without_suid_or_devices() -> None:
    tmpfs = host(tmpfs={"/cache": 1 << 20, "/tmp": 2 << 20})["Tmpfs"]
    assert tmpfs["/tmp"] == "rw,exec,nosuid,nodev,size=2097152,mode=1777"
    assert tmpfs["/cache"] == "rw,exec,nosuid,nodev,size=1048576,uid=1000,gid=1000,mode=0755"
    assert "size=268435456" in tmpfs["/home/agent"]


def test_the_command_replaces_the_images_own_and_runs_as_our_user() -> None:
    request = container_request(spec(env={"A": "b=c"}), {"l": "v"}, "P")
    assert request["Entrypoint"] == ["a", "b"]
    assert (request["User"], request["Env"], request["Labels"]) == ("1000:1000", ["A=b=c"], {"l": "v"})


def test_stdin_ends_with_its_attach_unless_it_is_to_be_kept() -> None:
    assert container_request(spec(), {}, "P")["StdinOnce"] is True
    assert container_request(spec(keep_stdin=True), {}, "P")["StdinOnce"] is False


def test_a_browser_shares_its_games_network_and_then_has_no_host_name() -> None:
    request = container_request(spec(role="browser", network="container:abc"), {}, "P")
    assert "Hostname" not in request
    assert cast(dict[str, Any], request["HostConfig"])["NetworkMode"] == "container:abc"


def test_runtime_and_gpu_are_asked_for_only_when_wanted() -> None:
    assert "Runtime" not in host() and "DeviceRequests" not in host()
    wanted = host(runtime="runsc", gpus=True)
    assert wanted["Runtime"] == "runsc"
    assert wanted["DeviceRequests"][0]["Capabilities"] == [["gpu"]]


@pytest.mark.parametrize("network", ["host", "bridge", "", "default"])
def test_no_other_network_can_be_asked_for(network: str) -> None:
    with pytest.raises(WrongInput, match="not allowed"):
        spec(network=network)


@pytest.mark.parametrize("run_id", ["", "../x", "a b", "-x", "x" * 200, "a/b", "a\nb"])
def test_a_run_id_that_is_no_plain_name_is_refused(run_id: str) -> None:
    with pytest.raises(WrongInput, match="Run id"):
        spec(run_id=run_id)


def test_names_and_volumes_are_plain_and_exact() -> None:
    assert container_name(spec(), "beef") == "playproof-r1-agent-beef"
    assert volume_options(1 << 20)["o"].startswith(
        "size=1048576,nr_inodes=65536,uid=1000,gid=1000,mode=0755,"
    )


def test_the_profile_allows_by_list_and_the_list_has_nothing_dangerous() -> None:
    profile = json.loads(seccomp_profile())
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    allowed = [rule for rule in profile["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW"]
    names = {name for rule in allowed for name in rule["names"]}
    assert names.isdisjoint(FORBIDDEN)
    assert not any("includes" in rule or "excludes" in rule for rule in profile["syscalls"])
    conditional = {name for rule in allowed if "args" in rule for name in rule["names"]}
    free = {name for rule in allowed if "args" not in rule for name in rule["names"]}
    assert conditional == {"clone", "unshare", "socket", "personality"}
    assert conditional.isdisjoint(free)


def test_clone3_is_said_to_be_absent_so_that_callers_fall_back() -> None:
    profile = json.loads(seccomp_profile())
    rules = [rule for rule in profile["syscalls"] if "clone3" in rule["names"]]
    assert [(rule["action"], rule["errnoRet"]) for rule in rules] == [("SCMP_ACT_ERRNO", 38)]
