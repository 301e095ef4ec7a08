"""Why the lessons' process ended, as sentences in both languages."""

import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

SENTENCES = {
    "en": {
        "killed": "The lessons were ended from outside ({signal}).",
        "memory": "The lessons needed too much memory and were ended.",
        "hung": "The lessons did not answer for {seconds} s and were ended.",
        "slow": "The lessons did not start within {seconds} s and were ended.",
        "failed": "The lessons ended by themselves (exit code {code}).",
        "missing": "Lessons need marimo, which is not in this install; run pip install 'pozor[lessons]'.",
        "behind": "Lessons have a port of their own, and --base-url names no proxy that could show it; "
        "run pozor learn.",
        "interrupted": "A cell of the lesson {lesson} ran too long and was interrupted.",
        "again": "Open them again; what is done stays in the browser.",
    },
    "cs": {
        "killed": "Lekce ukončilo něco zvenčí ({signal}).",
        "memory": "Lekce potřebovaly příliš mnoho paměti, a tak skončily.",
        "hung": "Lekce {seconds} s neodpovídaly, a tak jsme je ukončili.",
        "slow": "Lekce se do {seconds} s nerozběhly, a tak jsme je ukončili.",
        "failed": "Lekce samy skončily (návratový kód {code}).",
        "missing": "Lekce potřebují marimo a to tu není; spusťte pip install 'pozor[lessons]'.",
        "behind": "Lekce mají vlastní port a --base-url nepojmenovává proxy, která by ho ukázala; "
        "spusťte pozor learn.",
        "interrupted": "Buňka v lekci {lesson} běžela příliš dlouho, a tak jsme ji přerušili.",
        "again": "Otevřete je znovu; co je hotové, zůstalo v prohlížeči.",
    },
}
FOR_GOOD = {"missing", "behind", "interrupted"}  # opening them again would not help, or is not needed


@dataclass(frozen=True)
class Reason:
    """A key of SENTENCES and what belongs into its sentence; or the process's own sentence, in English."""

    key: str
    values: tuple[tuple[str, str], ...] = ()
    own: str | None = None

    def sentence(self, lang: str) -> str:
        """For a reader."""
        if self.own is not None:
            return self.own
        text = SENTENCES[lang][self.key].format(**dict(self.values))
        return text if self.key in FOR_GOOD else f"{text} {SENTENCES[lang]['again']}"


def why(code: int, out_of_memory: bool) -> Reason:
    """What an exit code says."""
    if code >= 0:
        return Reason("failed", (("code", str(code)),))
    name = next((known.name for known in signal.Signals if known == -code), f"signal {-code}")
    if out_of_memory and name == "SIGKILL":
        return Reason("memory")
    return Reason("killed", (("signal", name),))


def kills_for_memory() -> int:
    """How many processes Linux has ended because memory ran out; 0 where nothing says so."""
    with suppress(OSError, ValueError):
        for line in Path("/proc/vmstat").read_text(encoding="ascii").splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0
