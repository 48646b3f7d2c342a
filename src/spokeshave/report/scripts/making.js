// The command, data, settings, times and versions of the run.

function startMaking() {
  const { making, settings } = record;
  find("command").replaceChildren(...listWords(making.command));
  show("command", making.command !== "");
  const parts = [
    ["Data", listData()],
    ["Settings", [...Object.entries(settings), ...listSeed(making)]],
    ["Time", listSeconds(making.seconds), true],
    ["Time of each curve", curves.map((curve, index) => [curveNames[index], sayCurveTime(curve)])],
    ["Versions", Object.entries(making.versions)],
  ];
  const filled = parts.filter(([, pairs]) => pairs.length);
  find("making-facts").replaceChildren(...filled.map((part) => makeFacts(...part)));
  show("making");
}

// Each word is an element, so that lines do not break inside an option.
function listWords(command) {
  return command.split(" ").flatMap((word) => [make("span", { textContent: word }), " "]);
}

function makeFacts(title, pairs, isNumeric = false) {
  return make("div", {}, make("h3", { textContent: title }), makePairs(pairs, isNumeric));
}

function listData() {
  const pairs = [
    ["Source", data.source],
    ["Read as", data.read],
    ["Documents", formatCount(data.n_documents)],
    ["Rows skipped", formatCount(data.n_skipped)],
    [capitalize(data.unit), `${formatCount(data.n_features)}, ${sayPerDocument()} per document`],
    ["Labels", data.kind === "multilabel" ? "any number per document" : "one per document"],
  ];
  if (data.test_source !== null) pairs.push(["Test set", data.test_source]);
  if (data.n_test !== null) pairs.push(["Test documents", formatCount(data.n_test)]);
  pairs.push(["Fingerprint", data.fingerprint], ["Finished", sayTime(record.making.finished)]);
  return pairs.filter(([, text]) => text !== "");
}

function sayPerDocument() {
  return formatMean(data.per_document);
}

function sayTime(finished) {
  return finished.replace(/^([\d-]{10})T(\d\d:\d\d)[\d:.]*(Z|\+00:00)?$/, "$1 $2 UTC");
}

function listSeed(making) {
  return making.seed === null ? [] : [["seed", String(making.seed)]];
}

function sayCurveTime({ seconds, fit_seconds: fits }) {
  return `${formatSeconds(seconds)}, ${formatSeconds(fits)} of it training`;
}

function listSeconds(seconds) {
  const steps = Object.entries(seconds);
  const total = steps.reduce((sum, [, each]) => sum + (each ?? 0), 0);
  const pairs = steps.map(([step, each]) => [step, formatSeconds(each)]);
  return steps.length > 1 ? [...pairs, ["in all", formatSeconds(total)]] : pairs;
}
