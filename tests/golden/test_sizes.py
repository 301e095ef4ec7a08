"""The sizes of the worked numbers, from Python and as `pozor size` prints them."""

import numpy as np
import pytest

from pozor.cli import main
from pozor.costs import footprint, gb, gib


def test_1024_tokens_of_32_heads():
    cost = footprint(1024, num_heads=32)
    assert cost.scores == 33_554_432  # 32 · 1024 · 1024 = 2^25
    assert cost.scores_bytes == 64 * 2**20  # 2^25 · 2 bytes = 2^26
    assert gib(cost.scores_bytes) == 0.0625  # 2^26 / 2^30 = 1/16
    assert round(gb(cost.scores_bytes), 4) == 0.0671  # 67,108,864 / 10^9
    assert footprint(1024, num_heads=32, d_model=512).scores == cost.scores  # d_model does not enter


def test_8192_tokens_of_32_heads():
    cost = footprint(8192, num_heads=32)
    assert cost.scores == 2_147_483_648  # 2^5 · 2^13 · 2^13 = 2^31
    assert gib(cost.scores_bytes) == 4  # 2^32 bytes; 8 times the tokens, 64 times the bytes


def test_w_o_is_a_quarter_of_the_parameters():
    cost = footprint(1, num_heads=32, d_model=4096)
    assert cost.head_dim == 128  # 4096 / 32
    assert cost.parameters == 4 * 4096 * 4096
    assert cost.w_o_share == 0.25
    # with 8 kv heads W_K and W_V shrink to 4096 × 1024, so W_O is 1 of 2.5 such matrices
    assert footprint(1, num_heads=32, num_kv_heads=8, d_model=4096).w_o_share == 0.4


def test_shapes_of_a_layer():
    """x (B, T, d_model) → q (B, heads, T, head_dim) → scores (B, heads, T, T): the counts multiply out."""
    cost = footprint(10, num_heads=4, d_model=32, batch=3)
    assert cost.scores == np.prod((3, 4, 10, 10))
    assert cost.kv_cache == 2 * np.prod((3, 10, 32))


def printed(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main(["size", *arguments])
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def test_the_command_prints_them(capsys):
    code, out, _ = printed(capsys, "--tokens", "1024", "--heads", "32", "--lang", "en")
    assert code == 0
    line = next(line for line in out.splitlines() if line.startswith("scores matrix, one layer"))
    assert line.split()[-5:] == ["33,554,432", "64", "MiB", "0.0625", "0.0671"]
    code, out, _ = printed(capsys, "--tokens", "8192", "--heads", "32", "--d-model", "4096", "--lang", "en")
    line = next(line for line in out.splitlines() if line.startswith("scores matrix, one layer"))
    assert line.split()[-5:] == ["2,147,483,648", "4", "GiB", "4", "4.29"]
    assert "67,108,864, of which W_O is 25 %." in out


def test_in_czech_with_a_comma_and_spaces(capsys):
    code, out, _ = printed(capsys, "--tokens", "1024", "--heads", "32", "--lang", "cs")
    assert code == 0
    line = next(line for line in out.splitlines() if line.startswith("matice skóre, jedna vrstva"))
    assert "33\u00a0554\u00a0432" in line
    assert line.split()[-4:] == ["64", "MiB", "0,0625", "0,0671"]
    assert "rozhoduje jednotka" in out


def test_operations_are_spoken_of_where_they_are_counted(capsys):
    _, out, _ = printed(capsys, "--tokens", "8", "--heads", "2", "--causal", "--lang", "en")
    assert "Operations are counted" not in out
    _, out, _ = printed(
        capsys, "--tokens", "8", "--heads", "2", "--causal", "--head-dim", "4", "--lang", "en"
    )
    assert "Operations are counted for the pairs that the causal mask allows: 36 a head." in out


def test_a_pipe_gets_plain_text(capsys):
    _, out, _ = printed(capsys, "--tokens", "8192", "--heads", "32", "--d-model", "4096", "--layers", "32")
    assert "\x1b" not in out
    assert "…" not in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--heads", "32"], "Missing option '--tokens'"),
        (
            ["--tokens", "8", "--heads", "6", "--kv-heads", "4"],
            "--heads must be a multiple of --kv-heads; got 6 and 4.",
        ),
        (["--tokens", "8", "--heads", "6", "--lang", "de"], "--lang must be cs or en; got 'de'."),
        (["--tokens", "8", "--heads", "6", "--dtype", "int4"], "got 'int4'"),
    ],
)
def test_wrong_input_is_one_sentence_and_2(capsys, arguments, words):
    code, out, err = printed(capsys, *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert len(err.splitlines()) == 1


def test_help_has_an_example(capsys):
    code, out, _ = printed(capsys, "-h")
    assert code == 0
    assert "pozor size --tokens 1024 --heads 32" in out
