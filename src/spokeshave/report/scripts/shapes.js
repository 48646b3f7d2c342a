// The shaped values of the strongest features of a class, or of one selected feature.

const N_SHOWN = 6;
const shapes = { shown: null, views: [] };

function startShapes() {
  if (!record.shapes.length) return undefined;
  const names = [...new Set(record.shapes.map((shape) => shape.class_name))];
  const select = find("shape-class");
  fillNames(select, names);
  select.addEventListener("change", () => showShapesOf(names[Number(select.value)]));
  find("shape-feature").addEventListener("change", drawShapes);
  follow((changed) => changed.has("class") && followClass(names));
  show("shapes");
  return followClass(names) ?? showShapesOf(names[0]);
}

function followClass(names) {
  const index = names.indexOf(state.class);
  if (index < 0) return undefined;
  find("shape-class").value = String(index);
  return showShapesOf(state.class);
}

function showShapesOf(name) {
  const strength = (shape) => Math.abs(shape.weight ?? 0);
  shapes.shown = record.shapes
    .filter((shape) => shape.class_name === name)
    .sort((a, b) => strength(b) - strength(a));
  const few = shapes.shown.length > N_SHOWN ? `the ${N_SHOWN} strongest` : "all";
  const each = shapes.shown.map((shape, index) => ({ value: String(index), label: shape.feature }));
  fillSelect(find("shape-feature"), [{ value: "", label: few }, ...each]);
  return drawShapes();
}

function drawShapes() {
  const { value } = find("shape-feature");
  const drawn = value === "" ? shapes.shown.slice(0, N_SHOWN) : [shapes.shown[Number(value)]];
  const figures = drawn.map(makeFigure);
  shapes.views.forEach((view) => view.finalize());
  shapes.views = [];
  find("shape-charts").replaceChildren(...figures);
  return Promise.all(drawn.map((shape, index) => drawShape(shape, figures[index].lastChild)));
}

function makeFigure(shape) {
  const weight = isKnown(shape.weight) ? ` weight ${formatWeight(shape.weight)}` : "";
  const caption = make("figcaption", { title: shape.feature }, shape.feature);
  caption.append(make("span", { textContent: weight }));
  return make("figure", {}, caption, make("div", { className: "chart small" }));
}

async function drawShape(shape, container) {
  const name = shape.is_nominal ? "nominal_shape" : "shape";
  const datasets = { points: listLevels(shape), zero: listZero(shape) };
  shapes.views.push(await draw(container, name, datasets));
}

function listLevels(shape) {
  return shape.values.flatMap((value, index) => {
    const image = shape.images[index];
    if (value === null || !isKnown(image)) return [];
    const name = shape.is_nominal ? String(value) : formatNumber(value);
    const described = describeLevel(name, image, shape.sizes[index], shape.positives[index]);
    return [{ value, image, ...described }];
  });
}

function listZero(shape) {
  if (!shape.n_zero || !isKnown(shape.zero)) return [];
  return [{ value: 0, image: shape.zero, ...describeLevel("0", shape.zero, shape.n_zero, null) }];
}

function describeLevel(name, image, documents, positives) {
  const ofClass = isKnown(positives) ? `, ${formatCount(positives)} of the class` : "";
  return { name, text: formatWeight(image), documents, support: formatCount(documents) + ofClass };
}
