// The minimax potentials of the game with moves in [-1, 1], solved on a lattice.
//
//   Phi_T(s) = 1{s <= -R},  Phi_{t-1}(s) = min_{w >= 0} max_z (Phi_t(s + z) + w z)   [LS14, Eq. (1)]
//
// The inner problem is the upper concave envelope of z -> Phi_t(s + z) at 0, and the weight is
// its negated slope there. `MinimaxPotential.on_interval` of the library does the same.

const PER_UNIT = 32; // lattice points in a unit
const ON_LATTICE = 1e-9; // a position so near to a lattice point stands on it

/**
 * Return the potential of the minimax player.
 *
 * R is the least lattice point with Phi_0(0) < epsilon. A chip at s after t rounds counts as the
 * lattice point to its left plus t spacings, so that the sum of potentials never rises. This
 * makes the bound larger by T spacings.
 */
function minimaxPotential(horizon, epsilon) {
  const layers = solveLayers(horizon);
  const radius = leastRadius(layers[0].values, horizon, epsilon);
  const look = (s, t, layer, part) => {
    const index = latticeIndex(s, t) + radius - layer.first;
    return part[clamp(index, 0, part.length - 1)];
  };
  const bound = Math.min(radius / PER_UNIT + horizon / PER_UNIT, horizon);
  return {
    title: "Minimax",
    radius: radius / PER_UNIT,
    value: (s, t) => look(s, t, layers[t], layers[t].values),
    exponent: () => 0,
    weight: (s, t) => look(s, t - 1, layers[t - 1], layers[t].weights),
    bound: () => bound,
  };
}

/** Return the index of the lattice point that a chip at s counts as after t rounds. */
function latticeIndex(s, t) {
  const nearest = Math.round(s * PER_UNIT);
  const onLattice = Math.abs(nearest / PER_UNIT - s) <= ON_LATTICE;
  const left = onLattice ? nearest : Math.floor(s * PER_UNIT);
  return Math.min(left + t, t * PER_UNIT);
}

/**
 * Return the layers t = 0, ..., T of the game with the loss 1{u <= 0}, where u = s + R.
 *
 * The same table serves every R from 0 to T: layer t covers u from -t to T + t, and `first` is
 * the index of its first point. `weights` of layer t belong to the points of layer t - 1.
 */
function solveLayers(horizon) {
  const first = -horizon * PER_UNIT;
  const last = new Float64Array(3 * horizon * PER_UNIT + 1);
  for (let i = 0; i < last.length; i++) last[i] = first + i <= 0 ? 1 : 0;
  const layers = [{ first, values: last, weights: null }];
  for (let t = horizon; t >= 1; t--) {
    const later = layers[0];
    const earlier = envelopes(later.values);
    later.weights = earlier.weights;
    layers.unshift({ first: later.first + PER_UNIT, values: earlier.values, weights: null });
  }
  return layers;
}

/** Return the envelope over the moves at 0 and its negated slope, for every point but the ends. */
function envelopes(layer) {
  const n = layer.length - 2 * PER_UNIT;
  const [values, weights] = [new Float64Array(n), new Float64Array(n)];
  const hull = new Int32Array(2 * PER_UNIT + 1);
  for (let i = 0; i < n; i++) {
    const top = concaveHull(layer, i, hull);
    let right = 1;
    while (right < top - 1 && hull[right] < PER_UNIT) right++;
    const [z1, z2] = [hull[right - 1], hull[right]];
    const [f1, f2] = [layer[i + z1], layer[i + z2]];
    const share = (PER_UNIT - z1) / (z2 - z1);
    let slope = (f1 - f2) / (z2 - z1);
    if (z2 === PER_UNIT && right < top - 1) {
      const z3 = hull[right + 1]; // at a corner the mean of both slopes is taken
      slope = 0.5 * (slope + (f2 - layer[i + z3]) / (z3 - z2));
    }
    values[i] = (1 - share) * f1 + share * f2;
    weights[i] = slope * PER_UNIT;
  }
  return { values, weights };
}

/** Write the corners of the upper concave hull of layer[i], ..., to hull; return their number. */
function concaveHull(layer, i, hull) {
  let top = 0;
  for (let z = 0; z < hull.length; z++) {
    const f = layer[i + z];
    while (top >= 2) {
      const [z1, z2] = [hull[top - 2], hull[top - 1]];
      const f1 = layer[i + z1];
      // the middle point stays only if it lies strictly above the chord
      if ((layer[i + z2] - f1) * (z - z1) > (f - f1) * (z2 - z1)) break;
      top--;
    }
    hull[top] = z;
    top++;
  }
  return top;
}

/** Return the least R, in lattice steps, with Phi_0(0) < epsilon; T if there is none. */
function leastRadius(start, horizon, epsilon) {
  // the slack is that of the library: rounding must not count as below
  const found = start.findIndex((value) => value * (1 + 1e-12) < epsilon);
  return found < 0 ? horizon * PER_UNIT : found;
}
