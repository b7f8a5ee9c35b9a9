# make help lists what there is. Everything is set up on first use, in .venv.

.DEFAULT_GOAL := help

# Set by ROS 2 wheels in another environment's Python; inherited, it would break this one's.
unexport _ROS_WHEELS_BOOTSTRAP_COMPLETE

# 'auto' is one test process for each core.
JOBS ?= auto
ROBOT ?= gough_stewart
MODE ?= computed_torque
ARGS ?=

# The first of these that runs (a pyenv shim may exist and not run), is 3.10-3.13 and can make a
# virtual environment. With a ROS 2 distribution sourced: the first that can import its rclpy.
CANDIDATES := python3 python3.13 python3.12 python3.11 python3.10 /usr/bin/python3
IN_RANGE := import ensurepip, sys, venv; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))
first_python = $(shell for p in $(CANDIDATES); do \
    if $$p -c '$(1)' >/dev/null 2>&1; then echo $$p; break; fi; done)

ifdef ROS_DISTRO
  ROS_PYTHON := $(if $(PYTHON),$(shell $(PYTHON) -c 'import rclpy' 2>/dev/null && \
      echo $(PYTHON)),$(call first_python,import rclpy; $(IN_RANGE)))
endif

ifneq ($(ROS_PYTHON),)
  PYTHON := $(ROS_PYTHON)
  VENV := .venv-$(ROS_DISTRO)
  VENV_OPTIONS := --system-site-packages
  LOCKS := requirements/lock.txt
else
  ifndef PYTHON
    PYTHON := $(call first_python,$(IN_RANGE))
  endif
  VENV := .venv
  VENV_OPTIONS :=
  LOCKS := requirements/lock.txt requirements/lock-ros.txt
endif

BIN := $(VENV)/bin
PY := $(BIN)/python
PIP := -m pip install --quiet --disable-pip-version-check
READY := $(VENV)/.ready

.PHONY: help setup test test-oldest lint lock demo bench pictures docs robots clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## create .venv with the pinned versions

$(READY): $(LOCKS) setup.py package.xml
	@if [ -z "$(PYTHON)" ]; then echo 'No Python 3.10-3.13 with venv was found; install one' \
	    '(on Debian and Ubuntu: apt install python3-venv) or give it as PYTHON=...' >&2; exit 1; fi
	@echo "Setting up $(VENV) with $$($(PYTHON) --version), once; this takes some minutes."
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV_OPTIONS) $(VENV)
	@$(PY) $(PIP) --no-deps $(addprefix -r ,$(LOCKS))
	@$(PY) $(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

test: $(READY)  ## run all tests
	$(PY) -m pytest -n $(JOBS) --dist loadgroup $(ARGS)

lint: $(READY)  ## check style and types
	$(PY) -m ruff check .
	$(PY) -m mypy

# The oldest supported versions, where there is a Python 3.12.
OLDEST := .venv-oldest
OLDEST_PYTHON = $(shell for p in python3.12 $(wildcard $(HOME)/.pyenv/versions/3.12*/bin/python) \
    $(PYTHON); do if $$p -c 'import sys, ensurepip; sys.exit(sys.version_info[:2] != (3, 12))' \
    >/dev/null 2>&1; then echo $$p; break; fi; done)

test-oldest:  ## run the library's tests with the oldest supported versions (needs Python 3.12)
	@if [ -z "$(OLDEST_PYTHON)" ]; then \
	    echo 'Not run: the oldest supported versions need Python 3.12, and none was found.'; \
	else \
	    $(MAKE) --no-print-directory $(OLDEST)/.ready PYTHON=$(OLDEST_PYTHON) && \
	    PARALLEL_DYNAMICS_LEAN=1 $(OLDEST)/bin/python -m pytest -n $(JOBS) --dist loadgroup \
	        -m 'not ros and not browser' $(ARGS); \
	fi

$(OLDEST)/.ready: requirements/lock-oldest.txt setup.py package.xml
	@echo "Setting up $(OLDEST) with $$($(PYTHON) --version), once."
	@$(OLDEST)/bin/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(OLDEST)
	@$(OLDEST)/bin/python $(PIP) --no-deps -r requirements/lock-oldest.txt
	@$(OLDEST)/bin/python $(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

# uv resolves once for all supported versions of Python; users install with plain pip.
UV = .venv-lock/bin/uv pip compile --quiet --upgrade --no-annotate --no-emit-index-url \
    --no-emit-find-links --custom-compile-command 'make lock'
lock: .venv-lock/bin/uv  ## refresh the lock files from requirements/*.in
	$(UV) --universal --python-version 3.10 \
	    requirements/runtime.in requirements/test.in requirements/docs.in -o requirements/lock.txt
	$(UV) --universal --python-version 3.10 requirements/ros.in -c requirements/lock.txt \
	    -o requirements/lock-ros.txt
	$(UV) --python-version 3.12 requirements/oldest.in -o requirements/lock-oldest.txt

.venv-lock/bin/uv:
	@$(PYTHON) -m venv .venv-lock
	@.venv-lock/bin/python $(PIP) uv

demo: $(READY)  ## run the closed loop (ROBOT=delta MODE=pd_feedforward) and report
	@$(BIN)/parallel-dynamics demo $(ROBOT) --mode $(MODE) $(ARGS)

# Writes docs/benchmarks.md, .json and .png; elsewhere with ARGS='--output DIR'.
bench: $(READY)  ## compare with other engines, into docs/benchmarks.*
	$(BIN)/parallel-dynamics bench --output docs $(ARGS)

pictures: $(READY)  ## make the README's picture anew (needs Chromium)
	$(BIN)/parallel-dynamics view gough_stewart --screenshot docs/images/viewer.png \
	    --pose x=0.08 --pose z=0.9 --pose roll=0.12 --pose pitch=-0.18 --pose yaw=0.2

docs: $(READY)  ## build the documentation into site/
	PYTHONPATH=. $(BIN)/mkdocs build --strict

robots: $(READY)  ## write the shipped robots again with the generator
	$(BIN)/parallel-dynamics create --shipped

clean:  ## remove everything that make and the tests created
	rm -rf .venv* .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache \
	    build dist install log site output *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
