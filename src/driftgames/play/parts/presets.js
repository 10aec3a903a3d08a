// Games that show a theorem, one press each.

const PRESETS = {
  start: {
    title: "A first look",
    setup: { player: "normalhedge.dt", n: 6, horizon: 20, rank: 1 },
    foe: "coins",
    rounds: 10,
    says: "Ten rounds are played. Now you charge the losses: press bars, then Play round.",
  },
  theorem2: {
    title: "Theorem 2: regret below its bound",
    setup: { player: "normalhedge.dt", n: 6, horizon: 60, rank: 1 },
    foe: "lookahead",
    says: "The strongest adversary of the page plays 60 rounds. The regret stays below the bound, at every round. [LS14, Thm. 2]",
  },
  equation2: {
    title: "Equation (2): the sum never rises",
    setup: { player: "2-norm", n: 8, horizon: 40, rank: 1 },
    foe: "greedy",
    says: "The greedy adversary keeps the sum of potentials as high as it can. It falls all the same. [LS14, Eq. (2)]",
  },
  tight: {
    title: "A bound that bites",
    setup: { player: "minimax", n: 6, horizon: 40, rank: 1 },
    foe: "lookahead",
    says: "The minimax player has the smallest bound, and the lookahead adversary uses nine tenths of it. [LS14, Sec. 3.2]",
  },
  epsilon: {
    title: "Corollary 2: any ε, no tuning",
    setup: { player: "normalhedge.dt", n: 12, horizon: 60, rank: 3 },
    foe: "coins",
    says: "Move the slider of ε: the bound is lower for a larger ε, and the player never changes. [LS14, Cor. 2]",
  },
  minimax: {
    title: "Section 3.2: the minimax player",
    setup: { player: "minimax", n: 8, horizon: 20, rank: 1 },
    foe: "halves",
    says: "Its potential is the chance to be lost, solved backwards from the end. At the end it is 1 or 0, and no chip is lost. [LS14, Sec. 3.2]",
  },
};

/** Return the first rounds of a preset, as its adversary plays them. */
function presetRounds({ setup, foe, rounds = setup.horizon }) {
  const played = [];
  let state = replay(setup, played).at(-1);
  while (played.length < rounds && state.p !== null) {
    const losses = ADVERSARIES[foe].losses(setup, state, []);
    played.push(losses);
    state = nextState(setup, potentialOf(setup), state, losses);
  }
  return played;
}

/** Begin a preset and let it play. */
function choosePreset(name) {
  const preset = PRESETS[name];
  const marks = new Array(preset.setup.n).fill(0);
  marks[0] = 1;
  stopPlaying();
  change({ setup: preset.setup, rounds: [], marks, adversary: preset.foe });
  byId("preset-says").textContent = preset.says;
  playRounds(preset.rounds ?? preset.setup.horizon, () => {
    if (name === "start") change({ adversary: "you" });
  });
}
