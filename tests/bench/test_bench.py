"""The benchmark checks, counts and reports rightly; how fast anything is, no test says."""

import json
import time
from dataclasses import replace
from statistics import median

import numpy as np
import pytest

import pozor
from pozor.bench import bars, ceilings, checked, clock, models, report, run, words
from pozor.bench.cases import GROUPS, Case, as_dtype, cases, chosen
from pozor.bench.measurement import Measurement, circumstances, read
from pozor.bench.models import OURS, THEIRS
from pozor.bench.peers import Absent, Call, Peer, all_peers, ours
from pozor.bench.threads import same_threads
from pozor.cli import main
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
    with pytest.raises(
        OptionError, match=r"--cases must name a group \(prefill, .*\) or words .*; got 'x'\."
    ):
        chosen(["x"], False)


def test_a_group_is_that_group_alone_and_further_words_pick_its_cases():
    assert {case.group for case in chosen(["observe"], False)} == {"observe"}  # memory observes too
    found = chosen(["prefill float32 1024"], False)
    assert {(c.group, c.dtype, c.kv_len) for c in found} == {("prefill", "float32", 1024)}
    assert len(found) == 4
    assert {case.group for case in chosen(["T 4096", "causal"], False)} >= {"prefill", "length", "observe"}


def test_parts_of_the_model_are_picked_by_words_and_only_where_it_is_named():
    assert [p.name for p in models.wanted(["model prefill bfloat16 T 2048"])] == [
        "model prefill bfloat16 T 2048"
    ]
    assert len(models.wanted(["model float32"])) == 6
    assert models.wanted(["prefill", "float32"]) == []
    assert models.wanted([]) == models.PARTS


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
    times = clock.interleaved(calls, 4, budget=10, took={"a": 0.03, "b": 0.03})
    assert {name: len(seconds) for name, seconds in times.items()} == {"a": 4, "b": 4}
    assert order == ["a", "b", "b", "a", "a", "b", "b", "a"]
    assert all(x >= 3e-3 for seconds in times.values() for x in seconds)


def test_the_budget_ends_the_rounds_but_not_before_five():
    times = clock.interleaved({"a": lambda: time.sleep(3e-3)}, 50, budget=0)
    assert len(times["a"]) == 5


def test_a_long_call_stops_after_its_rounds_while_shorter_ones_go_on():
    order = []
    calls = {name: (lambda name=name: order.append(name) or time.sleep(3e-3)) for name in "ab"}
    times = clock.interleaved(calls, 7, budget=60, took={"a": 0.03, "b": 1.0})
    assert {name: len(seconds) for name, seconds in times.items()} == {"a": 7, "b": 3}
    assert order == ["a", "b", "b", "a", "a", "b", "a", "a", "a", "a"]  # nothing was made to warm up
    assert [clock.least_rounds(took) for took in (0.01, 0.2, 4, 30)] == [5, 3, 3, 2]


def test_a_short_call_is_repeated_within_a_sample():
    count = []
    clock.interleaved({"a": lambda: count.append(1)}, 3, budget=1)
    assert len(count) > 300  # 2 ms of a call that takes less than 5 µs


def test_ratio_is_that_of_each_round():
    assert clock.ratio([2.0, 20.0, 6.0], [1.0, 10.0, 2.0]) == 2.0
    assert clock.spread([1.0, 2.0, 3.0]) == 0.5


def test_peak_memory_counts_what_was_touched_and_the_result():
    peak, given, seconds = clock.peak_bytes(lambda: np.ones(1 << 23)[: 1 << 20].copy())
    assert 0 < seconds < 10
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
        assert (m.repeats, m.run, m.threads) == (3, 0, 1)
        assert m.warm_up == (1 if m.peak_bytes is None else 2)
        assert m.waited is None or m.waited >= 0
        assert m.peak_bytes is None or m.peak_bytes >= 0
    again = list(run.measure(options, [*found, replace(timed[0], run=3)]))
    assert {m.run for m in again if m.name == timed[0].name} == {4}
    assert {m.run for m in again if m.name == timed[1].name} == {1}


def test_the_ceilings_are_those_that_the_cases_are_compared_with(monkeypatch):
    monkeypatch.setattr(run, "one_case", lambda *_: iter(()))
    names = {
        group: {m.name.split()[1] for m in run.measure(run.Options(cases=(group,), quick=True))}
        for group in ("prefill", "decode", "small")
    }
    assert names == {"prefill": {"fma_peak", "bf16_peak"}, "decode": {"read_bandwidth"}, "small": set()}
    assert names["prefill"] | names["decode"] == set(ceilings.NAMES)


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


def test_without_words_those_are_asked_that_a_bar_is_about():
    names = {peer.name for peer in run._picked(())}
    assert {"pozor", "torch", "torch eager", "pozor.torch sdpa", "OpenVINO"} <= names
    assert "pozor blocked" not in names
    assert len(run._picked(("all",))) == len(all_peers())


def test_an_unknown_peer_is_refused():
    with pytest.raises(
        OptionError, match=r"--peers must name one of pozor, .*OpenVINO, or all; got 'nobody'\."
    ):
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
        "waited": 0.25,
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
    assert "- Threads waited for a core 25.0 % of the time of a case (median)" in text
    assert "| float32 heads 2 d 8 T 1024 full | 1 | 2.5 | torch 2.5 × |" in text
    assert "- absent: nobody: not installed (1 case(s))" in text
    assert "| float32 prefill against torch, every cell | ≥ 1.15 × | 2.5 | yes |" in text
    assert "64.0 (10% in attention)" in text
    picture = made[1].read_bytes()
    report.write([*small, gone, *length, *model], tmp_path)
    assert made[1].read_bytes() == picture


def test_notes_written_by_hand_are_kept_and_stand_in_the_page(tmp_path):
    notes = tmp_path / report.NOTES
    notes.write_text("By hand.\n", encoding="utf-8")
    found = [timed(PLAIN, "pozor", 1e-3)]
    for _ in range(2):
        report.write(found, tmp_path)
        assert notes.read_text(encoding="utf-8") == "By hand.\n"
        text = (tmp_path / report.PAGE).read_text(encoding="utf-8")
        assert text.count("## Notes\n\nBy hand.\n\n## What must hold") == 1


def test_tables_give_the_medians_over_the_runs_and_bars_every_run():
    case = replace(PLAIN, q_len=1024, kv_len=1024)
    found = [timed(case, "pozor", ours * 1e-3, run=n) for n, ours in enumerate((1, 2, 6))]
    found += [timed(case, "torch", theirs * 1e-3, run=n) for n, theirs in enumerate((3, 4, 9))]
    text = report.page(found, with_picture=False)
    assert "| float32 heads 2 d 8 T 1024 full | 2 | 4 | torch 2 × |" in text
    assert "| float32 prefill against torch, every cell | ≥ 1.15 × | 2 (3, 2, 1.5) | yes |" in text
    two = report.page([m for m in found if m.run < 2], with_picture=False)
    assert "| float32 heads 2 d 8 T 1024 full | 1.5 | 3.5 | torch 2.5 × |" in two
    assert "2.5 (3, 2)" in two


def test_a_small_call_is_judged_on_arrays_and_on_tensors():
    case = Case("small", "float32", 8, 8, 16, 16, 64)
    found = [timed(case, "pozor", 6.0), timed(case, "pozor.torch sdpa", 2.8), timed(case, "torch", 2.0)]
    judged = {b.title: b.judged([found]) for b in bars.all_bars() if b.title.startswith("small")}
    assert [(round(j.value, 6), j.met) for j in judged.values()] == [(3.0, False), (1.4, True)]
    assert ["NumPy" in title for title in judged] == [True, False]


# ---- what a reader sees ----------------------------------------------------------------------------------


def test_every_bar_has_a_czech_title():
    for b in bars.all_bars():
        czech = words.said(b.title, "cs")
        assert words.said(b.title, "en") == b.title != czech
        assert "\\" not in czech
    assert set(words.WORDS["cs"]) == set(words.WORDS["en"])


@pytest.mark.parametrize("case", cases(quick=True), ids=lambda case: case.name)
def test_every_absence_has_a_czech_reason(case):
    reasons = []
    for dtype in ("float32", "bfloat16"):
        small = replace(case, dtype=dtype, q_len=min(case.q_len, 8), kv_len=8, window=case.window and (3, 0))
        for peer in all_peers():
            if "flex" in peer.name:
                continue
            try:
                peer.prepare(small, small.arrays(), 1)
            except Absent as reason:
                reasons.append(str(reason))
    assert [text for text in reasons if words.said(text, "cs") == text] == []


def test_a_ceiling_is_written_in_its_unit():
    assert words.ceiling(27.8e9, "bytes/s") == "27.8 GB/s"
    assert words.ceiling(356.4e9, "FLOP/s", "cs") == "356 GFLOP/s"
    assert words.ceiling(8.5e9, "bytes/s", "cs") == "8,5 GB/s"


def pretended(monkeypatch, found):
    monkeypatch.setattr(run, "measure", lambda options, earlier=(): iter(found))


def shown(capsys, *argv):
    with pytest.raises(SystemExit) as stop:
        main(["bench", *argv])
    assert stop.value.code == 0
    return capsys.readouterr().out


SMALL = Case("small", "float32", 8, 8, 16, 16, 64)
SAID = [
    timed(SMALL, "pozor", 2e-5),
    timed(SMALL, "pozor.torch sdpa", 4e-5),
    timed(SMALL, "torch", 1e-5),
    timed(replace(SMALL, causal=True), "pozor", 1e-5),
    timed(replace(SMALL, causal=True), "torch", 1.8e-5),
    *(
        Measurement(case.name, "small", peer, 1, case=case.as_json(), absent="onnx is not installed")
        for case in (SMALL, replace(SMALL, causal=True))
        for peer in ("onnxruntime MHA", "onnxruntime GQA")
    ),
]


def test_a_reader_is_told_how_much_faster_and_what_was_written_where(monkeypatch, capsys, tmp_path):
    pretended(monkeypatch, SAID)
    path = tmp_path / "lines.jsonl"
    text = shown(capsys, "--cases", "small", "--lang", "en", "--threads", "1", "--json", str(path))
    assert "torch: 0.01 ms (spread 0 %), pozor is 2 × slower" in text
    assert "torch: 0.018 ms (spread 0 %), pozor is 1.8 × faster" in text
    assert "pozor.torch sdpa: 0.04 ms (spread 0 %), 2 × the time of pozor alone" in text
    assert text.count("not installed") == 1
    assert "  onnxruntime MHA, onnxruntime GQA: onnx is not installed; cases: 2\n" in text
    assert "on NumPy arrays over torch's own: 2 (must be ≤ 1.5 ×): DOES NOT HOLD" in text
    assert "prefill against torch" not in text  # it was not measured
    assert text.endswith(
        f"Bars: 0 hold, 2 do not, {len(bars.all_bars()) - 2} not measured.\n"
        f"Measurements: {len(SAID)} lines added to {path}, runs 1 to 1.\n"
    )
    assert read(path) == SAID


def test_the_same_in_czech_and_nothing_kept(monkeypatch, capsys):
    pretended(monkeypatch, SAID)
    text = shown(capsys, "--cases", "small", "--lang", "cs", "--threads", "1")
    assert "torch: 0,018 ms (rozptyl 0\u00a0%), pozor je 1,8× rychlejší" in text
    assert "  onnxruntime MHA, onnxruntime GQA: onnx není nainstalováno; případů: 2\n" in text
    assert "malé volání (1, 8, 16, 64) s poli NumPy ku volání torch: 2 (má být ≤ 1,5 ×): NEPLATÍ" in text
    assert "Měření nejsou nikde uložena; uloží je --json SOUBOR.\n" in text
    assert not {"faster", "holds", "absent", "not"} & set(text.split())


@pytest.mark.parametrize(
    ("given", "threads", "counts", "words_"),
    [
        ("1", (), (1,), "Threads: 1, as OMP_NUM_THREADS says"),
        ("1", ("--threads", "2"), (2,), "OMP_NUM_THREADS=1 is set aside: everybody has 2 threads"),
        ("2", ("--threads", "2"), (2,), ""),
    ],
)
def test_the_number_of_threads_that_openmp_is_told_is_obeyed_or_said(
    monkeypatch, capsys, given, threads, counts, words_
):
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    asked = []
    monkeypatch.setattr(run, "measure", lambda options, earlier=(): asked.append(options) or iter(SAID))
    text = shown(capsys, "--cases", "small", "--lang", "en", *threads)
    assert asked[0].threads == counts
    assert words_ in text
    assert words_ or "OMP" not in text


def test_torch_is_told_its_threads():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    with same_threads(before + 1):
        assert torch.get_num_threads() == before + 1
    assert torch.get_num_threads() == before


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
