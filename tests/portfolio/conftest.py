import pytest

from driftgames.datasets.online import load_market


@pytest.fixture(scope="session")
def nyse_o(shared_data):
    """Relatives of NYSE(O) and the column of each stock."""
    market = load_market("nyse_o", directory=shared_data, allow_download=False)
    return market.relatives, {name: k for k, name in enumerate(market.assets)}
