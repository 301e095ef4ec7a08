#!/usr/bin/env bash
# Every check, in the order in which a failure is cheapest to find. CI runs exactly this, through `make test`.
set -euo pipefail
cd "$(dirname "$0")/.."
PY=${PY:-.venv/bin/python}
BIN=$(dirname "$PY")
step() { printf '\n== %s\n' "$*"; }

if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null && [ -z "${POZOR_CHROMIUM:-}" ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    step "installing Debian's chromium for the browser tests"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium fonts-dejavu-core >/dev/null
  else
    echo "The browser tests need Chromium: install it (on Debian: sudo apt-get install chromium)," >&2
    echo "or give its path in POZOR_CHROMIUM." >&2
    exit 2
  fi
fi

step "ruff"
"$BIN/ruff" check .
"$BIN/ruff" format --check .
step "pyright"
web/node_modules/.bin/pyright --pythonpath "$PY" --warnings
step "generated files are fresh"
"$PY" -m pozor.viewer.typescript --check
step "page: types and unit tests"
(cd web && npm run --silent check && npm run --silent test)
step "pytest: unit tests, laws, doctests, models, browser"
"$PY" -m pytest "$@"
