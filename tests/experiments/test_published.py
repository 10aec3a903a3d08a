"""The published table through the whole of the machinery."""

import pytest

from driftgames.experiments import Setting, Store, choose_sets, reproduce, select
from driftgames.experiments.boosting import AS_PUBLISHED
from driftgames.experiments.tables import TEST, TRAIN, ZEROS, compared


@pytest.fixture(scope="module")
def table(shared_data, tmp_path_factory):
    chosen = choose_sets(["census", "ocr49", "splice"], directory=shared_data)
    store = Store(tmp_path_factory.mktemp("parts"))
    report, _ = reproduce(select(["table3"]), Setting(chosen), store)
    return report.sections[0].tables[0]


@pytest.mark.parametrize("algorithm", ["AdaBoost", "NH-Boost", AS_PUBLISHED])
def test_published_errors_come_out_to_the_digit(table, algorithm):
    for group in (TRAIN, TEST):
        found = compared(table, group, algorithm)
        assert len(found) == 3
        assert all(equal for _, equal in found)


def test_published_zeros_come_out_within_a_tenth_of_a_point(table):
    zeros = [
        row[table.columns.index(column)]
        for column in table.columns
        if (column.name, column.group) == ("difference", ZEROS)
        for row in table.rows
        if row[1] in ("NH-Boost", AS_PUBLISHED)
    ]

    assert len(zeros) == 6
    assert max(abs(difference) for difference in zeros) < 0.1
