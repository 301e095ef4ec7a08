"""A skipped test proves nothing: every skip is printed, and one without a listed reason fails the run."""

import signal
from pathlib import Path

import pytest

# a run started in the background of a shell ignores Ctrl-C, and so would the programs that tests interrupt
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

LIST = Path(__file__).parent / "tests" / "allowed_skips.txt"
_skipped: dict[str, str] = {}


def allowed() -> dict[str, str]:
    """Node id -> reason, as `tests/allowed_skips.txt` lists them (`node id | reason` on each line)."""
    lines = (line.strip() for line in LIST.read_text(encoding="utf-8").splitlines())
    pairs = (line.split("|", 1) for line in lines if line and not line.startswith("#"))
    return {node.strip(): reason.strip() for node, reason in pairs}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        _skipped[report.nodeid] = f"xfail: {report.wasxfail}" if hasattr(report, "wasxfail") else reason


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.skipped:
        _skipped[report.nodeid] = str(report.longrepr)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    unlisted = set(_skipped) - set(allowed())
    if unlisted and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not _skipped:
        return
    reasons = allowed()
    terminalreporter.section("skipped")
    for node, reason in sorted(_skipped.items()):
        verdict = f"allowed: {reasons[node]}" if node in reasons else "NOT LISTED in tests/allowed_skips.txt"
        terminalreporter.write_line(f"{node} ({reason}) -- {verdict}")
