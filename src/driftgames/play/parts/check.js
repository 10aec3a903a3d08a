// The page checks itself: it replays games and a fit of the library and compares the numbers.

/** Return the largest difference, relative to max(1, |number|), between two lists of any depth. */
function largestDifference(ours, theirs) {
  if (typeof theirs === "number") return Math.abs(ours - theirs) / Math.max(1, Math.abs(theirs));
  if (ours.length !== theirs.length) return Infinity;
  return Math.max(0, ...theirs.map((each, i) => largestDifference(ours[i], each)));
}

/** Return the numbers of a game: what the library's record of it holds. */
function gameNumbers(setup, rounds) {
  const states = replay(setup, rounds);
  return {
    weights: states.filter((state) => state.p !== null).map((state) => state.p),
    positions: states.map((state) => state.positions),
    sums: states.map((state) => state.sum),
    regrets: states.map((state) => state.regret),
    bound: states[0].t === 0 ? potentialOf(setup).bound(setup.horizon) : NaN,
  };
}

/** Return the numbers of a fit: what the library's record of it holds. */
function fitNumbers(points, nRounds) {
  const { states, stumps } = boost(points, nRounds);
  return {
    stumps: stumps.map(({ feature, threshold, leftVote }) => [feature, threshold, leftVote]),
    edges: stumps.map((stump) => stump.edge),
    weights: states.slice(0, stumps.length).map((state) => state.p),
    zeroShares: states.slice(1).map((state) => state.zeroShare),
    errors: states.slice(1).map((state) => state.error),
    margins: states.at(-1).margins,
  };
}

/** Return the largest difference between this page and the records of the library. */
function checkAgainstLibrary({ games, fits }) {
  const compare = (ours, theirs) =>
    Math.max(...Object.keys(theirs).map((name) => largestDifference(ours[name], theirs[name])));
  return Math.max(
    ...games.map(({ setup, rounds, numbers }) => compare(gameNumbers(setup, rounds), numbers)),
    ...fits.map(({ points, nRounds, numbers }) => compare(fitNumbers(points, nRounds), numbers)),
  );
}
