// The record of the run, and functions to look up values in it.

const { record, curveNames, charts } = JSON.parse(find("content").textContent);
const { curves, cuts, choice, data } = record;
const first = curves[0] ?? null;
const classNames = first ? first.names : [];
const hasAverages = classNames.length > 1;
const classSizes = new Map(record.classes.map((each) => [each.name, each.n_documents]));
const rowsOfCurves = curves.map((curve) => indexNames(curve.names));
const cutsOfCurves = curves.map((curve) => first.fractions.map((at) => findFraction(curve, at)));
const wordsOfClasses = new Map(record.words.map((each) => [each.name, each]));

function indexNames(names) {
  return new Map(names.map((name, index) => [name, index]));
}

function findFraction(curve, fraction) {
  return curve.fractions.findIndex((each) => Math.abs(each - fraction) <= 0.004 * fraction);
}

// Return a measure at each cut of the first curve, with its errors if known.
function trace(curve, measure, average, className) {
  const measured = curves[curve].measures[measure];
  const indices = cutsOfCurves[curve];
  const pick = (values) => indices.map((index) => values?.[index] ?? null);
  if (!measured) return { values: pick(null), errors: pick(null) };
  if (className === null) {
    return { values: pick(measured[average]), errors: pick(measured[`${average}_error`]) };
  }
  return { values: pick(measured.classes[rowsOfCurves[curve].get(className)]), errors: pick(null) };
}

// Return a measure of a class at one cut of the first curve.
function readClass(curve, measure, className, cut) {
  const row = rowsOfCurves[curve].get(className);
  return curves[curve].measures[measure]?.classes[row]?.[cutsOfCurves[curve][cut]] ?? null;
}

function findBest(values) {
  const known = values.filter(isKnown);
  return known.length ? values.indexOf(Math.max(...known)) : -1;
}

function meanFeatures(cut, curve = 0) {
  const index = cutsOfCurves[curve][cut];
  const kept = curves[curve].n_features.map((row) => row[index]);
  return kept.reduce((sum, each) => sum + each, 0) / Math.max(kept.length, 1);
}

function keptFeatures(className, cut, curve = 0) {
  const row = rowsOfCurves[curve].get(className);
  return curves[curve].n_features[row]?.[cutsOfCurves[curve][cut]] ?? null;
}

function sayKept(cut) {
  return formatCount(cuts ? cuts.n_features[cut] : meanFeatures(cut));
}

function sayAll() {
  const isFull = first && first.fractions.at(-1) > 0.9999;
  return isFull ? `all ${data.unit}` : "the largest cut";
}

function sayWhere(curve) {
  if (curve.evaluated_on === "test set") return "on the test set";
  const folds = curve.n_folds > 1 ? `${curve.n_folds}-fold ` : "";
  return `in ${folds}${curve.evaluated_on}`;
}
