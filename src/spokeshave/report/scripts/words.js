// Words for and against a class, and the words at the edge of the cut.

const words = { shown: null, items: [] };

function startWords() {
  if (!record.words.length) return;
  words.shown = findLargest();
  const select = find("words-class");
  fillNames(select, record.words.map(({ name }) => name));
  select.addEventListener("change", () => showWordsOf(record.words[Number(select.value)].name));
  setText(find("words-title"), `${capitalize(data.unit)} that decide`);
  follow(updateWords);
  updateWords(new Set(["class"]));
  show("words");
}

function findLargest() {
  const size = ({ name }) => classSizes.get(name) ?? 0;
  return record.words.reduce((a, b) => (size(b) > size(a) ? b : a)).name;
}

function showWordsOf(name) {
  if (hasAverages && classNames.includes(name)) change({ class: name });
  else {
    words.shown = name;
    updateWords(new Set(["class"]));
  }
}

function updateWords(changed) {
  const isNew = changed.has("class");
  if (isNew && wordsOfClasses.has(state.class)) words.shown = state.class;
  if (isNew) drawWords();
  markKept();
  writeEdges();
  writeWordsLead();
}

function drawWords() {
  const { name, positive, negative } = wordsOfClasses.get(words.shown);
  const longest = Math.max(...[...positive, ...negative].map((word) => Math.abs(word.weight)));
  find("words-class").value = String(record.words.findIndex((each) => each.name === name));
  setText(find("positive-title"), `For ${name}`);
  setText(find("negative-title"), describeAgainst(name));
  words.items = [
    ...fillBars("positive", positive, longest),
    ...fillBars("negative", negative, longest),
  ];
}

function describeAgainst(name) {
  const others = record.classes.filter((each) => each.name !== name);
  return others.length === 1 ? `For ${others[0].name}` : `Against ${name}`;
}

function fillBars(id, list, longest) {
  const items = list.map((word) => ({ word, element: makeBar(word, longest) }));
  find(id).replaceChildren(...items.map((item) => item.element));
  return items;
}

function makeBar(word, longest) {
  const length = make("span", { className: "length" });
  length.style.width = `${(100 * Math.abs(word.weight)) / (longest || 1)}%`;
  return make(
    "li",
    {},
    make("span", { className: "name", textContent: word.name, title: word.name }),
    make("span", {}, length),
    make("span", { className: "weight", textContent: formatWeight(word.weight) }),
  );
}

function isKept(word) {
  const kept = first ? keptFeatures(words.shown, state.cut) : null;
  return kept === null || word.rank < kept;
}

function markKept() {
  for (const { word, element } of words.items) {
    element.classList.toggle("gone", !isKept(word));
    element.title = isKept(word) ? "" : "not kept at this cut";
  }
}

function writeEdges() {
  const edge = wordsOfClasses.get(words.shown).edges[state.cut];
  show("edges", Boolean(edge && (edge.stay.length || edge.go.length)));
  if (!edge) return;
  for (const [id, names] of [["stay", edge.stay], ["go", edge.go]]) {
    const chips = names.map((name) => make("li", { textContent: name }));
    const none = make("li", { className: "none", textContent: "none" });
    find(id).replaceChildren(...(chips.length ? chips : [none]));
  }
}

function writeWordsLead() {
  const name = words.shown;
  const kept = first ? keptFeatures(name, state.cut) : null;
  const lead = find("words-lead");
  lead.hidden = kept === null;
  if (kept === null) return;
  const { values } = trace(currentCurve(), state.measure, state.average, name);
  const all = keptFeatures(name, first.fractions.length - 1);
  const difference = subtract(values[state.cut], values.at(-1));
  setText(
    lead,
    `${name} keeps ${formatCount(kept)} of ${formatCount(all)} ${data.unit} at this cut: ` +
      `${say(state.measure)} ${formatMeasure(values[state.cut])}, ` +
      `${sayAll()} ${formatMeasure(values.at(-1))} (${formatDifference(difference)}).`,
  );
}
