// Draws the plots of a page with Plotly from the JSON beside them. Colours come from the theme's custom
// properties; the role of a series fixes its colour and mark: anchor grey, candidate blue, floor green dashed.
"use strict";
(() => {
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);

  // A custom property with light-dark() only resolves on an element that uses it.
  function colour(name) {
    probe.className = `plot-probe plot-probe-${name}`;
    return getComputedStyle(probe).color;
  }

  const number = (value) => (value === null || value === undefined || value === "" ? null : Number(value));
  const UNITS = { us: "µs", percent: "%", bytes: "B", GBps: "GB/s", TBps: "TB/s" };
  const unitOf = (data) => UNITS[data.unit] ?? data.unit ?? "";

  function theme() {
    return {
      text: colour("text"), soft: colour("soft"), grid: colour("grid"), line: colour("line"), surface: colour("surface"),
      anchor: colour("anchor"), candidate: colour("candidate"), floor: colour("floor"), good: colour("good"), bad: colour("bad"),
    };
  }

  function axis(look, title, more = {}) {
    return {
      title: { text: title, font: { size: 12, color: look.soft }, standoff: 8 }, tickfont: { size: 12, color: look.soft }, gridcolor: look.grid,
      linecolor: look.line, zerolinecolor: look.line, zeroline: false, automargin: true, fixedrange: false, ...more,
    };
  }

  function layout(look, more) {
    const font = getComputedStyle(document.body).fontFamily;
    return {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family: font, size: 12, color: look.text },
      margin: { l: 56, r: 16, t: 24, b: 44 }, showlegend: false, hovermode: "closest", dragmode: "zoom",
      hoverlabel: { bgcolor: look.surface, bordercolor: look.line, font: { family: font, size: 12, color: look.text } }, ...more,
    };
  }

  // A value axis that does not start at zero says so on the plot.
  function valueRange(values) {
    const known = values.filter((value) => Number.isFinite(value));
    if (!known.length) return { range: [0, 1], cut: null };
    const low = Math.min(...known);
    const high = Math.max(...known);
    const pad = (high - low || Math.abs(high) || 1) * 0.12;
    if (low >= 0 && low <= high * 0.5) return { range: [0, high + pad], cut: null };
    return { range: [low >= 0 ? Math.max(0, low - pad) : low - pad, high + pad], cut: low - pad > 0 ? low - pad : null };
  }

  function cutBadge(look, cut) {
    if (cut === null) return [];
    return [{ xref: "paper", yref: "paper", x: 0, y: 1, xanchor: "left", yanchor: "bottom", showarrow: false, text: "axis does not start at 0", font: { size: 11, color: look.soft } }];
  }

  function level(look, role, line, unit, side) {
    const value = number(line?.value);
    if (value === null) return { shapes: [], annotations: [] };
    const dash = role === "floor" ? "dash" : "solid";
    return {
      shapes: [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: value, y1: value, line: { color: look[role], width: 2, dash } }],
      annotations: [{ xref: "paper", x: side === "right" ? 1 : 0, xanchor: side === "right" ? "right" : "left", y: value, yanchor: "bottom", showarrow: false, text: `${role} ${value.toLocaleString("en-GB")} ${unit}`, font: { size: 12, color: look[role] } }],
    };
  }

  function ladder(data, look) {
    const unit = unitOf(data);
    const names = data.versions.map((version) => version.name);
    const values = data.versions.map((version) => number(version.value));
    const up = data.versions.map((version, i) => (number(version.high) === null ? 0 : number(version.high) - values[i]));
    const down = data.versions.map((version, i) => (number(version.low) === null ? 0 : values[i] - number(version.low)));
    const anchor = level(look, "anchor", data.anchor, unit, "right");
    const floor = level(look, "floor", data.floor, unit, "right");
    const every = [...values, ...data.versions.flatMap((v) => [number(v.low), number(v.high)]), number(data.anchor?.value), number(data.floor?.value)];
    const { range, cut } = valueRange(every.filter((value) => value !== null));
    const trace = {
      type: "scatter", x: names, y: values, mode: values.filter((value) => value !== null).length > 1 ? "lines+markers" : "markers", connectgaps: false,
      line: { color: look.candidate, width: 2, shape: "hv" }, marker: { color: look.candidate, size: 9, line: { color: look.surface, width: 1 } },
      error_y: { type: "data", symmetric: false, array: up, arrayminus: down, color: look.candidate, thickness: 1.5, width: 4 },
      hovertemplate: `%{x}: %{y} ${unit}<extra></extra>`,
    };
    return {
      traces: [trace],
      layout: layout(look, {
        xaxis: axis(look, "version", { type: "category", range: [-0.5, Math.max(names.length - 0.5, 0.5)], showgrid: false }), yaxis: axis(look, unit, { range }),
        shapes: [...anchor.shapes, ...floor.shapes], annotations: [...anchor.annotations, ...floor.annotations, ...cutBadge(look, cut)],
      }),
    };
  }

  function samples(data, look) {
    const unit = unitOf(data);
    const traces = [];
    let at = 0;
    let clocks = false;
    const bounds = [];
    for (const run of data.runs) {
      const x = run.values.map((_, i) => at + i + 1);
      const role = run.role === "anchor" ? "anchor" : "candidate";
      traces.push({ type: "scatter", x, y: run.values.map(number), mode: "markers", name: run.label, marker: { color: look[role], size: 5, symbol: role === "anchor" ? "circle-open" : "circle" }, hovertemplate: `${run.label}, launch %{x}: %{y} ${unit}<extra></extra>` });
      if (run.clock_mhz?.length) {
        clocks = true;
        traces.push({ type: "scatter", x, y: run.clock_mhz.map(number), mode: x.length > 1 ? "lines" : "markers", yaxis: "y2", name: `${run.label}, clock`, line: { color: look.soft, width: 1.5 }, hovertemplate: `${run.label}: %{y} MHz<extra></extra>` });
      }
      at += run.values.length;
      bounds.push(at + 0.5);
    }
    const { range, cut } = valueRange(data.runs.flatMap((run) => run.values.map(number)));
    const edges = bounds.slice(0, -1).map((x) => ({ type: "line", x0: x, x1: x, yref: "paper", y0: 0, y1: 1, line: { color: look.line, width: 1, dash: "dot" } }));
    return {
      traces,
      layout: layout(look, {
        xaxis: axis(look, "launch, in the order in which they ran", { range: [0, at + 1], showgrid: false, anchor: clocks ? "y2" : "y" }),
        yaxis: axis(look, unit, { range, domain: clocks ? [0.34, 1] : [0, 1] }), ...(clocks ? { yaxis2: axis(look, "MHz", { domain: [0, 0.24] }) } : {}),
        shapes: edges, annotations: cutBadge(look, cut), margin: { l: 64, r: 16, t: 24, b: 44 },
      }),
    };
  }

  function paired(data, look) {
    const unit = unitOf(data);
    const labels = data.rounds.map((pair) => `round ${pair.round}`);
    const sides = { anchor: data.rounds.map((pair) => number(pair.anchor)), candidate: data.rounds.map((pair) => number(pair.candidate)) };
    const links = data.rounds.flatMap((pair, i) => (number(pair.anchor) === null || number(pair.candidate) === null ? [] : [{ type: "line", x0: sides.anchor[i], x1: sides.candidate[i], y0: labels[i], y1: labels[i], line: { color: look.line, width: 2 } }]));
    const traces = ["anchor", "candidate"].map((role) => ({
      type: "scatter", x: sides[role], y: labels, mode: "markers", name: role, marker: { color: look[role], size: 10, symbol: role === "anchor" ? "circle-open" : "circle", line: { color: look[role], width: 2 } },
      hovertemplate: `%{y}, ${role}: %{x} ${unit}<extra></extra>`,
    }));
    const { range, cut } = valueRange([...sides.anchor, ...sides.candidate].filter((value) => value !== null));
    return { traces, height: 120 + 28 * labels.length, layout: layout(look, { xaxis: axis(look, unit, { range }), yaxis: axis(look, "", { type: "category", autorange: "reversed", showgrid: false }), shapes: links, annotations: cutBadge(look, cut) }) };
  }

  function forest(data, look) {
    const names = data.cases.map((one) => one.name);
    const middle = data.cases.map((one) => number(one.change_percent));
    const up = data.cases.map((one, i) => (number(one.high) === null ? 0 : number(one.high) - middle[i]));
    const down = data.cases.map((one, i) => (number(one.low) === null ? 0 : middle[i] - number(one.low)));
    const shapes = [{ type: "line", x0: 0, x1: 0, yref: "paper", y0: 0, y1: 1, line: { color: look.anchor, width: 2 } }];
    const annotations = [];
    if (data.band) shapes.push({ type: "rect", layer: "below", x0: number(data.band[0]), x1: number(data.band[1]), yref: "paper", y0: 0, y1: 1, fillcolor: look.grid, line: { width: 0 } });
    (data.thresholds ?? []).forEach((mark, i) => {
      shapes.push({ type: "line", x0: number(mark.value), x1: number(mark.value), yref: "paper", y0: 0, y1: 1, line: { color: look.soft, width: 1.5, dash: "dot" } });
      annotations.push({ x: number(mark.value), yref: "paper", y: 1, yshift: 12 * (i % 2), yanchor: "bottom", showarrow: false, text: mark.label, font: { size: 11, color: look.soft } });
    });
    const every = [0, ...middle, ...data.cases.flatMap((c) => [number(c.low), number(c.high)]), ...(data.band ?? []).map(number), ...(data.thresholds ?? []).map((mark) => number(mark.value))].filter(Number.isFinite);
    const pad = (Math.max(...every) - Math.min(...every) || 1) * 0.08;
    const better = data.direction === "higher" ? "right is better" : "left is better";
    return {
      traces: [{
        type: "scatter", x: middle, y: names, mode: "markers", marker: { color: look.candidate, size: 10, symbol: "square" },
        error_x: { type: "data", symmetric: false, array: up, arrayminus: down, color: look.candidate, thickness: 2, width: 5 }, hovertemplate: "%{y}: %{x} %<extra></extra>",
      }],
      height: 128 + 30 * names.length,
      layout: layout(look, {
        margin: { l: 56, r: 16, t: 44, b: 44 }, xaxis: axis(look, `change, % (${better})`, { range: [Math.min(...every) - pad, Math.max(...every) + pad], ticksuffix: " %" }),
        yaxis: axis(look, "", { type: "category", autorange: "reversed", showgrid: false }), shapes, annotations,
      }),
    };
  }

  // How many of each verdict: bands that lie on each other, so that equal counts hide none; each with its own colour, dash and mark.
  const VERDICTS = { DEAD: ["bad", "solid", "x"], WIN: ["good", "dash", "triangle-up"], UNTESTED: ["candidate", "dot", "circle-open"] };

  function counts(data, look) {
    const traces = data.series.map((series) => {
      const [role, dash, symbol] = VERDICTS[series.name] ?? ["soft", "solid", "circle"];
      return {
        type: "scatter", x: data.days, y: series.values, name: series.name, stackgroup: "all", mode: data.days.length > 1 ? "lines+markers" : "markers",
        line: { color: look[role], width: 2, dash, shape: "hv" }, cliponaxis: false,
        marker: { color: look[role], size: series.values.map((value) => (value ? 8 : 0)), symbol, line: { color: look[role], width: 1.5 } },
        hovertemplate: `%{x}: %{y} ${series.name}<extra></extra>`,
      };
    });
    const times = data.days.map((day) => Date.parse(day));
    const apart = times.slice(1).every((time, place) => (time - times[place]) * 8 > times.at(-1) - times[0]);
    return { traces, layout: layout(look, { xaxis: axis(look, "day", { type: "date", showgrid: false, tickformat: "%e %b %Y", ...(data.days.length < 7 && apart ? { tickvals: data.days } : { nticks: 6 }) }), yaxis: axis(look, `${data.unit}, stacked`, { rangemode: "tozero" }) }) };
  }

  // Shared memory over the values of a symbol, against the capacity; where a rule breaks the mark is a red cross.
  function sweep(data, look) {
    const unit = unitOf(data);
    const limit = number(data.limit.value);
    const bytes = data.points.map((point) => number(point.bytes));
    const broken = data.points.map((point) => point.breaks.length > 0);
    const known = [...bytes.filter((value) => value !== null), limit];
    return {
      traces: [{
        type: "scatter", x: data.points.map((point) => point.value), y: bytes, mode: bytes.length > 1 ? "lines+markers" : "markers", connectgaps: false, line: { color: look.line, width: 1.5 },
        marker: { size: 8, color: broken.map((wrong) => (wrong ? look.bad : look.candidate)), symbol: broken.map((wrong) => (wrong ? "x" : "circle")) },
        text: data.points.map((point) => (point.breaks.length ? `breaks ${point.breaks.join(", ")}` : "holds")), hovertemplate: `${data.symbol} = %{x}: %{y} ${unit}, %{text}<extra></extra>`,
      }],
      layout: layout(look, {
        xaxis: axis(look, data.symbol, { showgrid: false, ...(data.points.length < 12 ? { tickvals: data.points.map((point) => point.value) } : {}) }), yaxis: axis(look, `shared memory, ${unit}`, { range: [0, Math.max(...known) * 1.12] }),
        shapes: [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: limit, y1: limit, line: { color: look.anchor, width: 2 } }],
        annotations: [{ xref: "paper", x: 0, xanchor: "left", y: limit, yanchor: "bottom", showarrow: false, text: `${data.limit.name} ${limit.toLocaleString("en-GB")} ${unit}`, font: { size: 12, color: look.anchor } }],
      }),
    };
  }

  const KINDS = { ladder, samples, paired, forest, counts, sweep };
  const CONFIG = { displaylogo: false, responsive: true, displayModeBar: false, scrollZoom: false, doubleClick: "reset" };

  function draw(figure) {
    const source = document.getElementById(figure.dataset.source);
    const plot = figure.querySelector(".chart-plot");
    const build = KINDS[figure.dataset.chart];
    if (!source || !plot || !build || !window.Plotly) return;
    const { traces, layout: looks, height } = build(JSON.parse(source.textContent), theme());
    if (height) looks.height = Math.max(176, height);
    window.Plotly.react(plot, traces, looks, CONFIG);
  }

  // The table is open where no script runs. Beside its plot it is closed, or as the reader left it before a swap.
  const left = new Map();
  function settle(figure) {
    const twin = figure.querySelector(".chart-twin:not([data-settled])");
    if (!twin) return;
    if (window.Plotly) twin.open = left.get(figure.dataset.source) ?? "stayOpen" in twin.dataset;
    twin.dataset.settled = "";
    twin.addEventListener("toggle", () => left.set(figure.dataset.source, twin.open));
  }

  function drawAll() {
    for (const figure of document.querySelectorAll("[data-chart]")) {
      settle(figure);
      draw(figure);
    }
  }

  // ---- CSV of exactly the points in the table ----
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const clean = (cell) => (cell.dataset.exact ?? cell.textContent).trim().replace(/\s+/g, " ");
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-csv]");
    if (!button) return;
    const rows = [...document.getElementById(button.dataset.csv).rows].map((row) => [...row.cells].map((cell) => quoted(clean(cell))).join(","));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([`${rows.join("\n")}\n`], { type: "text/csv" }));
    link.download = button.dataset.csvName;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });

  drawAll();
  document.addEventListener("v2kb:theme", drawAll);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  document.addEventListener("htmx:afterSettle", drawAll);
})();
