from harness.replay.driver.pacing import describe


def test_even_frames_have_one_pace() -> None:
    assert describe([20.0] * 100) == {
        "mean_fps": 50.0,
        "p5_fps": 50.0,
        "longest_gap_ms": 20.0,
        "over_50_ms": 0,
    }


def test_the_slowest_twentieth_and_the_slow_frames_are_told_apart_from_the_mean() -> None:
    told = describe([10.0] * 90 + [100.0] * 10)
    assert told == {"mean_fps": 52.63, "p5_fps": 10.0, "longest_gap_ms": 100.0, "over_50_ms": 10}


def test_a_frame_of_just_50_ms_is_not_over_50_ms() -> None:
    assert describe([50.0, 50.1])["over_50_ms"] == 1


def test_a_page_without_frames_has_no_pace() -> None:
    assert describe([]) == {"mean_fps": None, "p5_fps": None, "longest_gap_ms": None, "over_50_ms": 0}
