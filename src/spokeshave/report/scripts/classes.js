// The table of classes at the current cut, which can be sorted and searched, and selects a class.

const classTable = { columns: [], rows: [], column: 1, isAscending: false };

function startClasses() {
  classTable.columns = listColumns();
  classTable.rows = listClassNames().map(makeClassRow);
  find("class-head").replaceChildren(make("tr", {}, ...classTable.columns.map(makeHead)));
  find("class-rows").addEventListener("click", chooseClass);
  find("search").addEventListener("input", filterClasses);
  follow(updateClasses);
  updateClasses(new Set(["cut", "class"]));
  filterClasses();
  if (first) setText(find("class-note"), describeTable());
  show("classes", classTable.rows.length > 0);
}

function describeTable() {
  const toSee = `Select a class to see its curve and its ${data.unit}.`;
  return `Δ is the difference from ${sayAll()}. ${toSee}`;
}

function listClassNames() {
  return first ? classNames : record.classes.map((each) => each.name);
}

function listColumns() {
  const fixed = [
    { label: "Class", read: (name) => name, write: (name) => name, isText: true },
    { label: "Documents", read: (name) => classSizes.get(name) ?? null, write: formatCount },
  ];
  if (!first) return fixed;
  const kept = {
    label: `${capitalize(data.unit)} kept`,
    read: (name) => keptFeatures(name, state.cut, currentCurve()),
    write: formatCount,
  };
  return [...fixed, kept, ...Object.keys(first.measures).flatMap(listMeasureColumns)];
}

function listMeasureColumns(measure) {
  const label = capitalize(say(measure));
  const last = first.fractions.length - 1;
  const readAt = (name, cut) => readClass(currentCurve(), measure, name, cut);
  const value = { label, read: (name) => readAt(name, state.cut), write: formatMeasure };
  const difference = {
    label: "Δ",
    title: `${label}, difference from ${sayAll()}`,
    read: (name) => subtract(readAt(name, state.cut), readAt(name, last)),
    write: formatDifference,
    isDifference: true,
  };
  return [value, difference];
}

function makeHead(column, index) {
  const title = column.title ?? column.label;
  const button = make("button", { type: "button", textContent: column.label, title });
  button.setAttribute("aria-label", title);
  button.addEventListener("click", () => sortBy(index));
  const className = column.isDifference ? "difference" : "";
  column.head = make("th", { scope: "col", className }, button);
  return column.head;
}

function makeClassRow(name) {
  const button = make("button", { type: "button", textContent: name, title: name });
  const cells = classTable.columns.slice(1).map(() => make("td"));
  const element = make("tr", {}, make("td", {}, button), ...cells);
  return { name, element, button, cells: [null, ...cells], values: [name] };
}

function chooseClass(event) {
  const row = classTable.rows.find((each) => each.element === event.target.closest("tr"));
  if (row && first) change({ class: row.name === state.class ? null : row.name });
}

function updateClasses(changed) {
  if (changed.has("cut") || changed.has("method")) {
    classTable.rows.forEach(writeClassRow);
    sortClasses();
  }
  if (changed.has("class")) classTable.rows.forEach(markClassRow);
}

function writeClassRow(row) {
  classTable.columns.forEach((column, index) => {
    if (index === 0) return;
    const value = column.read(row.name);
    row.values[index] = value;
    setText(row.cells[index], column.write(value));
    if (column.isDifference) row.cells[index].className = `difference ${judgeDifference(value)}`;
  });
}

function markClassRow(row) {
  const isSelected = row.name === state.class;
  row.element.classList.toggle("selected", isSelected);
  row.button.setAttribute("aria-pressed", String(isSelected));
}

function sortBy(index) {
  const isSame = index === classTable.column;
  const isText = Boolean(classTable.columns[index].isText);
  classTable.isAscending = isSame ? !classTable.isAscending : isText;
  classTable.column = index;
  sortClasses();
}

function sortClasses() {
  const { columns, column, isAscending } = classTable;
  const sign = isAscending ? 1 : -1;
  const compare = (a, b) => compareValues(a.values[column], b.values[column], sign);
  columns.forEach(({ head }, index) => {
    const direction = isAscending ? "ascending" : "descending";
    head.setAttribute("aria-sort", index === column ? direction : "none");
  });
  placeRows([...classTable.rows].sort(compare));
}

// Unknown values come last in both directions.
function compareValues(a, b, sign) {
  if (typeof a === "string") return sign * a.localeCompare(b, undefined, { numeric: true });
  if (!isKnown(a) || !isKnown(b)) return Number(isKnown(b)) - Number(isKnown(a));
  return sign * (a - b);
}

function placeRows(sorted) {
  const body = find("class-rows");
  const isInPlace = sorted.every((row, index) => body.children[index] === row.element);
  if (isInPlace) return;
  const focused = document.activeElement;
  body.replaceChildren(...sorted.map((row) => row.element));
  if (body.contains(focused)) focused.focus({ preventScroll: true });
}

function filterClasses() {
  const query = find("search").value.trim().toLowerCase();
  const found = classTable.rows.filter((row) => {
    row.element.hidden = !row.name.toLowerCase().includes(query);
    return !row.element.hidden;
  });
  const { length } = classTable.rows;
  const all = `${formatCount(length)} ${length === 1 ? "class" : "classes"}`;
  setText(find("found"), query ? `${formatCount(found.length)} of ${all}` : all);
}
