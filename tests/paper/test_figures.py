from driftgames.paper.figures import figure_1, figure_2


def test_figure_1_has_a_panel_per_set_and_a_curve_per_algorithm(make_fit):
    fits = [make_fit(data, name) for data in ("census", "w8a") for name in ("AdaBoost", "NH-Boost")]

    figure = figure_1(fits)

    assert [panel.title for panel in figure.panels] == ["census", "w8a"]
    assert list(figure.panels[0].curves) == ["AdaBoost", "NH-Boost"]
    assert figure.panels[0].x == [1.0, 2.0, 3.0]
    assert figure.panels[0].curves["AdaBoost"] == [0.0, 0.1, 0.2]


def test_a_run_that_ended_early_keeps_its_last_share(make_fit):
    short = make_fit(algorithm="NH-Boost", rounds=1, zero_fractions=[0.4])

    figure = figure_1([make_fit(), short])

    assert figure.panels[0].curves["NH-Boost"] == [0.4, 0.4, 0.4]


def test_figure_2_rises_from_0_to_1(make_fit):
    (panel,) = figure_2([make_fit()]).panels

    curve = panel.curves["AdaBoost"]
    assert (panel.x[0], panel.x[-1]) == (-1.0, 1.0)
    assert (curve[0], curve[-1]) == (0.0, 1.0)
    assert curve == sorted(curve)


def test_figure_2_shows_weighted_votes_where_there_are_any(make_fit):
    fits = [make_fit(weighted_margins=[0.25] * 401), make_fit(algorithm="NH-Boost")]

    (panel,) = figure_2(fits).panels

    assert list(panel.curves) == ["AdaBoost", "NH-Boost", "AdaBoost, weighted votes"]
    assert panel.curves["AdaBoost, weighted votes"][0] == 0.25
