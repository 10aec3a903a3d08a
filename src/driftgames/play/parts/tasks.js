// Tasks: what to try, and whether it is done in the state that is shown.

const GAME_TASKS = [
  {
    text: "Send a chip beyond −3, with six chips or more.",
    done: ({ setup }, state) => setup.n >= 6 && Math.min(...state.positions) <= -3,
  },
  {
    text: "Make the sum of potentials fall by less than half in five rounds or more.",
    done: (_, state, first) => state.t >= 5 && state.sum > first.sum / 2 && state.regret > 0,
  },
  {
    text: "Use more than three quarters of a bound, to the last round. (Which player's is smallest?)",
    done: ({ setup }, state) => state.t === setup.horizon && state.regret > 0.75 * state.bound,
  },
];

const BOOST_TASKS = [
  {
    text: "Make a set on which it fails: two classes, and no stump has an edge.",
    done: ({ points }, run) => hasBothClasses(points) && run.stumps.length === 0,
  },
  {
    text: "Get more than half of twenty or more points ignored.",
    done: ({ points }, run, t) => points.length >= 20 && run.states[t].zeroShare > 0.5,
  },
  {
    text: "Reach a training error of 0 on twenty points that one stump cannot separate.",
    done: ({ points }, run, t) =>
      points.length >= 20 && t > 0 && run.states[t].error === 0 && run.states[1].error > 0,
  },
];

/** Show the tasks, with a mark at those that are done. */
function showTasks(list, tasks, ...seen) {
  list.replaceChildren(
    ...tasks.map(({ text, done }) => {
      const kept = done(...seen);
      const mark = element("span", { class: "mark-done", "aria-hidden": "true" }, kept ? "✓" : "○");
      return element("li", { class: kept ? "done" : "" }, mark, ` ${text}${kept ? " Done." : ""}`);
    }),
  );
}
