// Charts drawn by Vega, and their common tooltip.

const TIP_GAP = 14;
const N_COLORS = 8;

const ERRORS_ONLY = 1; // do not warn of empty data sets

async function draw(container, name, datasets) {
  const spec = structuredClone(charts[name]);
  spec.datasets = { ...spec.datasets, ...datasets };
  const { view } = await vegaEmbed(container, spec, {
    mode: "vega-lite",
    renderer: "svg",
    actions: false,
    defaultStyle: false,
    ast: true,
    tooltip: showTip,
    logLevel: ERRORS_ONLY,
  });
  return view;
}

// The colours are those of the chart: the series variables of the style, in turn.
function fillLegend(id, names) {
  find(id).replaceChildren(
    ...names.map((name, index) => {
      const swatch = make("i");
      swatch.style.background = `var(--series-${(index % N_COLORS) + 1})`;
      return make("li", {}, swatch, name);
    }),
  );
  show(id, names.length > 1);
}

function showTip(handler, event, item, value) {
  const tip = find("tip");
  tip.hidden = value === null || value === undefined || value === "";
  if (tip.hidden) return;
  const lines = Object.entries(value).map(([key, text]) =>
    make("p", {}, make("b", { textContent: key }), String(text)),
  );
  tip.replaceChildren(...lines);
  placeTip(tip, event);
}

function placeTip(tip, event) {
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.min(event.clientX + TIP_GAP, innerWidth - width - 4);
  const above = event.clientY - height - TIP_GAP;
  tip.style.left = `${Math.max(left, 4)}px`;
  tip.style.top = `${above > 4 ? above : event.clientY + TIP_GAP}px`;
}

function moveOnClick(view) {
  view.addEventListener("click", (event, item) => {
    if (Number.isInteger(item?.datum?.cut) && item.datum.cut >= 0) change({ cut: item.datum.cut });
  });
}

function moveRule(view) {
  return view.signal("current", first.fractions[state.cut]).runAsync();
}
