"use strict";
// Figures along the axis, as SVG: stacked steps, steps and lines, with one cursor for all of them.
(() => {
  const { data, view, ticks, words, number, gutter, edge } = page;
  const make = (tag, attributes, parent) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return parent ? parent.appendChild(made) : made;
  };
  const FOOT = 22, TOP = 8;

  function nice(low, high, count) {
    const rough = (high - low || 1) / count, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= rough * 0.999);
    const found = [];
    for (let at = Math.floor(low / step + 1e-9); at * step < high - step * 1e-6; at += 1) found.push(at * step);
    found.push((found.length ? found[found.length - 1] : low - step) + step);
    // From a million on in millions: the gutter has room for seven signs.
    const millions = Math.max(...found.map(Math.abs)) >= 1e6, unit = millions ? 1e6 : 1;
    const digits = Math.max(0, Math.log10(unit) - Math.floor(Math.log10(step) + 1e-9) + (step / power === 2.5 ? 1 : 0));
    return { found, text: (value) => number(value / unit, digits) + (millions ? " M" : "") };
  }

  function stacked(panel) {
    // Each layer gets its lower and upper edge; what is below zero stacks downwards.
    const rise = {}, fall = {};
    return panel.layers.map((layer) => {
      if (layer.kind !== "stack") return { ...layer, low: null, high: layer.values };
      const up = (rise[layer.grid] ??= layer.values.map(() => 0)), down = (fall[layer.grid] ??= layer.values.map(() => 0));
      const low = layer.values.map((value, i) => (value < 0 ? down[i] : up[i]));
      layer.values.forEach((value, i) => { if (value < 0) down[i] += value; else up[i] += value; });
      return { ...layer, low, high: layer.values.map((value, i) => low[i] + value) };
    });
  }

  function build(panel) {
    const figure = document.getElementById(panel.id), plot = figure.querySelector(".plot");
    const layers = stacked(panel);
    const all = layers.flatMap((layer) => layer.high.filter((value) => value !== null));
    let low = Math.min(...all), high = Math.max(...all);
    if (panel.zero) { low = Math.min(0, low); high = Math.max(0, high); }
    if (panel.top) high = Math.max(panel.top, high);
    if (!(high > low)) { const pad = Math.abs(high) * 0.1 || 1; low -= panel.zero ? 0 : pad; high += pad; }
    const scale = nice(low, high, Math.max(2, Math.round(panel.height / 42)));
    low = scale.found[0]; high = scale.found[scale.found.length - 1];
    const svg = make("svg", { height: panel.height, "aria-hidden": "true" }, plot);
    let width = 0, pick = null;
    const toX = (at) => gutter + ((at - view.lo) / (view.hi - view.lo)) * (width - gutter - edge);
    const toAxis = (x) => view.lo + ((x - gutter) / (width - gutter - edge)) * (view.hi - view.lo);
    const toY = (value) => TOP + ((high - value) / (high - low)) * (panel.height - TOP - FOOT);

    function path(layer) {
      const edges = data.grids[layer.grid], parts = [];
      if (layer.kind === "line") {
        layer.high.forEach((value, i) => { if (value !== null) parts.push(`${parts.length ? "L" : "M"}${toX((edges[i] + edges[i + 1]) / 2).toFixed(1)} ${toY(value).toFixed(1)}`); });
        return parts.join("");
      }
      const gap = panel.bars ? 0.12 : 0;
      for (let i = 0; i < layer.high.length; i += 1) {
        if (layer.high[i] === null || edges[i + 1] < view.lo || edges[i] > view.hi) continue;
        const inset = (edges[i + 1] - edges[i]) * gap, y = toY(layer.high[i]).toFixed(1);
        const x0 = toX(edges[i] + inset).toFixed(1), x1 = toX(edges[i + 1] - inset).toFixed(1);
        if (layer.low) parts.push(`M${x0} ${toY(layer.low[i]).toFixed(1)}V${y}H${x1}V${toY(layer.low[i]).toFixed(1)}Z`);
        else parts.push(`${parts.length ? "L" : "M"}${x0} ${y}H${x1}`);
      }
      return parts.join("");
    }

    function draw() {
      width = page.wide(plot);
      if (!width) return;
      svg.setAttribute("viewBox", `0 0 ${width} ${panel.height}`);
      svg.replaceChildren();
      const clip = make("clipPath", { id: `clip-${panel.id}` }, svg);
      make("rect", { x: gutter, y: 0, width: Math.max(1, width - gutter - edge), height: panel.height - FOOT + 1 }, clip);
      for (const value of scale.found) {
        make("line", { class: value === 0 ? "zero" : "grid", x1: gutter, x2: width - edge, y1: toY(value), y2: toY(value) }, svg);
        make("text", { x: gutter - 7, y: toY(value) + 4, "text-anchor": "end" }, svg).textContent = scale.text(value);
      }
      for (const [at, text] of ticks(width - gutter - edge)) {
        make("line", { class: "grid", x1: toX(at), x2: toX(at), y1: TOP, y2: panel.height - FOOT }, svg);
        make("text", { x: Math.min(toX(at), width - 18), y: panel.height - 6, "text-anchor": "middle" }, svg).textContent = text;
      }
      const inside = make("g", { "clip-path": `url(#clip-${panel.id})` }, svg);
      for (const layer of layers) {
        const style = layer.low ? `fill:var(--${layer.colour});stroke:none`
          : `fill:none;stroke:var(--${layer.colour});stroke-width:${layer.thin ? 1 : 2};stroke-linejoin:round${layer.dash ? `;stroke-dasharray:${layer.dash === true ? "6 4" : layer.dash}` : ""}`;
        make("path", { d: path(layer), style, "data-layer": layer.name }, inside);
      }
      if (view.cursor !== null) make("line", { class: "cursor", x1: toX(view.cursor), x2: toX(view.cursor), y1: TOP, y2: panel.height - FOOT }, inside);
      if (pick) make("rect", { class: "pick", x: Math.min(...pick), y: TOP, width: Math.abs(pick[1] - pick[0]), height: panel.height - FOOT - TOP }, inside);
    }

    const indexAt = (edges, at) => {
      let left = 0, right = edges.length - 2;
      while (left < right) { const middle = (left + right + 1) >> 1; if (edges[middle] <= at) left = middle; else right = middle - 1; }
      return left;
    };
    const facts = (at) => panel.layers.map((layer) => {
      const value = (layer.told || layer.values)[indexAt(data.grids[layer.grid], at)];
      return [layer.name, value === null ? "–" : `${layer.before || ""}${number(value, layer.digits)}${layer.unit ? ` ${layer.unit}` : ""}`];
    });
    const title = (at) => {
      const edges = data.grids[panel.layers[0].grid], i = indexAt(edges, at);
      return page.axis.kind === "days" ? words(at) : `${words(edges[i])} – ${words(edges[i + 1])}`;
    };
    const step = (by) => {
      const edges = data.grids[panel.layers[0].grid], now = view.cursor === null ? view.lo : view.cursor;
      const i = Math.max(0, Math.min(edges.length - 2, indexAt(edges, now) + (view.cursor === null ? 0 : by)));
      view.cursor = (edges[i] + edges[i + 1]) / 2;
      if (view.cursor < view.lo || view.cursor > view.hi) page.show(view.cursor - (view.hi - view.lo) / 2, view.cursor + (view.hi - view.lo) / 2);
      page.changed();
      page.say(`${title(view.cursor)}: ${facts(view.cursor).map((pair) => pair.join(" ")).join(", ")}`);
      const box = plot.getBoundingClientRect();
      page.tell({ clientX: box.left + toX(view.cursor), clientY: box.top + TOP }, title(view.cursor), facts(view.cursor));
    };
    page.handle(plot, {
      toAxis,
      hover(event, at) {
        if (at.x < gutter || at.x > width - edge) { page.hush(); return; }
        view.cursor = toAxis(at.x);
        page.changed();
        page.tell(event, title(view.cursor), facts(view.cursor));
      },
      leave() { view.cursor = null; pick = null; page.changed(); },
      select(from, to, done) {
        pick = from && !done ? [from.x, to.x] : null;
        if (done) page.show(toAxis(Math.max(gutter, Math.min(from.x, to.x))), toAxis(Math.min(width - edge, Math.max(from.x, to.x))));
        else page.changed();
      },
      keys: { ArrowLeft: () => step(-1), ArrowRight: () => step(1) },
    });
    plot.addEventListener("blur", () => { page.hush(); view.cursor = null; page.changed(); });
    page.listeners.push(draw);
  }

  data.panels.forEach(build);
  page.changed();
})();
