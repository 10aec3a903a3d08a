import dataclasses

import pytest

from driftgames.paper import published
from driftgames.paper.boosting import ALGORITHMS, AS_PROVED, AS_PUBLISHED
from driftgames.paper.results import DIFFERENCE, OURS, PUBLISHED
from driftgames.paper.tables import (
    TEST,
    TIME,
    TRAIN,
    ZEROS,
    agrees,
    compared,
    table_2,
    table_3,
)


@pytest.fixture
def census(digits):
    return dataclasses.replace(digits, name="census", published=True)


def test_table_2_has_ours_beside_the_published_sizes(digits, census):
    table = table_2([census, digits])

    assert table.column("set") == ["census", "digits49"]
    assert table.column(OURS, "Training rows") == [181, 181]
    assert table.column(PUBLISHED, "Training rows") == [1000, None]


def test_table_3_has_ours_the_published_number_and_the_difference(census, make_fit):
    fits = [make_fit(algorithm=name, zeros=0.192) for name in ALGORITHMS]

    table = table_3([census], fits, published.ROUNDS)

    assert table.column("algorithm") == list(ALGORITHMS)
    assert table.column(PUBLISHED, TIME) == [1.7, 2.2, 1.4, 1.4]
    assert table.column(PUBLISHED, TRAIN) == [15.6, 17.0, 15.4, 15.4]
    assert table.column(DIFFERENCE, TRAIN) == pytest.approx([0.0, -1.4, 0.2, 0.2])
    assert table.column(PUBLISHED, ZEROS) == [None, 2.2, 19.2, 19.2]
    assert [each.equal for each in compared(table, TRAIN)] == [True, False, False, False]
    assert [each.equal for each in compared(table, ZEROS)] == [False, True, True]
    assert [each[:3] for each in compared(table, TEST, "AdaBoost")] == [
        ("census", "AdaBoost", TEST)
    ]
    assert [each.equal for each in compared(table, TEST, AS_PUBLISHED)] == [False]


@pytest.mark.parametrize(
    ("ours", "printed", "equal"),
    [
        (15.5519, 15.6, True),
        (15.5308, 15.5, True),
        (2.1475, 2.2, False),  # 2.15 in two decimals, and 2.2 only if that is rounded again
        (2.249, 2.2, True),
        (2.2501, 2.2, False),
        (41.95, 42.0, True),
        (41.9499, 42.0, False),
        (0.0, 0.0, True),
    ],
)
def test_a_number_is_rounded_once(ours, printed, equal):
    assert agrees(ours, printed) == equal


@pytest.mark.parametrize(("is_published", "rounds"), [(False, 200), (True, 100)])
def test_other_rows_or_other_rounds_are_not_compared(census, make_fit, is_published, rounds):
    data = dataclasses.replace(census, published=is_published)

    table = table_3([data], [make_fit()], rounds)

    assert (PUBLISHED, TRAIN) not in {(c.name, c.group) for c in table.columns}
    assert compared(table, TRAIN) == []
    assert table.column(OURS, TEST) == pytest.approx([18.7])


def test_notes_carry_what_a_reader_must_know(census, make_fit):
    data = dataclasses.replace(census, note="Its test rows are training rows.")

    table = table_3([data], [make_fit(rounds=150)], published.ROUNDS)

    assert "census: Its test rows are training rows." in table.notes
    assert any("ended after 150 rounds" in note for note in table.notes)


def test_printed_numbers_are_whole():
    """Every set has all three algorithms; the best of each line is what the paper prints bold."""
    assert set(published.TABLE_3) == set(published.TABLE_2)
    for outcomes in published.TABLE_3.values():
        assert set(outcomes) == {"AdaBoost", "NH-Boost", AS_PROVED}
        assert min(outcomes, key=lambda name: outcomes[name].seconds) == AS_PROVED
        assert outcomes["AdaBoost"].zeros is None
        assert outcomes[AS_PROVED].zeros > outcomes["NH-Boost"].zeros
