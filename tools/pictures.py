"""Take the README's pictures from the running app: `.venv/bin/python tools/pictures.py` (needs Chromium)."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parents[1] / "docs" / "images"
# layer 13, head 8 of the shipped recording: "she" looks for whom it stands for
VIEW = "layer=13&head=8&scale=log"
CELL = f"{VIEW}&q=61&k=57"


def main() -> None:
    """Start the app, open one map and one cell, save the two pictures."""
    chromium = os.environ.get("POZOR_CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pozor", "--no-open", "--port", "0", "--lang", "en"]
        app = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        try:
            assert app.stdout is not None
            lines = (re.search(r"http://\S+\?token=\S+", line) for line in app.stdout)
            address = next(found[0] for found in lines if found)
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
                wide = {"width": 1280, "height": 800}
                page = browser.new_page(viewport=wide, color_scheme="light", locale="en-US")
                page.goto(address)
                recording = page.locator("a[href*='#/map/']").first.get_attribute("href")
                assert recording is not None
                recording = recording.split("?")[0]
                for name, state in (("map", f"{VIEW}&q=61"), ("working", CELL)):
                    page.goto(f"{address.split('?')[0]}{recording}?{state}")
                    page.reload()
                    page.wait_for_load_state("networkidle")
                    page.wait_for_timeout(800)
                    if name == "working":
                        page.locator(".w-working table").first.scroll_into_view_if_needed()
                    page.screenshot(path=IMAGES / f"{name}.png")
                browser.close()
        finally:
            app.terminate()
            app.wait()


if __name__ == "__main__":
    main()
