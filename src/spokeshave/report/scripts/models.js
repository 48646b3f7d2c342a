// The final model beside the model on all features, with their test results.

function startModels() {
  const { model, full_model: full } = record;
  const both = full ? [model, full] : [model];
  find("models-head").replaceChildren(makeRow(["", ...listHeads(both)], "th"));
  find("models-rows").replaceChildren(...listModelRows(both).map((cells) => makeRow(cells)));
  setText(find("models-lead"), describeJudgement(model.judgement));
  listJudged(both);
  show("models");
}

function listHeads(both) {
  const made = both.map((model) => capitalize(model.made_by));
  return both.length === 2 ? [...made, "Difference"] : made;
}

function describeJudgement(judgement) {
  if (!judgement) return "";
  return `Tested on ${formatCount(judgement.n_documents)} documents: ${judgement.judged_on}.`;
}

function listModelRows(both) {
  const judged = both.some((model) => model.judgement);
  const rows = [...(judged ? listQualities() : []), ...listCosts()];
  return rows.map((row) => writeModelRow(row, both));
}

function listCosts() {
  const unit = capitalize(data.unit);
  return [
    { label: unit, key: "n_features", write: formatCount, round: Math.round },
    { label: "Weights", key: "n_weights", write: formatCount, round: Math.round },
    { label: `${unit} per document`, key: "per_document", write: formatMean, round: roundMean },
    { label: "File", key: "n_bytes", write: formatSize, round: roundSize },
  ].map((row) => ({ ...row, compare: (now, before) => formatChange(now, before, row.round) }));
}

function listQualities() {
  const compare = (now, before) => formatDifference(subtract(now, before));
  const tops = Object.keys(record.model.judgement?.precision_at_k ?? {});
  return [
    ["Accuracy", (judgement) => judgement.accuracy],
    ["Macro-F1", (judgement) => judgement.macro_f1],
    ["Micro-F1", (judgement) => judgement.micro_f1],
    ...tops.map((k) => [`Precision at ${k}`, (judgement) => judgement.precision_at_k[k]]),
  ].map(([label, read]) => ({
    label,
    read: (model) => (model.judgement && read(model.judgement)) ?? null,
    write: formatMeasure,
    compare,
  }));
}

function writeModelRow({ label, key, read = (model) => model[key], write, compare }, both) {
  const values = both.map(read);
  const difference = both.length === 2 ? [compare(values[0], values[1])] : [];
  return [label, ...values.map(write), ...difference];
}

function listJudged(both) {
  const judged = both.map((model) => new Map(Object.entries(model.judgement?.classes ?? {})));
  const names = [...judged[0].keys()];
  find("judged-head").replaceChildren(makeRow(["Class", ...listHeads(both)], "th"));
  find("judged-rows").replaceChildren(...names.map((name) => makeRow(listScores(name, judged))));
  show("judged", names.length > 0);
}

function listScores(name, judged) {
  const scores = judged.map((each) => each.get(name) ?? null);
  const difference = scores.length === 2 ? [formatDifference(subtract(...scores))] : [];
  return [name, ...scores.map(formatMeasure), ...difference];
}
