"""The benchmark checks, counts and reports rightly; how fast anything is, no test says."""

import json
import time
from dataclasses import replace
from statistics import median

import numpy as np
import pytest

import pozor
from pozor.bench import bars, ceilings, checked, clock, report, run
from pozor.bench.cases import GROUPS, Case, as_dtype, cases, chosen
from pozor.bench.measurement import Measurement, circumstances, read
from pozor.bench.models import OURS, THEIRS
from pozor.bench.peers import Absent, Call, Peer, all_peers, ours
from pozor.errors import OptionError

PLAIN = Case("prefill", "float32", 2, 2, 24, 24, 8)


# ---- cases -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "pairs"),
    [
        ({}, 24 * 24),
        ({"causal": True}, 24 * 25 // 2),
        ({"causal": True, "window": (3, 0)}, 1 + 2 + 3 + 21 * 4),
        ({"q_len": 1, "causal": True}, 24),
        ({"window": (2, 1)}, (2 + 3) + 21 * 4 + 3),
    ],
)
def test_the_visible_cells_are_counted(changes, pairs):
    case = replace(PLAIN, **changes)
    assert case.pairs == pairs == case.visible(np.arange(case.q_len)).sum()
    assert case.flop == 4 * 8 * pairs * 2


def test_decoding_reads_keys_and_values_once():
    case = Case("decode", "bfloat16", 32, 8, 1, 8192, 128)
    assert case.kv_bytes == 2 * 8 * 8192 * 128 * 2  # 33.6 MB


@pytest.mark.parametrize("quick", [False, True])
def test_every_case_has_its_own_name_and_its_group_is_known(quick):
    names = [case.name for case in cases(quick)]
    assert len(set(names)) == len(names)
    assert {case.group for case in cases(quick)} == set(GROUPS) - {"model"}


def test_every_cell_of_the_prefill_grid_is_there():
    grid = {(c.dtype, c.kv_len, c.head_dim, c.causal) for c in cases() if c.group == "prefill"}
    assert len(grid) == 3 * 2 * 2 * 2


def test_cases_are_chosen_by_words():
    assert {case.group for case in chosen(["decode", "small"], False)} == {"decode", "small"}
    assert chosen(["model"], False) == []
    with pytest.raises(OptionError, match=r"--cases must name a group \(prefill, .*\) or a case; got 'x'\."):
        chosen(["x"], False)


# ---- the proof before the clock --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("changes", [{}, {"causal": True}, {"causal": True, "window": (3, 0)}])
def test_a_right_result_passes_and_wrong_ones_do_not(dtype, changes):
    case = replace(PLAIN, dtype=dtype, **changes)
    q, k, v = case.arrays()
    assert q.dtype == as_dtype(dtype)
    want = checked.expected(case, q, k, v)
    out = pozor.attention(q, k, v, causal=case.causal, window=case.window)
    assert checked.is_right(case, checked.error(case, out, want))
    wrong = out.copy()
    wrong[0, 0, 0] += np.abs(out).max() / 10  # the first row is always compared
    assert not checked.is_right(case, checked.error(case, wrong, want))
    hole = out.copy()
    hole[0, 1, -1, 0] = np.nan
    for odd in (hole, out[:, :1], np.roll(out, 1, axis=1)):
        assert not checked.is_right(case, checked.error(case, odd, want))


# ---- the clock -------------------------------------------------------------------------------------------


def test_calls_are_interleaved_and_each_begins_a_round():
    order = []
    calls = {
        "a": lambda: order.append("a") or time.sleep(3e-3),
        "b": lambda: order.append("b") or time.sleep(3e-3),
    }
    times = clock.interleaved(calls, 4, budget=10)
    assert {name: len(seconds) for name, seconds in times.items()} == {"a": 4, "b": 4}
    assert order[-8:] == ["a", "b", "b", "a", "a", "b", "b", "a"]
    assert all(x >= 3e-3 for seconds in times.values() for x in seconds)


def test_the_budget_ends_the_rounds_but_not_before_three():
    times = clock.interleaved({"a": lambda: time.sleep(3e-3)}, 50, budget=0)
    assert len(times["a"]) == 3


def test_a_short_call_is_repeated_within_a_sample():
    count = []
    clock.interleaved({"a": lambda: count.append(1)}, 3, budget=1)
    assert len(count) > 300  # 2 ms of a call that takes less than 5 µs


def test_ratio_is_that_of_each_round():
    assert clock.ratio([2.0, 20.0, 6.0], [1.0, 10.0, 2.0]) == 2.0
    assert clock.spread([1.0, 2.0, 3.0]) == 0.5


def test_peak_memory_counts_what_was_touched_and_the_result():
    peak, given = clock.peak_bytes(lambda: np.ones(1 << 23)[: 1 << 20].copy())
    assert given == 8 << 20
    if peak is not None:  # 64 MiB of ones, 8 MiB of result
        assert 64 << 20 <= peak <= 90 << 20


def test_the_bytes_of_a_result_are_those_of_all_its_arrays():
    q = np.ones((2, 3, 4), np.float32)
    seen = pozor.observe(q, q, q, want=pozor.Want(pooled=16, top_k=2))
    bytes_of = [
        seen.out,
        seen.lse,
        seen.top_probs,
        seen.top_keys,
        seen.pooled.max,
        seen.pooled.mean,
        seen.pooled.share,
    ]
    assert clock.result_bytes(seen) == sum(x.nbytes for x in bytes_of)


# ---- a run -----------------------------------------------------------------------------------------------


def honest(case, qkv, threads):
    return Call(lambda: pozor.attention(*qkv), lambda out: out, "here")


def wrong(case, qkv, threads):
    return Call(lambda: pozor.attention(*qkv) * 1.1, lambda out: out)


def missing(case, qkv, threads):
    raise Absent("it is not installed")


def test_only_what_is_right_is_timed():
    peers = [Peer("pozor", honest), Peer("liar", wrong), Peer("nobody", missing)]
    found = {m.peer: m for m in run.one_case(PLAIN, peers, 1, run.Options(repeats=3))}
    assert found["nobody"].absent == "it is not installed"
    assert found["nobody"].seconds == found["liar"].seconds == []
    assert found["liar"].absent.startswith("wrong: off by")
    assert found["pozor"].repeats == len(found["pozor"].seconds) == 3
    assert found["pozor"].median == median(found["pozor"].seconds)
    assert found["pozor"].path == "here"
    assert found["pozor"].error < 2e-5
    assert found["pozor"].result_bytes == PLAIN.in_and_out_bytes // 4


@pytest.mark.parametrize("case", cases(quick=True), ids=lambda case: case.name)
def test_every_peer_is_right_or_says_why_not(case):
    lengths = {"q_len": min(case.q_len, 64), "kv_len": min(case.kv_len, 64)}
    small = replace(case, **lengths, window=case.window and (15, 0))
    absent = {}
    for peer in all_peers():
        if (peer.groups and small.group not in peer.groups) or "flex" in peer.name:
            continue
        qkv = small.arrays()
        try:
            call = peer.prepare(small, qkv, 1)
        except Absent as reason:
            absent[peer.name] = str(reason)
            continue
        found = checked.error(small, call.read(call.run()), checked.expected(small, *qkv))
        assert checked.is_right(small, found), f"{peer.name}: {found}"
    assert all(absent.values())
    assert "pozor" not in absent


def test_lines_hold_everything_that_a_claim_needs(tmp_path):
    options = run.Options(cases=("small",), peers=("torch",), quick=True, repeats=3, budget=0.1)
    found = list(run.measure(options))
    path = tmp_path / "lines.jsonl"
    path.write_text("".join(m.line() + "\n" for m in found), encoding="utf-8")
    assert read(path) == [Measurement(**json.loads(m.line())) for m in found]
    timed = [m for m in found if m.group == "small" and m.peer == "pozor"]
    assert len(timed) == 2
    for m in timed:
        assert m.commit
        assert m.machine["cpu"]
        assert m.versions["pozor"] == pozor.__version__
        assert (m.warm_up, m.repeats, m.run, m.threads) == (1, 3, 0, 1)
        assert m.peak_bytes is None or m.peak_bytes >= 0
    assert {m.name for m in found if m.group == "ceiling"} == {f"ceiling {name}" for name in ceilings.NAMES}


def test_a_line_that_is_none_is_said(tmp_path):
    path = tmp_path / "lines.jsonl"
    path.write_text('{"name": 1}\n', encoding="utf-8")
    with pytest.raises(OptionError, match="must hold one measurement of pozor bench a line; line 1 is none"):
        read(path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"runs": 0}, "--runs must be 1 or more; got 0."),
        ({"repeats": 0}, "--repeats must be 1 or more; got 0."),
        ({"threads": (2, 0)}, "--threads must be 1 or more; got 0."),
    ],
)
def test_numbers_below_one_are_refused(options, words):
    with pytest.raises(OptionError, match=words):
        run.Options(**options)


def test_a_whole_name_picks_one_peer_and_a_part_of_it_all_that_have_it():
    assert [peer.name for peer in run._picked(("torch",))] == ["pozor", "torch"]
    assert {"onnxruntime MHA", "onnxruntime GQA"} < {peer.name for peer in run._picked(("ONNX",))}


def test_an_unknown_peer_is_refused():
    with pytest.raises(OptionError, match=r"--peers must name one of pozor, .*OpenVINO; got 'nobody'\."):
        list(run.measure(run.Options(peers=("nobody",))))


# ---- bars and report -------------------------------------------------------------------------------------


def timed(case, peer, *seconds, run=0, **more):
    return Measurement(
        case.name,
        case.group,
        peer,
        1,
        run,
        case.as_json(),
        seconds=list(seconds),
        median=median(seconds),
        **more,
    )


def bar(title):
    (found,) = [b for b in bars.all_bars() if b.title == title]
    return found


def test_a_bar_takes_the_worst_cell_of_each_run_and_the_median_of_the_runs():
    short, long = (replace(PLAIN, q_len=n, kv_len=n) for n in (1024, 4096))
    found = [timed(PLAIN, "pozor", 1.0), timed(PLAIN, "torch", 0.1)]  # too short to count
    for number, torchs in enumerate((1.2, 1.1, 1.5)):
        found += [timed(short, "pozor", 1.0, run=number), timed(short, "torch", torchs, run=number)]
        found += [timed(long, "pozor", 1.0, run=number), timed(long, "torch", 3.0, run=number)]
    judged = bar("float32 prefill against torch, every cell").judged(bars.runs_of(found, 1))
    assert (judged.runs, judged.value, judged.met) == ([1.2, 1.1, 1.5], 1.2, True)
    mean = bar("float32 prefill against torch, geometric mean").judged(bars.runs_of(found[:6], 1))
    assert mean.value == pytest.approx((1.2 * 3) ** 0.5)
    assert bar("float16 prefill against torch, every cell").judged(bars.runs_of(found, 1)).met is None


def test_a_bar_of_at_most():
    case = Case("observe", "float32", 8, 8, 4096, 4096, 64)
    found = [timed(case, "pozor", 1.0), timed(case, "pozor observe", 1.25)]
    judged = bar("observe over the plain call, float32 full").judged([found])
    assert judged.value == pytest.approx(1.25)
    assert judged.met is False


def test_a_part_of_the_ceiling():
    case = Case("decode", "bfloat16", 32, 8, 1, 8192, 128)
    top = Measurement("ceiling read_bandwidth", "ceiling", "ceiling", 1, value=2e10)
    judged = bar("bfloat16 decode 32/8: of the read bandwidth").judged([[top, timed(case, "pozor", 2e-3)]])
    assert judged.value == pytest.approx(case.kv_bytes / 2e-3 / 2e10)


def test_memory_is_what_is_beside_the_outputs():
    case = Case("memory", "float32", 1, 1, 131072, 131072, 64, observe="received")
    found = [timed(case, "pozor", 1.0, peak_bytes=90_000_000, result_bytes=30_000_000)]
    judged = bar("memory at T = 131072 with every observable").judged([found])
    assert (judged.value, judged.met) == (60.0, True)


def test_the_report_is_made_of_the_lines_alone(tmp_path):
    pytest.importorskip("matplotlib")
    around = {
        "commit": "abc",
        "machine": {"cpu": "a machine", "cores": 2, "load": 1.5},
        "versions": {"pozor": "1"},
    }
    short = replace(PLAIN, q_len=1024, kv_len=1024)
    small = [timed(short, "pozor", 1e-3, **around), timed(short, "torch", 2.5e-3, **around)]
    gone = Measurement(
        PLAIN.name, "prefill", "nobody", 1, case=PLAIN.as_json(), absent="not installed", **around
    )
    length = [
        timed(
            replace(PLAIN, group="length", q_len=n, kv_len=n), peer, n * 1e-6, peak_bytes=n * 1000, **around
        )
        for n in (64, 128)
        for peer in ("pozor", "torch")
    ]
    model = [
        Measurement("model decode float32 T 512", "model", peer, 1, case={"length": 512, "group": "model"},
                    seconds=[1.0], median=1.0, value=64.0, unit="tokens/s", path="10% in attention")
        for peer in (OURS, THEIRS)
    ]  # fmt: skip
    made = report.write([*small, gone, *length, *model], tmp_path)
    assert [path.name for path in made] == ["benchmarks.md", "benchmarks.svg"]
    text = made[0].read_text(encoding="utf-8")
    assert "a machine, 2 cores" in text
    assert "**Other programs took 1.5 of 2 cores as this run began" in text
    assert "| float32 heads 2 d 8 T 1024 full | 1 | 2.5 | torch 2.5 × |" in text
    assert "- absent: nobody: not installed (1 case(s))" in text
    assert "| float32 prefill against torch, every cell | ≥ 1.15 × | 2.5 | yes |" in text
    assert "64.0 (10% in attention)" in text
    picture = made[1].read_bytes()
    report.write([*small, gone, *length, *model], tmp_path)
    assert made[1].read_bytes() == picture


def test_no_measurement_no_report(tmp_path):
    with pytest.raises(OptionError, match="a report needs measurements; got none"):
        report.write([], tmp_path)


def test_the_circumstances_name_no_folder():
    assert "/" not in json.dumps(circumstances()["commit"])


@pytest.mark.parametrize("isa", ours.isas())
def test_a_forced_instruction_set_is_named_as_the_one_that_ran(isa):
    case = Case("prefill", "float32", 2, 2, 40, 40, 8)
    qkv = tuple(np.ones((1, 2, 40, 8), np.float32) for _ in range(3))
    assert ours._call_of("native", isa)(case, qkv, 1).path == f"native {isa} rows"
