# `make demo` and `make test` set up all they need by themselves; see README.md.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help env demo test test-all coverage docs lint format lock clean distclean

VENV ?= .venv
export DIORAMA_VENV := $(VENV)
PROFILE ?= standard
BIN := $(VENV)/bin
READERS := $(CURDIR)/.venv-readers
# In parallel, except for chosen tests: with few tests the processes would start for longer than they save.
PARALLEL := $(if $(ARGS),,-n auto --maxprocesses 4 --dist worksteal)
DEMO := demo
# In folders that may be removed: `make` made them.
MADE := .made-by-make
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
	@$(READERS)/bin/python -m pytest --all $(COVER) $(PARALLEL) $(ARGS)

# What to measure is in pyproject.toml. Tests take twice as long, so nothing else measures it.
coverage: COVER := --cov --cov-report=
coverage: test-all ## test-all, and which share of each package it runs
	@$(READERS)/bin/python -m tools coverage-table

docs: env ## builds the documentation site, build/site/index.html; every warning is an error
	@tools/docs.sh

format: env ## puts the code into the one style
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .

lock: ## new lock files after a change of dependencies (ARGS=--upgrade for newer versions)
	@tools/lock.sh $(ARGS)

clean: ## removes what was built, not the environment
	[[ ! -e $(DEMO)/$(MADE) ]] || rm -rf $(DEMO)
	rm -rf build/coverage build/docs build/site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -path './.venv*' -prune -o -path ./$(VENV) -prune -o -name __pycache__ -type d -exec rm -rf {} +

distclean: clean ## and the environment, if `make` made it
	[[ ! -e $(VENV)/diorama-setup ]] || rm -rf $(VENV)
	rm -rf .venv-docs .venv-readers .venv-4.5 .venv-5.2
