"""The shipped models, read once."""

import pytest

from pozor.lm import AgreementModel, CzechModel, load


@pytest.fixture(scope="session")
def agreement() -> AgreementModel:
    return load("agreement")


@pytest.fixture(scope="session")
def czech() -> CzechModel:
    return load("czech")
