"""The page in headless Chromium: its numbers are those of the library, and its buttons work."""

import itertools
from dataclasses import asdict

import numpy as np
import pytest

from driftgames.boosting import NoEdgeWarning
from driftgames.certificates.margins import MarginCertificate, Margins
from driftgames.games import Chips, GreedyAdversary, LookaheadAdversary, PotentialPlayer, play
from driftgames.play import write_page
from driftgames.play.fixtures import (
    MOST_CHIPS,
    MOST_ROUNDS,
    PER_UNIT,
    PLAYERS,
    Setup,
    fit_numbers,
    game_numbers,
    random_points,
    random_rounds,
)
from tests.browser import DESKTOP, PHONE, open_browser, texts_outside

TOLERANCE = 1e-12
MINUS = "\N{MINUS SIGN}"
NUMBERS = itertools.count(1)  # of the pages that were opened


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "play.html"
    write_page(path)
    driver = open_browser(tmp_path_factory.mktemp("profile"))
    driver.address = path.as_uri()
    driver.get(driver.address)
    yield driver
    driver.quit()


@pytest.fixture
def open_page(browser):
    """Open the page at a fragment; afterwards nothing may have been logged or loaded."""

    def open_page(fragment="", size=DESKTOP):
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        # a change of the fragment alone would not load the page
        browser.get(f"{browser.address}?{next(NUMBERS)}{fragment}")
        return browser

    yield open_page
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0


@pytest.fixture(scope="module")
def compute(browser):
    """Call a function of the page that changes nothing on it."""

    def compute(function, *arguments):
        return browser.execute_script(f"return {function}(...arguments)", *arguments)

    return compute


def find(browser, selector):
    return browser.find_element("css selector", selector)


def count(browser, selector):
    return len(browser.find_elements("css selector", selector))


def press(browser, *selectors):
    for selector in selectors:
        find(browser, selector).click()


def tap(browser, selector):
    """Click without a pointer, which waits for frames; another test moves one there."""
    browser.execute_script("document.querySelector(arguments[0]).click()", selector)


def click_at(browser, element, dx, dy):
    """Click so far from the middle of an element."""
    from selenium.webdriver import ActionChains

    chain = ActionChains(browser, duration=0)
    chain.move_to_element_with_offset(element, dx, dy).click().perform()


def fact(browser, name):
    facts = browser.execute_script(
        "return [...document.querySelectorAll('section:not([hidden]) .facts div')]"
        ".map((d) => [...d.children].map((c) => c.textContent))"
    )
    return dict(facts)[name]


def choose(browser, identity, value):
    press(browser, f"#{identity} option[value='{value}']")


def state(browser):
    return browser.execute_script("return page")


def shown_numbers(browser):
    """Return the table of the view: what a person can read."""
    return browser.execute_script(
        "return [...document.querySelectorAll('section:not([hidden]) table tbody tr')]"
        ".map((r) => [...r.children].map((c) => Number(c.textContent.replace('\\u2212', '-'))))"
    )


def assert_same(ours, theirs):
    assert ours.keys() >= theirs.keys()
    for name, wanted in theirs.items():
        found, wanted = np.array(ours[name], dtype=float), np.array(wanted)
        assert found.shape == wanted.shape, name
        assert np.isfinite(found).all(), name
        np.testing.assert_allclose(found, wanted, rtol=TOLERANCE, atol=TOLERANCE, err_msg=name)


# ------------------------------------------------------------------------ the numbers


def one_good_chip(n, horizon):
    """Return the losses that send chip 0 as far to the left as any can go."""
    losses = np.ones((horizon, n))
    losses[:, 0] = 0.0
    return losses


@pytest.mark.parametrize("player", PLAYERS)
@pytest.mark.parametrize(("n", "horizon", "rank"), [(2, 5, 1), (6, 20, 2), (12, 60, 1)])
def test_a_game_has_the_numbers_of_the_library(compute, player, n, horizon, rank):
    setup = Setup(player, n, horizon, rank)
    games = [one_good_chip(n, horizon), random_rounds(n, horizon, seed=n)]
    games.append(games[-1][: horizon // 2])  # a game that goes on
    for rounds in games:
        ours = compute("gameNumbers", asdict(setup), rounds.tolist())
        assert_same(ours, game_numbers(setup, rounds))


@pytest.mark.parametrize("player", PLAYERS)
def test_a_potential_has_the_librarys_values_and_weights_at_every_position(compute, player):
    """Games meet few positions; a corner of the minimax envelope may lie between them."""
    setup = Setup(player, n=4, horizon=8, rank=1)
    phi = setup.potential()
    made = "makePotential(setup.player, setup.horizon, setup.rank / setup.n)"
    for t in range(1, 9):
        before = np.linspace(1 - t, t - 1, (t - 1) * 2 * PER_UNIT + 1)
        after = np.linspace(-t, t, t * 2 * PER_UNIT + 1)
        weigh = f"((setup, s, t) => weigh({made}, s, t))"
        value = f"((setup, s, t) => s.map(((phi) => (x) => phi.value(x, t))({made})))"
        ours = {
            "weights": compute(weigh, asdict(setup), before.tolist(), t),
            "values": compute(value, asdict(setup), after.tolist(), t),
        }
        wanted = {
            "weights": phi.weights(before, t).tolist(),
            "values": phi.value(after, t, horizon=8).tolist(),
        }
        assert_same(ours, wanted)


@pytest.mark.parametrize("player", PLAYERS)
def test_the_bound_holds_and_the_sum_of_potentials_never_rises(compute, player):
    setup = Setup(player, n=5, horizon=25, rank=1)
    rounds = random_rounds(5, 25, seed=3)
    ours = compute("gameNumbers", asdict(setup), rounds.tolist())
    assert max(ours["regrets"]) <= ours["bound"]
    assert np.diff(ours["sums"]).max() <= 1e-12 * ours["sums"][0]
    assert ours["sums"][-1] < 0.9 * ours["sums"][0]


@pytest.mark.parametrize("player", PLAYERS)
def test_the_greedy_adversary_is_as_bad_as_the_librarys(open_page, player):
    """Compare the sums reached: several losses may reach the same sum."""
    setup = Setup(player, n=4, horizon=12, rank=1)
    phi = setup.potential()
    browser = open_page(f"#view=game&player={player}&n=4&t=12&k=1&foe=greedy")
    tap(browser, "#finish")
    rounds = state(browser)["rounds"]
    assert len(rounds) == 12
    numbers = game_numbers(setup, np.array(rounds))
    rng = np.random.default_rng(0)
    for t in range(12):
        chips = Chips(np.array(numbers["positions"][t]), t)
        p = np.array(numbers["weights"][t])
        moves = GreedyAdversary(phi).moves(chips, p, rng)
        worst = phi.value(chips.positions + moves, t + 1, horizon=12).sum()
        assert numbers["sums"][t + 1] == pytest.approx(worst, rel=1e-11)


def lattice_points():
    """Return points on a lattice, two classes with the diagonal between: many stumps tie."""
    places = itertools.product(range(10, 100, 20), range(10, 100, 20))
    return [{"x": x, "y": y, "label": 1 if x > y else -1} for x, y in places]


@pytest.mark.parametrize(
    ("points", "n_rounds"),
    [
        (random_points(40, seed=1), 100),
        (random_points(7, seed=2), 30),
        (lattice_points(), 60),
        ([{"x": 5, "y": 5, "label": -1}, {"x": 6, "y": 5, "label": 1}], 10),
    ],
    ids=["forty", "seven", "ties", "separable"],
)
def test_a_fit_has_the_stumps_and_numbers_of_the_library(compute, points, n_rounds):
    ours = compute("fitNumbers", points, n_rounds)
    theirs = fit_numbers(points, n_rounds)
    assert ours["stumps"] == theirs["stumps"]
    assert_same(ours, theirs)
    assert len(ours["edges"]) == n_rounds


def test_ignored_examples_weigh_exactly_zero_in_both(compute):
    points = random_points(40, seed=1)
    ours = compute("fitNumbers", points, 100)["weights"]
    zero = np.array(ours) == 0.0
    assert zero.any()
    assert (zero == (np.array(fit_numbers(points, 100)["weights"]) == 0.0)).all()


def test_a_fit_without_an_edge_ends_in_both(compute):
    corners = itertools.product((10, 90), (10, 90))
    points = [{"x": x, "y": y, "label": 1 if x == y else -1} for x, y in corners]
    ours = compute("fitNumbers", points, 5)
    with pytest.warns(NoEdgeWarning):
        assert_same(ours, fit_numbers(points, 5))
    assert ours["stumps"] == []


def test_the_page_checks_itself_against_embedded_records(open_page):
    browser = open_page()
    assert browser.execute_script("return checkAgainstLibrary(FIXTURES)") <= TOLERANCE
    spoiled = "const f = structuredClone(FIXTURES); f.games[2].numbers.weights[3][1] += 1e-9;"
    difference = browser.execute_script(spoiled + "return checkAgainstLibrary(f)")
    assert difference == pytest.approx(1e-9, rel=1e-3)
    assert "4 games and 1 fit" in find(browser, "#checked").text


@pytest.mark.parametrize(("n", "horizon", "rank"), [(2, 5, 1), (12, 20, 1), (6, 20, 5)])
def test_minimax_has_the_smallest_bound_as_the_page_says(compute, n, horizon, rank):
    setups = [asdict(Setup(player, n, horizon, rank)) for player in PLAYERS]
    bounds = {setup["player"]: compute("gameNumbers", setup, [])["bound"] for setup in setups}
    assert min(bounds, key=bounds.get) == "minimax"


def test_the_page_has_the_limits_that_the_records_assume(open_page):
    limits = open_page().execute_script("return [LIMITS.n[1], LIMITS.horizon[1], PER_UNIT]")
    assert limits == [MOST_CHIPS, MOST_ROUNDS, PER_UNIT]


# ------------------------------------------------------------------------ the view of the game


def test_a_person_plays_steps_back_and_shares_the_game(open_page):
    browser = open_page("#view=game&player=2-norm&n=3&t=10&k=1&marks=000")
    assert fact(browser, "Round") == "0 of 10"
    press(browser, ".chip:nth-child(1)", ".chip:nth-child(2)", ".chip:nth-child(2)")
    assert state(browser)["marks"] == [1, 0.5, 0]
    assert "The player would pay 0.500" in find(browser, "#plan").text
    press(browser, "#play", "#play")

    wanted = game_numbers(Setup("2-norm", 3, 10, 1), np.array([[1, 0.5, 0]] * 2))
    assert fact(browser, "Round") == "2 of 10"
    assert fact(browser, "Sum of potentials") == f"{wanted['sums'][2]:.3f}"
    assert fact(browser, "ε-regret") == f"{wanted['regrets'][2]:.3f}"
    press(browser, "#game details:not(.idea) summary")
    numbers = np.array(shown_numbers(browser))
    np.testing.assert_allclose(numbers[:, 1], wanted["positions"][2], atol=1e-6)
    np.testing.assert_allclose(numbers[:, 3], wanted["weights"][2], atol=1e-6)

    link, before = browser.current_url, state(browser)
    open_page("#" + link.split("#")[1])
    assert state(browser) == before

    press(browser, ".chip:nth-child(3)")
    assert state(browser)["marks"] == [1, 0.5, 1]
    press(browser, "#back")
    assert fact(browser, "Round") == "1 of 10"
    assert state(browser)["marks"] == [1, 0.5, 0]  # those of the round taken back
    press(browser, "#restart")
    assert fact(browser, "Round") == "0 of 10"
    assert not find(browser, "#back").is_enabled()


def test_another_player_answers_the_same_losses(open_page):
    browser = open_page("#view=game&player=exp&n=4&t=20&k=1&foe=coins")
    tap(browser, "#finish")
    rounds = state(browser)["rounds"]
    assert len(rounds) == 20
    for player in PLAYERS:
        choose(browser, "player", player)
        wanted = game_numbers(Setup(player, 4, 20, 1), np.array(rounds))
        assert state(browser)["rounds"] == rounds
        assert fact(browser, "ε-regret") == f"{wanted['regrets'][-1]:.3f}".replace("-", MINUS)
        assert fact(browser, "Its bound now").startswith(f"{wanted['bound']:.3f}")


@pytest.mark.parametrize("adversary", ["halves", "leaders"])
def test_a_stored_adversary_plays_any_number_of_chips(open_page, adversary):
    browser = open_page(f"#view=game&n=12&t=60&k=3&foe={adversary}")
    press(browser, "#finish")
    assert fact(browser, "Round") == "60 of 60"
    assert "✓" in fact(browser, "Its bound now")
    find(browser, "#n").send_keys("\ue012" * 10)  # the left arrow
    assert state(browser)["setup"]["n"] == 2
    assert state(browser)["setup"]["rank"] == 1
    assert count(browser, ".chip") == 2
    rounds = find(browser, "#horizon")
    rounds.send_keys("\ue011")  # home
    assert fact(browser, "Round") == "5 of 5"


CLIPBOARD = "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (x) => %s}})"


@pytest.mark.parametrize("allowed", [True, False])
def test_copy_link_copies_the_link_or_shows_it(open_page, allowed):
    browser = open_page("#view=game&player=minimax&n=3&t=10&k=2&foe=greedy")
    refuse = "{ throw new DOMException('not allowed') }"
    browser.execute_script(CLIPBOARD % ("{ window.copied = x }" if allowed else refuse))
    tap(browser, "#play")
    press(browser, "#game button.share")
    shown = "document.querySelector('#status input')?.value"
    link = browser.execute_script(f"return {'window.copied' if allowed else shown}")
    assert link == browser.current_url
    assert "player=minimax" in link
    assert ("copied" in find(browser, "#status").text) == allowed


def test_keys_play_a_round(open_page):
    browser = open_page("#view=game&n=4&t=10&marks=0000")
    body = find(browser, "body")
    body.send_keys("2")
    assert state(browser)["marks"] == [0, 1, 0, 0]
    body.send_keys("n")
    assert fact(browser, "Round") == "1 of 10"
    body.send_keys("b")
    assert fact(browser, "Round") == "0 of 10"


@pytest.mark.parametrize(
    "fragment",
    [
        "#view=game&player=toString&n=99&t=-5&k=77&foe=constructor&rounds=01x2&marks=9",
        "#view=boost&points=12p9999q&round=-3",
        "#nonsense",
    ],
)
def test_a_bad_link_opens_a_good_page(open_page, fragment):
    browser = open_page(fragment)
    setup = state(browser)["setup"]
    assert setup["player"] in PLAYERS
    assert 2 <= setup["n"] <= 12
    assert 5 <= setup["horizon"] <= 60
    assert 1 <= setup["rank"] < setup["n"]


def test_the_first_view_has_a_shape_and_the_bound_in_sight(open_page):
    browser = open_page()
    assert fact(browser, "Round") == "10 of 20"
    assert len({round(s, 6) for s in positions_of(browser)}) > 1
    label = browser.execute_script("return document.querySelector('#line .alarm').textContent")
    assert label.endswith(": the bound at round 20")  # and no arrow towards it
    assert float(fact(browser, "ε-regret")) > 0.5


def positions_of(browser):
    return browser.execute_script("return replay(page.setup, page.rounds).at(-1).positions")


def test_a_number_explains_itself_when_it_is_pressed(open_page):
    browser = open_page()
    for name in browser.execute_script("return Object.keys(GAME_MEANINGS)"):
        assert fact(browser, name)
    tap(browser, "#game-facts .ask")
    assert "How many rounds" in find(browser, "#game-facts + .why").text
    assert find(browser, "#game-facts .ask").get_attribute("title")
    tap(browser, "#play")
    assert "How many rounds" in find(browser, "#game-facts + .why").text  # it stays
    tap(browser, "#game-facts .ask")
    assert find(browser, "#game-facts + .why").text == ""


def test_the_tour_has_five_steps(open_page):
    browser = open_page("#view=boost")
    tap(browser, "#tour-start")
    for step in range(1, 6):
        assert find(browser, "#tour-text").text.startswith(f"{step} of 5.")
        assert count(browser, ".toured") == 1
        tap(browser, "#tour-next")
    assert not find(browser, "#tour").is_displayed()
    assert count(browser, ".toured") == 0
    tap(browser, "#tour-start")
    find(browser, "#tour-next").send_keys("\ue00c")  # escape
    assert not find(browser, "#tour").is_displayed()


def test_the_tour_begins_with_a_game_that_goes_on(open_page):
    browser = open_page("#view=game&player=exp&n=4&t=10&foe=coins")
    tap(browser, "#finish")
    assert not find(browser, "#play").is_enabled()
    tap(browser, "#tour-start")
    assert fact(browser, "Round") == "10 of 20"
    assert find(browser, "#play").is_enabled()
    tap(browser, "#tour-end")


def test_a_preset_keeps_its_words_while_epsilon_is_moved(open_page):
    browser = open_page()
    choose(browser, "presets", "epsilon")
    before = fact(browser, "Its bound now")
    find(browser, "#rank").send_keys("\ue014")  # the right arrow
    assert fact(browser, "Its bound now") < before
    assert "slider" in find(browser, "#preset-says").text
    find(browser, "#horizon").send_keys("\ue012")
    assert find(browser, "#preset-says").text == ""


def test_theorem_2_shows_its_bound_and_not_an_arrow_towards_it(open_page):
    browser = open_page()
    choose(browser, "presets", "theorem2")
    label = browser.execute_script("return document.querySelector('#line .alarm').textContent")
    assert label.endswith(": the bound at round 60")


def test_a_set_without_an_edge_says_why_nothing_happens(open_page):
    browser = open_page("#view=boost")
    choose(browser, "examples", "moons")
    assert find(browser, "#boost-says").text == ""
    choose(browser, "examples", "xor")
    assert "boosting cannot begin" in find(browser, "#boost-says").text


def test_every_preset_plays_and_its_claim_holds(open_page):
    browser = open_page()
    for name in browser.execute_script("return Object.keys(PRESETS)"):
        choose(browser, "presets", name)
        setup = state(browser)["setup"]
        rounds = np.array(state(browser)["rounds"])
        assert find(browser, "#preset-says").text
        wanted = game_numbers(Setup(**setup), rounds)
        assert (np.diff(wanted["sums"]) <= 1e-9).all()
        assert max(wanted["regrets"]) <= wanted["bound"]
        assert wanted["regrets"][-1] > 0
        if name == "tight":
            assert wanted["regrets"][-1] > 0.85 * wanted["bound"]
        if name == "minimax":
            assert "nothing is lost" in find(browser, "#line-caption").text


def test_play_all_moves_round_by_round_where_motion_is_wanted(open_page):
    browser = open_page("#view=game&n=4&t=30&foe=coins")
    media = {"features": [{"name": "prefers-reduced-motion", "value": "no-preference"}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    tap(browser, "#finish")
    assert find(browser, "#finish").text == "Stop"
    assert len(state(browser)["rounds"]) < 30
    tap(browser, "#finish")
    assert find(browser, "#finish").text == "Play all"
    stopped = len(state(browser)["rounds"])
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert len(state(browser)["rounds"]) == stopped


def test_the_race_is_run_by_four_players_on_the_same_losses(open_page):
    browser = open_page("#view=game&player=exp&n=4&t=20&k=1&foe=coins")
    tap(browser, "#finish")
    tap(browser, "#race summary")
    rounds = np.array(state(browser)["rounds"])
    shown = browser.execute_script(
        "return Object.fromEntries(RACERS.map((r) => [r, raceOf(r, page).regrets.at(-1)[1]]))"
    )
    for player in PLAYERS:
        wanted = game_numbers(Setup(player, 4, 20, 1), rounds)["regrets"][-1]
        assert shown[player] == pytest.approx(wanted, abs=TOLERANCE)
    regrets = [
        float(cell.replace(MINUS, "-"))
        for cell in browser.execute_script(
            "return [...document.querySelectorAll('#race-table tbody tr')]"
            ".map((row) => row.cells[2].textContent)"
        )
    ]
    assert regrets == sorted(regrets)
    assert count(browser, "#race-chart .line") == 4


@pytest.mark.parametrize(("player", "n", "horizon"), [("2-norm", 4, 20), ("exp", 6, 30)])
def test_the_lookahead_adversary_is_as_strong_as_that_of_the_library(compute, player, n, horizon):
    setup = Setup(player, n, horizon, 1)
    ours = compute("presetRounds", {"setup": asdict(setup), "foe": "lookahead"})
    regret = game_numbers(setup, np.array(ours))["regrets"][-1]
    game = play(
        PotentialPlayer(setup.potential()), LookaheadAdversary(horizon), n_chips=n, horizon=horizon
    )
    assert regret >= 0.9 * -game.chips.positions.min()


def test_tasks_are_marked_when_they_are_done(open_page):
    browser = open_page("#view=game&player=minimax&n=6&t=40&k=1&foe=lookahead")
    assert count(browser, "#game-tasks .done") == 0
    tap(browser, "#finish")
    # at the end the sum of a minimax player has fallen; two of the tasks are done
    assert count(browser, "#game-tasks .done") == 2
    open_page("#view=boost&points=1010p9090p1090n9010n")  # XOR
    assert "✓" in find(browser, "#boost-tasks li").text


def test_each_view_has_its_own_title(open_page):
    browser = open_page()
    first = browser.title
    press(browser, "#tab-boost")
    assert browser.title != first
    assert find(browser, "h1").text == "Boost what you draw"


# ------------------------------------------------------------------------ the view of boosting


def plain_adaboost(points, n_rounds):
    """Return AdaBoost's margins after ``n_rounds`` rounds, from all stumps."""
    X = np.array([[point["x"], point["y"]] for point in points], dtype=float)
    y = np.array([point["label"] for point in points])
    answers = [
        np.where(column <= cut, 1, -1)
        for column in X.T
        for cut in (np.unique(column)[:-1] + np.unique(column)[1:]) / 2
    ]
    scores, total = np.zeros(y.size), 0.0
    for _ in range(n_rounds):
        w = np.exp(-y * scores)
        w /= w.sum()
        edges = [float(w @ (y * each)) / 2 for each in answers]
        best = int(np.argmax(np.abs(np.round(edges, 12))))
        edge = abs(edges[best])
        alpha = 0.5 * np.log((0.5 + edge) / (0.5 - edge))
        scores += alpha * np.sign(edges[best]) * answers[best]
        total += alpha
    return y * scores / total


def test_adaboost_beside_it_is_adaboost(compute):
    points = random_points(40, seed=1)
    states = compute("adaBoost", points, 15)
    np.testing.assert_allclose(states[15]["margins"], plain_adaboost(points, 15), atol=1e-9)


def test_theorem_3_is_drawn_as_the_library_promises_it(compute):
    points, n_rounds = random_points(40, seed=1), 100
    numbers = fit_numbers(points, n_rounds)
    edges = [{"edge": edge} for edge in numbers["edges"]]
    steps = compute("theorem3", len(points), edges)
    certificate = MarginCertificate.of_regret(
        "page", n_rounds, Margins.of_examples(numbers["margins"]), 0.0,
        float(np.mean(numbers["edges"])), Setup("normalhedge.dt", 2, 5, 1).potential().bound,
    )  # fmt: skip
    for theta, share in steps:
        if -1 < theta < 1:
            below = certificate.promised[certificate.thetas < theta - 1e-9]
            assert below.max(initial=0.0) <= share + 1e-9


@pytest.mark.parametrize("name", ["xor", "moons", "mislabelled"])
def test_the_new_examples_are_what_their_names_say(open_page, name):
    browser = open_page("#view=boost&points=")
    choose(browser, "examples", name)
    points = state(browser)["points"]
    assert len({point["label"] for point in points}) == 2
    if name == "xor":
        assert fact(browser, "Stump of this round") == "none has an edge"
    else:
        press(browser, "#round-ten")
        assert fact(browser, "AdaBoost's error").endswith("%")
        assert fact(browser, "Looks saved").endswith("%")


def test_a_person_draws_points_and_boosts_them(open_page):
    browser = open_page("#view=boost&points=&round=0")
    plane = find(browser, "#plane")
    assert not find(browser, "#round-next").is_enabled()
    for tool, dx, dy in [("1", -80, 20), ("1", -60, -50), ("-1", 60, 10), ("-1", 90, -70)]:
        press(browser, f"[data-tool='{tool}']")
        click_at(browser, plane, dx, dy)
    points = state(browser)["points"]
    assert [point["label"] for point in points] == [1, 1, -1, -1]
    assert count(browser, "#plane .mark") == 4

    press(browser, "#round-next", "#round-next")
    stump = fit_numbers(points, 2)["stumps"][1]
    assert fact(browser, "Stump of this round") == f"x ≤ {stump[1]:g} is +"
    assert fact(browser, "Training error") == "0 %"
    press(browser, "#round-back")
    assert state(browser)["round"] == 1

    press(browser, "[data-tool='0']")
    click_at(browser, plane, 60, 10)
    assert len(state(browser)["points"]) == 3
    plane.send_keys("\ue013\ue013 ")  # the cursor goes up twice; nothing is near enough to erase
    assert len(state(browser)["points"]) == 3
    press(browser, "[data-tool='1']")
    plane.send_keys(" ")
    assert len(state(browser)["points"]) == 4

    link, before = browser.current_url, state(browser)
    open_page("#" + link.split("#")[1])
    after = state(browser)
    assert (after["points"], after["round"]) == (before["points"], before["round"])


def test_a_run_that_ended_early_is_left_by_a_step_back(open_page):
    """Points that contradict each other may leave no stump an edge."""
    browser = open_page("#view=boost&points=9090n5050p1010n9010p5050n&round=50")
    assert find(browser, "#round-out").text == "4 of 4"
    with pytest.warns(NoEdgeWarning):
        assert len(fit_numbers(state(browser)["points"], 50)["edges"]) == 4
    press(browser, "#round-back")
    assert state(browser)["round"] == 3
    open_page("#view=boost&points=1010p1010n")
    assert fact(browser, "Stump of this round") == "none has an edge"


def test_boosting_opens_at_round_30_and_its_axes_have_names(open_page):
    browser = open_page("#view=boost")
    assert state(browser)["round"] == 30
    for chart in ("weight-chart", "margin-chart", "zero-chart"):
        assert count(browser, f"#{chart} .axis-name") == 2


def test_ignored_points_are_outlines(open_page):
    browser = open_page("#view=boost&round=60")
    points = state(browser)["points"]
    wanted = fit_numbers(points, 61)
    ignored = sum(p == 0.0 for p in wanted["weights"][60])
    assert ignored > 0
    assert count(browser, "#plane .mark.empty") == ignored
    assert fact(browser, "Ignored next").startswith(f"{ignored} (")
    assert fact(browser, "Its edge") == f"{wanted['edges'][59]:.4f}"
    press(browser, "#clear")
    assert count(browser, "#plane .mark") == 0


# ------------------------------------------------------------------------ for everyone


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
@pytest.mark.parametrize("view", ["game", "boost"])
def test_a_view_fits_the_screen_and_everything_has_a_name(open_page, view, size):
    browser = open_page(f"#view={view}&n=12&t=60&foe=coins&round=20", size)
    if view == "game":
        tap(browser, "#finish")
    width = browser.execute_script("return document.documentElement.scrollWidth")
    assert width <= size["width"]
    nameless = browser.execute_script(
        "return [...document.querySelectorAll('button, input, select, svg')].filter((e) =>"
        " !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length))"
        ".filter((e) => e.checkVisibility()).map((e) => e.outerHTML)"
    )
    assert nameless == []


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
@pytest.mark.parametrize("view", ["game", "boost"])
def test_no_text_leaves_its_drawing(open_page, view, size):
    browser = open_page(f"#view={view}&n=12&t=60&foe=coins&round=20", size)
    if view == "game":
        tap(browser, "#finish")
    assert texts_outside(browser) == []


def test_the_theme_follows_the_system_and_a_switch(open_page):
    browser = open_page()

    def ground():
        return browser.execute_script("return getComputedStyle(document.body).backgroundColor")

    seen = {}
    for scheme in ("light", "dark"):
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        seen[scheme] = ground()
    assert seen["light"] != seen["dark"]
    press(browser, "#theme")
    assert ground() == seen["light"]
    press(browser, "#theme")
    assert ground() == seen["dark"]


def test_tabs_lead_to_both_views(open_page):
    browser = open_page()
    press(browser, "#tab-boost")
    assert find(browser, "#plane").is_displayed()
    assert not find(browser, "#line").is_displayed()
    find(browser, "#tab-boost").send_keys("\ue012")
    assert find(browser, "#line").is_displayed()
