import numpy as np
import pytest

from driftgames.datasets import DataError, MissingDataError, load_electric_load, load_market, online


def test_nyse_has_the_known_wealth(shared_data):
    market = load_market("nyse_o", directory=shared_data)

    assert market.relatives.shape == (5651, 36)
    wealth = market.relatives.prod(axis=0)
    assert wealth.max() == pytest.approx(54.14, abs=0.005)  # best single stock
    assert wealth.mean() == pytest.approx(14.50, abs=0.005)  # buy and hold


def test_nyse_gives_covers_universal_portfolio_of_iroquois_and_kin_ark(shared_data):
    market = load_market("nyse_o", directory=shared_data)
    pair = market.relatives[:, [market.assets.index("T"), market.assets.index("W")]]
    shares = np.linspace(0, 1, 21)

    wealth = (pair @ np.array([shares, 1 - shares])).prod(axis=0)

    assert wealth.mean() == pytest.approx(38.6727, abs=5e-5)
    assert wealth.max() == pytest.approx(73.619, abs=0.05)


def test_djia_and_load_have_their_shapes(shared_data):
    assert load_market("djia", directory=shared_data).relatives.shape == (507, 30)
    series = load_electric_load(directory=shared_data)
    assert series.target.shape == (731,)
    assert series.features.shape == (731, 10)
    assert "Load" not in series.feature_names
    assert "Load1" in series.feature_names


def test_bad_tables_and_names_are_refused():
    with pytest.raises(ValueError, match="nyse_o, djia; got 'sp500'"):
        load_market("sp500")
    with pytest.raises(DataError, match="not a table of numbers"):
        online._parse_csv(b"a,b\n1,x\n", "prices.csv")
    with pytest.raises(DataError, match="2 names"):
        online._parse_csv(b"a,b\n1\n", "prices.csv")


def test_missing_tables_say_where_they_were_looked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("DRIFTGAMES_CACHE", str(tmp_path))
    monkeypatch.delenv("DRIFTGAMES_DATA", raising=False)

    with pytest.raises(MissingDataError, match=r"electric_load\.csv is not there: looked for"):
        load_electric_load()
    with pytest.raises(MissingDataError, match=r"nyse_o\.csv"):
        load_market("nyse_o", allow_download=False)
