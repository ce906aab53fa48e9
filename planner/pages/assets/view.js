"use strict";
// What all figures of a page share: the data, the stretch of the axis that is shown, the tip, and the keys.
const page = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const axis = data.axis, listeners = [];
  const view = { lo: axis.lo, hi: axis.hi, cursor: null };
  const tip = document.body.appendChild(Object.assign(document.createElement("div"), { className: "tip", hidden: true }));
  const said = document.getElementById("said"), shown = document.getElementById("shown");

  let waits = false;
  const drawAll = () => {
    waits = false;
    if (shown) shown.textContent = `${words(view.lo)} – ${words(view.hi)}`;
    listeners.forEach((draw) => draw());
  };
  const changed = () => { if (!waits) { waits = true; requestAnimationFrame(drawAll); } };
  const show = (lo, hi) => {
    const least = axis.least, wide = Math.max(least, Math.min(hi - lo, axis.hi - axis.lo));
    view.lo = Math.min(Math.max(axis.lo, lo), axis.hi - wide);
    view.hi = view.lo + wide;
    changed();
  };
  const zoom = (factor, at = (view.lo + view.hi) / 2) =>
    show(at - (at - view.lo) * factor, at + (view.hi - at) * factor);
  const reset = () => { show(axis.lo, axis.hi); resets.forEach((each) => each()); };
  const resets = [];

  // Wall-clock words for a place on the axis. A clock may jump within the day: its marks say what it shows when.
  const two = (number) => String(number).padStart(2, "0");
  function words(at) {
    if (axis.kind === "days") return axis.days[Math.max(0, Math.min(axis.days.length - 1, Math.floor(at)))];
    const marks = axis.clock, last = marks.length - 1;
    const index = at <= 0 ? 0 : Math.min(last, Math.floor(at / axis.mark_s));
    let minutes = marks[index] + Math.floor((at - index * axis.mark_s) / 60);
    const days = Math.floor(minutes / 1440);
    minutes -= days * 1440;
    const when = `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
    return days === 0 ? when : at >= axis.hi && minutes === 0 && days === 1 ? "24:00" : `${when} ${days > 0 ? "+" : "−"}${Math.abs(days)} d`;
  }
  function ticks(width) {
    const span = view.hi - view.lo, room = Math.max(2, Math.floor(width / 70)), found = [];
    if (axis.kind === "days") {
      const step = Math.max(1, Math.ceil(span / room));
      for (let at = Math.ceil(view.lo / step) * step; at < view.hi; at += step) found.push([at + 0.5, axis.days[at].slice(5)]);
      return found.filter(([at]) => at >= view.lo && at <= view.hi);
    }
    const steps = [60, 300, 600, 900, 1800, 3600, 7200, 10800, 21600];
    const step = steps.find((each) => span / each <= room) || 21600;
    for (let at = Math.ceil(view.lo / step) * step; at <= view.hi; at += step) found.push([at, words(at)]);
    return found;
  }
  // On paper every figure is as wide as the text of an A4 page, whatever the window was.
  const wide = (plot) => (document.documentElement.classList.contains("printing") ? 700 : plot.clientWidth);
  const number = (value, digits) =>
    value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace("-", "−");

  function tell(event, title, rows) {
    tip.replaceChildren(Object.assign(document.createElement("b"), { textContent: title }));
    for (const [name, value] of rows) {
      const line = tip.appendChild(document.createElement("span"));
      line.append(name, Object.assign(document.createElement("em"), { textContent: value }));
    }
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = event.clientX + 16 + box.width > innerWidth ? event.clientX - box.width - 12 : event.clientX + 16;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, Math.min(innerHeight - box.height - 4, event.clientY + 14))}px`;
  }
  const hush = () => { tip.hidden = true; };
  const say = (text) => { if (said) said.textContent = text; };

  // Drag over a figure to look closer, double-click to see all; plus, minus, 0 and arrows do the same from the keyboard.
  function handle(plot, { toAxis, hover, leave, select, keys }) {
    let from = null;
    const spot = (event) => {
      const box = plot.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    plot.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      from = spot(event);
      if (event.pointerType !== "touch") plot.setPointerCapture(event.pointerId);
    });
    plot.addEventListener("pointermove", (event) => {
      const at = spot(event);
      if (from && Math.abs(at.x - from.x) > 4) { hush(); select(from, at, false); } else hover(event, at);
    });
    plot.addEventListener("pointerup", (event) => {
      const at = spot(event), begun = from;
      from = null;
      if (begun && Math.abs(at.x - begun.x) > 8) select(begun, at, true); else select(null, null, false);
    });
    plot.addEventListener("pointercancel", () => { from = null; select(null, null, false); });
    plot.addEventListener("pointerleave", () => { hush(); leave(); });
    plot.addEventListener("dblclick", reset);
    plot.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.25 : 0.8, toAxis(spot(event).x));
    }, { passive: false });
    plot.addEventListener("keydown", (event) => {
      const step = (view.hi - view.lo) / 8, act = {
        "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: reset, Escape: () => { hush(); reset(); },
        PageUp: () => show(view.lo - step, view.hi - step), PageDown: () => show(view.lo + step, view.hi + step),
        ...keys,
      }[event.key];
      if (act && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); act(event); }
    });
  }

  document.querySelectorAll("[data-zoom]").forEach((button) => button.addEventListener("click", () =>
    ({ in: () => zoom(0.5), out: () => zoom(2), reset })[button.dataset.zoom]()));
  addEventListener("resize", () => changed());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => changed());
  addEventListener("beforeprint", () => { document.documentElement.classList.add("printing"); drawAll(); });
  addEventListener("afterprint", () => { document.documentElement.classList.remove("printing"); drawAll(); });

  return { data, axis, view, listeners, resets, show, zoom, reset, changed, words, ticks, wide, number, tell, hush, say, handle,
    gutter: 58, edge: 20 };
})();
