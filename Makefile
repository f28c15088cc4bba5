# make demo   sets everything up and explores a few thousand documents
# make test   sets everything up and checks everything
# make docs   builds the documentation into build/docs
# make quick  the tests of a minute; make lint, make bench, make first-hour, make pictures, make clean

VENV ?= .venv
PYTHON ?= $(shell for each in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$each -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && \
	echo $$each && break; done)
RUN = $(VENV)/bin/python -m
PIP = $(RUN) pip install -q --disable-pip-version-check

.PHONY: demo test quick lint docs pictures first-hour bench clean

PROJECT = demo/docstrings.tacit
demo: $(VENV)/.installed
	@mkdir -p $(dir $(PROJECT))
	@$(VENV)/bin/tacit explore --docs --out $(PROJECT)
	@echo
	@echo "Open the report in a browser:  file://$(CURDIR)/$(PROJECT)/report.html"
	@echo "Explore your own documents:    $(VENV)/bin/tacit explore FOLDER_OR_FILE"

# worksteal: a process that has run its half of the tests takes over some of the other's.
test: $(VENV)/.installed-test lint
	$(RUN) pytest -n 2 --dist worksteal -rs

# The models themselves: without what takes more than a few seconds, scikit-learn's battery of
# checks, the command line, pictures, pages and the examples in docstrings.
QUICK = core data kernels cluster text linear classify language notes
quick: $(VENV)/.installed-test
	$(RUN) pytest -n 2 --dist worksteal -m "not slow and not battery" $(QUICK:%=tests/%)

lint: $(VENV)/.installed-test
	$(RUN) ruff check .
	$(RUN) mypy

# Warnings are errors; so are links that lead nowhere.
docs: $(VENV)/.installed-docs
	$(RUN) sphinx -q -W --keep-going -b html docs build/docs
	@echo "Open the documentation in a browser:  file://$(CURDIR)/build/docs/index.html"

# Draws the pictures of docs/pictures again; those of the report with a browser.
pictures: $(VENV)/.installed-test
	$(VENV)/bin/python docs/pictures.py
	$(VENV)/bin/python docs/screenshots.py

# Builds the wheel, installs it into an empty environment and follows README.md.
first-hour: $(VENV)/.installed-docs
	$(RUN) tests.docs.first_hour

bench: $(VENV)/.installed-bench
	$(RUN) benchmarks

clean:
	rm -rf $(VENV) build dist demo docs/reference docs/worked_examples .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -prune -exec rm -rf {} +

# Installing happens once, and again when pyproject.toml changes.

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	@echo "Installing Tacit into $(VENV) (a minute or two) ..."
	@$(PIP) -e '.[plot]'
	@touch $@

$(VENV)/.installed-test: $(VENV)/bin/python pyproject.toml
	@echo "Installing Tacit and what its tests need into $(VENV) (a minute or two) ..."
	@$(PIP) -e '.[test]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: $(VENV)/bin/python pyproject.toml
	@echo "Installing Tacit and what its documentation needs into $(VENV) ..."
	@$(PIP) -e '.[docs]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-bench: $(VENV)/bin/python pyproject.toml
	@echo "Installing Tacit and its rivals into $(VENV) ..."
	@$(PIP) -e '.[bench]'
	@touch $@ $(VENV)/.installed-test $(VENV)/.installed

$(VENV)/bin/python:
	@if [ -z "$(PYTHON)" ]; then \
		echo "Tacit needs Python 3.11 or newer, and none was found. Install it with:"; \
		echo "    sudo apt-get install python3 python3-venv"; \
		echo "If that gives an older one: sudo apt-get install python3.11 python3.11-venv"; \
		exit 1; fi
	@if ! $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; then \
		echo "$(PYTHON) lacks the module venv. Install it with:"; \
		echo "    sudo apt-get install $$(basename $(PYTHON))-venv"; \
		exit 1; fi
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }
