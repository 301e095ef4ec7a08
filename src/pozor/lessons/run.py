"""`pozor learn`: start the lessons' process, say where they are, and wait until they end."""

import os
import sys
import threading
import webbrowser
from dataclasses import dataclass

from pozor.errors import OptionError
from pozor.lessons import catalog
from pozor.lessons.settings import HOST

WORDS = {
    "en": {
        "address": "Address (only for you, it holds the key):",
        "class": "Link for the class (it holds the key; whoever has it can open the lessons):",
        "class_note": "Typed code never runs on this link. What is done stays in each reader's browser.",
        "browser": "A browser opens by itself; if it does not, open the address.",
        "locked": "Solutions are locked by the code.",
        "stop": "Stop with Ctrl+C.",
        "stopped": "The lessons have stopped.",
        "complaints": "Not all went well in them. The last they said:",
    },
    "cs": {
        "address": "Adresa (jen pro vás, je v ní přístupový klíč):",
        "class": "Odkaz pro třídu (je v něm klíč; kdo ho má, lekce otevře):",
        "class_note": "Napsaný kód se tu nikdy nespustí. Co kdo má hotové, zůstává v jeho prohlížeči.",
        "browser": "Prohlížeč se otevře sám; pokud ne, otevřete adresu.",
        "locked": "Řešení jsou zamčená kódem.",
        "stop": "Program ukončíte klávesami Ctrl+C.",
        "stopped": "Lekce skončily.",
        "complaints": "Ne všechno v nich šlo hladce. Naposledy řekly:",
    },
}


@dataclass(frozen=True)
class Start:
    """What `pozor learn` was asked for."""

    lesson: str | None = None
    lang: str | None = None
    port: int | None = None
    open_browser: bool = True
    public: bool = False
    host: str | None = None
    presenter: bool = False
    code: str | None = None
    words: str = "en"


def run(start: Start) -> None:
    """Serve the lessons until they are stopped or end.

    Raises:
        OptionError: The lesson, port or host is not one that can be, or the lessons ended by themselves.
        BackendUnavailable: marimo is not installed.
    """
    from pozor.viewer.lessons import Lessons
    from pozor.viewer.serve import has_browser

    words = WORDS[start.words]
    query = ""
    if start.lesson is not None:
        known = catalog.get(int(start.lesson) if start.lesson.isdecimal() else start.lesson)
        query = f"lesson={known.number}&"
    if start.port is not None and not 0 <= start.port <= 65535:
        raise OptionError(f"--port must be from 0 to 65535; got {start.port}.")
    lessons = Lessons(
        {
            "host": start.host or HOST,
            "port": start.port,
            "public": start.public,
            "presenter": start.presenter,
            "lang": start.lang,
            "code": start.code,
        }
    )
    lessons.start()
    address = f"http://{_shown_host(start.host)}:{lessons.port}/?{query}token={lessons.token}"
    opens = start.open_browser and has_browser(os.environ)
    lines = [words["class" if start.public else "address"], f"  {address}"]
    lines += [words["class_note"]] if start.public else []
    lines += [words["locked"]] if start.code else []
    lines += [words["browser"]] if opens else []
    print("\n".join([*lines, words["stop"]]), flush=True)
    if opens:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    try:
        reason = lessons.wait()
    except KeyboardInterrupt:
        reason = None
    finally:
        lessons.stop()
        if lessons.complaints:
            print("\n".join(["", words["complaints"], *lessons.complaints]), file=sys.stderr, flush=True)
    if reason is not None:
        raise OptionError(reason.sentence(start.words))
    print(f"\n{words['stopped']}", flush=True)


def _shown_host(host: str | None) -> str:
    from pozor.lessons.server import address_outward

    return HOST if host is None else address_outward() if host == "0.0.0.0" else host
