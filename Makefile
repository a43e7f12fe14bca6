# Two commands do everything on a fresh Debian machine with Python 3.11 or newer: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ENVIRONMENT := $(PYTHON) -m v2kb.environment

.PHONY: run meaning test lint services-test browser-test bench web-environment test-environment

run: web-environment  ## web, database, starter data, worker on this machine; prints the address and first logins
	@exec $(BIN)/python manage.py up

meaning: web-environment  ## the optional packages of search by meaning (100 MB); the next `make run` uses them
	@$(ENVIRONMENT) meaning

test: test-environment  ## every test that needs no outside service
	$(BIN)/python -m pytest -m "not services and not browser" -n auto --durations=20

services-test: test-environment  ## the same on PostgreSQL, and the dispatch tests on RabbitMQ and Redis
	$(BIN)/python -m tests.services_run

browser-test: test-environment  ## clicks through the pages in Chromium
	$(BIN)/python -m pytest -m browser

lint: test-environment  ## style, import contracts, templates, migrations, committed API document
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/djlint templates --lint
	$(BIN)/python manage.py makemigrations --check --dry-run

bench: test-environment  ## prints figures, judges nothing
	$(BIN)/python -m tests.bench

web-environment:
	@$(ENVIRONMENT) web

test-environment:
	@$(ENVIRONMENT) test
	@$(ENVIRONMENT) meaning
