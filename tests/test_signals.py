"""Claims about how runs end: the exit code that shells expect, also where a library stumbled over the signal."""

from __future__ import annotations

import signal

import pytest

from planner.signals import end, ended_by


def _raised_while(first: BaseException, then: BaseException) -> BaseException:
    """What is left when a second error is raised while the first is looked at."""
    try:
        try:
            raise first
        except BaseException:
            raise then  # noqa: B904, the first error is to be found behind it
    except BaseException as error:
        return error


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SystemExit(143), 143),
        (KeyboardInterrupt(), 130),
        (_raised_while(KeyboardInterrupt(), ValueError("in a library")), 130),
        (_raised_while(SystemExit(129), ValueError("in a library")), 129),
        (_raised_while(ValueError("first"), ValueError("then")), None),
        (None, None),
    ],
)
def test_the_end_that_was_asked_for_is_found_behind_other_errors(error: BaseException | None, code: int | None) -> None:
    ended = ended_by(error)
    assert (None if ended is None else ended.code) == code


def test_a_signal_while_nothing_is_at_work_ends_at_once(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Outside of a command there is nothing to tidy up: one line, and the code of the signal."""
    codes: list[int] = []

    def leave(code: int) -> None:
        codes.append(code)
        raise SystemExit(code)

    monkeypatch.setattr("os._exit", leave)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with pytest.raises(SystemExit):
            end(number, None)
    assert codes == [130, 143, 129]
    words = capfd.readouterr().err.splitlines()
    assert words == [f"plan: {word}; nothing more was written" for word in ("interrupted", "terminated", "terminated")]
