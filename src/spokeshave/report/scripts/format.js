// Numbers as text; unknown values are a dash.

const DASH = "–";
const MINUS = "−";
const SPACE = "\u00a0"; // keeps a number and its unit on one line
const THOUSANDS = new Intl.NumberFormat("en-US");
const MEASURE_NAMES = new Map([
  ["auc", "AUC"],
  ["best_f1", "best F1"],
  ["f1", "F1"],
  ["accuracy", "accuracy"],
  ["precision_at_20", "precision@20"],
  ["label_f1", "F1 of labels"],
]);

function isKnown(value) {
  return typeof value === "number" && Number.isFinite(value);
}

// Return the difference of two measures as they are shown, so that readers get the same.
function subtract(value, reference) {
  if (!isKnown(value) || !isKnown(reference)) return null;
  return Number(value.toFixed(3)) - Number(reference.toFixed(3));
}

function formatMeasure(value) {
  if (!isKnown(value)) return DASH;
  return value.toFixed(3).replace(/^-/, MINUS).replace(/^(−?)0\./, "$1.");
}

function formatError(value) {
  return isKnown(value) ? ` ± ${formatMeasure(value)}` : "";
}

function formatDifference(value) {
  if (!isKnown(value)) return DASH;
  if (Math.abs(value) < 0.0005) return "=";
  return value > 0 ? `+${formatMeasure(value)}` : formatMeasure(value);
}

function formatCount(value) {
  return isKnown(value) ? THOUSANDS.format(Math.round(value)) : DASH;
}

function formatMean(value) {
  if (!isKnown(value)) return DASH;
  return value < 99.95 ? value.toFixed(1) : formatCount(value);
}

function roundMean(value) {
  return value < 99.95 ? Number(value.toFixed(1)) : Math.round(value);
}

function formatShare(share) {
  if (!isKnown(share)) return DASH;
  const percent = 100 * share;
  const rounded = Number(percent.toPrecision(percent < 10 ? 2 : 3));
  return share < 1 && rounded === 100 ? "almost 100%" : `${rounded}%`;
}

function formatTenths(share) {
  return isKnown(share) ? `${(100 * share).toFixed(1)}%` : DASH;
}

// Return the change in percent of two numbers as they are shown, which `round` returns.
function formatChange(now, before, round) {
  if (!isKnown(now) || !isKnown(before) || round(before) === 0) return DASH;
  const percent = Math.round(100 * (round(now) / round(before) - 1));
  if (percent === 0) return "=";
  return percent > 0 ? `+${formatCount(percent)}%` : `${MINUS}${-percent}%`;
}

function formatSize(bytes) {
  if (!isKnown(bytes)) return DASH;
  if (bytes < 1e3) return `${bytes}${SPACE}bytes`;
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(0)}${SPACE}KB`;
  if (bytes < 1e9) return `${(bytes / 1e6).toFixed(1)}${SPACE}MB`;
  return `${(bytes / 1e9).toFixed(1)}${SPACE}GB`;
}

function roundSize(bytes) {
  const unit = [1e9, 1e6, 1e3].find((each) => bytes >= each) ?? 1;
  return Number((bytes / unit).toFixed(unit > 1e3 ? 1 : 0)) * unit;
}

function formatSeconds(seconds) {
  if (!isKnown(seconds)) return DASH;
  if (seconds < 100) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  return `${formatCount(seconds)} s`;
}

function formatWeight(weight) {
  if (!isKnown(weight)) return DASH;
  if (weight !== 0 && Math.abs(weight) < 0.0005) return weight.toExponential(0).replace("-", MINUS);
  return formatMeasure(weight);
}

function formatNumber(value) {
  return isKnown(value) ? String(Number(value.toPrecision(4))).replace(/^-/, MINUS) : DASH;
}

function say(name) {
  return MEASURE_NAMES.get(name) ?? name.replaceAll("_", " ");
}

function sayAverage(average, measure) {
  if (!hasAverages) return say(measure);
  if (measure === "label_f1") return average === "micro" ? "accuracy" : "macro-F1";
  return `${average} ${say(measure)}`;
}

function capitalize(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
