import dataclasses

import pytest

from driftgames.paper.boosting import ALGORITHMS
from driftgames.paper.results import Section
from driftgames.paper.summary import summarise
from driftgames.paper.tables import table_3


@pytest.fixture
def sets(digits):
    census = dataclasses.replace(digits, name="census", published=True)
    w8a = dataclasses.replace(digits, name="w8a", published=True)
    honest = dataclasses.replace(digits, name="w8a-honest")
    return (census, w8a, honest)


def section(table):
    sets = tuple(dict.fromkeys(table.column("set")))
    return Section(table.name, "Title", "Text", (table,), (), "command", sets)


def test_sentences_count_what_agrees_to_the_digit(sets, make_fit):
    fits = [make_fit(data.name, name, zeros=0.192) for data in sets for name in ALGORITHMS]

    sentences = summarise([section(table_3(sets, fits, 200))])

    assert sentences[0] == "Run on census, w8a and w8a-honest."
    text = " ".join(sentences)
    assert "AdaBoost: 2 of 4 published error rates (not on w8a) come out to the printed" in text
    assert "NH-Boost.DT 4(t-1): 0 of 4 published error rates (not on census and w8a)" in text
    assert "digit, and 1 of 2 shares of zero weights (not on w8a)." in text
    assert "Every published error rate" not in text
    assert "4(t-1), 3 of 16 published numbers come out to the printed digit. The others: " in text
    assert "w8a, NH-Boost, zeros 19.200 for 3.0; " in text
    assert "; census, NH-Boost.DT 4(t-1), training error 15.600 for 15.4;" in text
    assert "census, AdaBoost" not in text
    assert "errs on 18.70 % of them, and on 18.70 % once" in text
    assert "Time here: on census NH-Boost.DT takes 0.010 s and AdaBoost 0.010 s." in text


def test_the_sets_on_which_all_comes_out_are_named_first(sets, make_fit):
    outcomes = {"AdaBoost": (0.156, 0.187), "NH-Boost": (0.17, 0.186)}
    fits = [
        make_fit(
            "census",
            name,
            train=outcomes.get(name, (0.154, 0.183))[0],
            test=outcomes.get(name, (0.154, 0.183))[1],
        )
        for name in ALGORITHMS[:3]
    ]

    sentences = summarise([section(table_3(sets[:1], fits, 200))])

    assert sentences[1] == (
        "Every published error rate on census comes out to the printed digit when NH-Boost.DT is "
        "read with 4(t-1)."
    )


def test_nothing_is_claimed_without_published_numbers(sets, make_fit):
    honest = sets[2:]
    fits = [make_fit(honest[0].name, name) for name in ALGORITHMS[:2]]

    sentences = summarise([section(table_3(honest, fits, 200))], missing=("w8a",))

    assert sentences == (
        "Run on w8a-honest. Not here: w8a; 'driftgames datasets fetch w8a' brings them.",
    )
