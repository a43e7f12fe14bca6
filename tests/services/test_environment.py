"""Preparing the environment: what is missing is said, with what to do; a half-made one is noticed."""

import sys

import pytest

from v2kb import environment


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout without an environment."""
    for name in environment.REQUIREMENTS.values():
        (tmp_path / name).write_text("a==1\n")
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(environment, "PYTHON", tmp_path / ".venv" / "bin" / "python")
    return tmp_path


def test_an_old_python_is_refused_with_another_one_to_name(checkout, monkeypatch, capsys):
    monkeypatch.setattr(sys, "version_info", (3, 10, 4))
    assert environment.main(["web"]) == 1
    assert "make run PYTHON=python3.12" in capsys.readouterr().err


def test_a_broken_environment_is_not_taken_for_a_ready_one(checkout):
    environment.PYTHON.parent.mkdir(parents=True)
    environment.PYTHON.write_text("#!/bin/sh\nexit 1\n")
    environment.PYTHON.chmod(0o755)
    environment._stamp("web").write_text(environment._digest("requirements.txt"))
    assert environment.is_ready("web")
    assert not environment._works()


def test_changed_pins_ask_for_a_new_installation(checkout):
    environment.PYTHON.parent.mkdir(parents=True)
    environment.PYTHON.touch()
    environment._stamp("test").write_text(environment._digest("requirements-dev.txt"))
    assert environment.is_ready("test")
    (checkout / "requirements-dev.txt").write_text("-r requirements.txt\n")
    assert not environment.is_ready("test")
    environment._stamp("test").write_text(environment._digest("requirements-dev.txt"))
    (checkout / "requirements.txt").write_text("a==2\n")
    assert not environment.is_ready("test")


def test_an_unknown_kind_says_the_usage(capsys):
    assert environment.main(["everything"]) == 2
    assert "usage" in capsys.readouterr().err
