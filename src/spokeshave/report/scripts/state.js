// The state of the page: one cut, measure, average, class and method, which every section follows.
// A class or method of null means all of them.

const state = { cut: 0, measure: null, average: "macro", class: null, method: null };
const followers = [];

function follow(follower) {
  followers.push(follower);
}

function change(changes) {
  const changed = new Set(Object.keys(changes).filter((key) => state[key] !== changes[key]));
  if (!changed.size) return;
  Object.assign(state, changes);
  followers.forEach((follower) => follower(changed));
}

function clampCut(cut) {
  return Math.min(Math.max(cut, 0), first.fractions.length - 1);
}

// The curve of the tables and sentences, even if all methods are drawn.
function currentCurve() {
  return state.method ?? 0;
}

function defaultState() {
  const measures = first ? Object.keys(first.measures) : [];
  const measure = measures.includes(choice?.measure) ? choice.measure : defaultMeasure(measures);
  const average = choice?.average === "micro" ? "micro" : "macro";
  const values = first?.measures[measure]?.[average] ?? [];
  const best = findBest(values);
  const last = (first?.fractions.length ?? 1) - 1;
  const cut = choice?.index ?? (best < 0 ? last : best);
  return { cut, measure, average, class: null, method: null };
}

function defaultMeasure(measures) {
  return measures.includes("best_f1") ? "best_f1" : measures[0] ?? null;
}
