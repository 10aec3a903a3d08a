// Sums, and numbers as text.

/** Return the sum of the values, added from left to right. */
function sum(values) {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** Return the inner product of two lists. */
function dot(a, b) {
  let total = 0;
  for (let i = 0; i < a.length; i++) total += a[i] * b[i];
  return total;
}

/** Return the value, moved into [low, high]. */
function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

/** Return weights as a distribution; if all are zero, the uniform one. */
function normalise(weights) {
  const total = sum(weights);
  return weights.map((w) => (total > 0 ? w / total : 1 / weights.length));
}

/** Return a number with a few digits and a real minus sign. */
function short(value, digits = 2) {
  if (!Number.isFinite(value)) return "∞";
  const text = Math.abs(value) >= 1e5 ? value.toExponential(digits) : value.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

/** Return a share as a percentage. */
function percent(share) {
  if (share > 0 && share < 0.0005) return "<0.1 %";
  return `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
}

/** Return a generator of numbers in [0, 1); the same seed gives the same numbers (mulberry32). */
function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
