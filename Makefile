# `make demo` and `make test` set up all they need by themselves; see README.md.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help env demo samples test test-all coverage docs lint format lock clean distclean

VENV ?= .venv
export DIORAMA_VENV := $(VENV)
# Images of containers set it; then each process that a test starts would compile all of Diorama again.
unexport PYTHONDONTWRITEBYTECODE
PROFILE ?= standard
ABOUT ?= tools/samples.toml
BIN := $(VENV)/bin
READERS := $(CURDIR)/.venv-readers
# In parallel, except for chosen tests: with few tests the processes would start for longer than they save.
PARALLEL := $(if $(ARGS),,-n auto --maxprocesses 4 --dist worksteal)
DEMO := demo
# In folders that may be removed: `make` made them.
MADE := .made-by-make
SAMPLES := samples
FIRST := scene_specs/examples/shapes-and-materials.json

help: ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

env: ## the private environment (VENV=.venv), from the locked dependencies
	@tools/setup.sh

# From nothing each time: a demo store left by an older version would rightly refuse the newer specs.
demo: env ## renders the examples (PROFILE=standard) and says where the pictures are
	@if [[ -e $(DEMO) && ! -e $(DEMO)/$(MADE) ]]; then echo "make demo: $(CURDIR)/$(DEMO) was not made by it;" \
	  "move it away, or pass another folder: make demo DEMO=FOLDER" >&2; exit 2; fi
	@rm -rf $(DEMO) && mkdir -p $(DEMO) && touch $(DEMO)/$(MADE)
	@$(BIN)/render-episode --from $(FIRST) --sheet $(DEMO)/first_picture.png >/dev/null
	@echo "A first picture: $(CURDIR)/$(DEMO)/first_picture.png (the other examples take some minutes)"
	$(BIN)/render-batch scene_specs/examples/*.json --out $(DEMO)/diorama.lance --profile $(PROFILE)
	$(BIN)/render-export $(DEMO)/diorama.lance --format folder --out $(DEMO)/pictures
	$(BIN)/python -m tools contact-sheet $(DEMO)/pictures $(DEMO)/contact_sheet.png --columns 6 --largest 320
	$(BIN)/render-gallery $(DEMO)/diorama.lance --out $(DEMO)/gallery
	@echo
	@echo "Open one of these:"
	@echo "  $(CURDIR)/$(DEMO)/gallery/index.html   every image, with its boxes, masks and truth, in a browser"
	@echo "  $(CURDIR)/$(DEMO)/contact_sheet.png    all images on one sheet"
	@echo "  $(CURDIR)/$(DEMO)/pictures/            a PNG and a JSON file per image"
	@echo "Try next:"
	@echo "  . $(BIN)/activate"
	@echo "  render-episode --from $(FIRST) --set 'frames[0].objects[0].color=green' --sheet green.png"
	@echo "  render-specs clevr --count 10 --objects 3-10 --seed 1 --out clevr.jsonl && render-batch clevr.jsonl"

# MEWL has seven images per episode, so they are smaller. Half of the folder is the truth as text, for any size.
samples: env ## builds the folder of samples: a store, a dataset with its card, a gallery (PROFILE, SIZE=WxH, ABOUT=FILE)
	@if [[ -e $(SAMPLES) && ! -e $(SAMPLES)/$(MADE) ]]; then echo "make samples: $(CURDIR)/$(SAMPLES) was not made by it;" \
	  "move it away, or pass another folder: make samples SAMPLES=FOLDER" >&2; exit 2; fi
	@rm -rf $(SAMPLES) && mkdir -p $(SAMPLES)/specs && touch $(SAMPLES)/$(MADE)
	cd $(SAMPLES)/specs && export PATH="$(abspath $(BIN)):$$PATH" && \
	  render-specs clevr --count 40 --split test --seed 1 --out clevr.jsonl && \
	  render-specs clevr --count 4 --objects 4-6 --split val --seed 1 | render-specs looks --looks wood,daylight,evening - --out looks.jsonl && \
	  render-specs novel --count 10 --seed 1 --out novel.jsonl && \
	  render-specs iwisdm --benchmark low --count 40 --split test --seed 1 --out iwisdm.jsonl && \
	  render-specs malevic --set set-pos --split test --count 80 --seed 1 | awk NR%2 > malevic.jsonl && \
	  render-specs kilogram --condition part+color --targets all --contexts 1 --split dev --seed 1 | awk NR%3 > kilogram.jsonl && \
	  render-specs perspective --split test --count 7 --seed 1 --out perspective.jsonl && \
	  render-specs icca --contexts 40 --seed 1 --out icca.jsonl && \
	  render-specs mewl --split test --count 5 --seed 1 --out mewl.jsonl
	for name in $$(ls $(SAMPLES)/specs); do \
	  case $$name in icca.jsonl|kilogram.jsonl|mewl.jsonl|novel.jsonl) size=128x96;; *) size=160x120;; esac; \
	  $(BIN)/render-batch $(SAMPLES)/specs/$$name --out $(SAMPLES)/rendered.lance --profile $(PROFILE) --size $(or $(SIZE),$$size); done
# A copy is one commit, without the versions and small files of nine runs.
	$(BIN)/render-store copy $(SAMPLES)/rendered.lance $(SAMPLES)/samples.lance && rm -r $(SAMPLES)/rendered.lance
	$(BIN)/render-export $(SAMPLES)/samples.lance --format huggingface --out $(SAMPLES)/dataset --questions 2 --about $(ABOUT)
	$(BIN)/render-gallery $(SAMPLES)/samples.lance --out $(SAMPLES)/gallery
	@echo "$(abspath $(SAMPLES)) has files of $$(find $(SAMPLES) -type f -printf '%s\n' | awk '{s += $$1} END {printf "%.1f", s / 1e6}') MB"
	@echo "Open $(abspath $(SAMPLES))/gallery/index.html, or in Python: diorama.samples('$(SAMPLES)')"

lint: env ## style and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

test: lint ## style, types and tests (ARGS="-k name" for some)
	@$(BIN)/python -m pytest $(PARALLEL) $(ARGS)

test-all: export DIORAMA_AXE := $(READERS)/package/axe.min.js
test-all: export DIORAMA_MOTO := $(READERS)/moto/bin/python
test-all: export DIORAMA_HARNESS := $(READERS)/harness/bin/python
test-all: lint ## also slow tests, other programs that read stores, browsers (in .venv-readers, 4.8 GB on disk)
	@tools/setup.sh readers
	@$(READERS)/bin/python -m pytest --all $(REST) $(COVER) $(PARALLEL) $(ARGS)

# What to measure is in pyproject.toml. Tests take twice as long, so nothing else measures it.
coverage: COVER := --cov --cov-report=
coverage: test-all ## test-all, and which share of each package it runs
	@$(READERS)/bin/python -m coverage report

docs: env ## builds the documentation site, build/site/index.html; every warning is an error
	@tools/docs.sh

format: env ## puts the code into the one style
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .

lock: ## new lock files after a change of dependencies (ARGS=--upgrade for newer versions)
	@tools/lock.sh $(ARGS)

clean: ## removes what was built, not the environment
	for folder in $(DEMO) $(SAMPLES); do [[ ! -e $$folder/$(MADE) ]] || rm -rf $$folder; done
	rm -rf build/coverage build/docs build/site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -path './.venv*' -prune -o -path ./$(VENV) -prune -o -name __pycache__ -type d -exec rm -rf {} +

distclean: clean ## and the environment, if `make` made it
	[[ ! -e $(VENV)/diorama-setup ]] || rm -rf $(VENV)
	rm -rf .venv-docs .venv-readers .venv-4.5 .venv-5.2
