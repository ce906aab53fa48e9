"use strict";
// Nodes over time on a canvas: every job on its nodes, as high as its share of each.
(() => {
  const { data, view, gutter, edge, words, number } = page, chart = data.gantt;
  const plot = document.querySelector("#gantt .plot"), canvas = plot.querySelector("canvas");
  const base = document.createElement("canvas"), paint = base.getContext("2d"), top = canvas.getContext("2d");
  const FOOT = 22, height = chart.height, jobs = chart.jobs, nodes = chart.nodes;
  const range = { lo: 0, hi: nodes };
  let width = 0, drawn = "", pick = null, chosen = -1, account = -1;

  // Blocks: a job on a run of whole nodes, or on its share of one node beside others. What is free beside those that
  // run already may lie in several strips; a job then takes several, so that no two are ever drawn over each other.
  let blocks = [], onNode = [], resource = Math.max(0, chart.resources.indexOf("cores"));
  const stride = 2 + chart.resources.length;
  function layOut() {
    blocks = [];
    onNode = Array.from({ length: nodes }, () => []);
    const most = fullest();
    jobs.start.forEach((start, job) => {
      const spans = jobs.spans[job];
      for (let i = 0; i < spans.length; i += stride) {
        const asked = spans[i + 2 + resource] / 1000;
        if (!asked) continue;
        let open = null;
        for (let node = spans[i]; node < spans[i] + spans[i + 1]; node += 1) {
          const share = asked / Math.max(1, most[node]);
          if (share > 0.999) {
            if (open) open.count += 1;
            else { open = { job, node, count: 1, low: 0, share: 1 }; blocks.push(open); }
            onNode[node].push(open);
          } else for (const [low, part] of strips(node, start, share)) {
            const block = { job, node, count: 1, low, share: part };
            blocks.push(block);
            onNode[node].push(block);
          }
        }
      }
    });
  }
  // The most that is asked of a node at once: above 1 where jobs without cores are drawn, or nodes are shared out twice.
  function fullest() {
    const events = Array.from({ length: nodes }, () => []);
    jobs.start.forEach((start, job) => {
      const spans = jobs.spans[job];
      for (let i = 0; i < spans.length; i += stride) {
        const share = spans[i + 2 + resource] / 1000;
        for (let node = spans[i]; share && node < spans[i] + spans[i + 1]; node += 1) events[node].push([start, share], [jobs.end[job], -share]);
      }
    });
    return events.map((each) => {
      let now = 0, most = 0;
      for (const [, change] of each.sort((a, b) => a[0] - b[0] || a[1] - b[1])) { now += change; most = Math.max(most, now); }
      return most;
    });
  }
  function strips(node, start, share) {
    const busy = onNode[node].filter((each) => jobs.end[each.job] > start).sort((a, b) => a.low - b.low), free = [];
    let from = 0;
    for (const each of [...busy, { low: 1, share: 0 }]) {
      if (each.low - from > 1e-6) free.push([from, each.low - from]);
      from = Math.max(from, each.low + each.share);
    }
    const whole = free.find((each) => each[1] >= share - 1e-6);
    if (whole) return [[whole[0], Math.min(share, whole[1])]];
    const taken = [];
    let left = share;
    for (const [low, size] of free) {
      if (left < 1e-6) break;
      taken.push([low, Math.min(size, left)]);
      left -= size;
    }
    return taken;
  }
  layOut();

  const toX = (at) => gutter + ((at - view.lo) / (view.hi - view.lo)) * (width - gutter - edge);
  const toAxis = (x) => view.lo + ((x - gutter) / (width - gutter - edge)) * (view.hi - view.lo);
  const rows = () => (height - FOOT) / (range.hi - range.lo);
  const toNode = (y) => range.lo + y / rows();
  const nodeName = (node) => {
    const at = chart.classes.findLast((each) => each.first <= node);
    return at.nodes ? at.nodes[node - at.first] : at.name + String(node - at.first + 1).padStart(at.digits, "0");
  };

  function place(block) {
    const x = Math.max(gutter - 2, toX(jobs.start[block.job])), per = rows();
    return { x, y: (block.node + block.low - range.lo) * per, w: Math.min(width, toX(jobs.end[block.job])) - x, h: per * (block.count > 1 ? block.count : block.share) };
  }
  // What is drawn where, in the pixels of the figure.
  page.bars = () => blocks.map((block) => ({ job: jobs.id[block.job], node: block.node, count: block.count, ...place(block) }));

  const bright = (hex) => {
    const [red, green, blue] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    return 0.299 * red + 0.587 * green + 0.114 * blue > 128;
  };

  function draw() {
    width = page.wide(plot);
    if (!width) return;
    const dense = document.documentElement.classList.contains("printing") ? 3 : Math.min(3, devicePixelRatio || 1);
    const style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const now = [width, dense, view.lo, view.hi, range.lo, range.hi, chosen, account, resource, colour("ground")].join();
    if (now !== drawn) {
      drawn = now;
      for (const each of [canvas, base]) { each.width = width * dense; each.height = height * dense; }
      canvas.style.height = `${height}px`;
      drawJobs(dense, colour);
    }
    top.setTransform(1, 0, 0, 1, 0, 0);
    top.clearRect(0, 0, canvas.width, canvas.height);
    top.drawImage(base, 0, 0);
    top.setTransform(dense, 0, 0, dense, 0, 0);
    if (view.cursor !== null) {
      top.strokeStyle = colour("ink"); top.setLineDash([3, 3]);
      top.beginPath(); top.moveTo(toX(view.cursor), 0); top.lineTo(toX(view.cursor), height - FOOT); top.stroke();
    }
    if (pick) { top.fillStyle = colour("focus"); top.globalAlpha = 0.25; top.fillRect(pick[0].x, pick[0].y, pick[1].x - pick[0].x, pick[1].y - pick[0].y); }
  }

  function drawJobs(dense, colour) {
    const fills = Array.from({ length: 9 }, (_, i) => colour(`a${i}`)), ground = colour("ground"), ink = colour("ink"), soft = colour("soft");
    paint.setTransform(dense, 0, 0, dense, 0, 0);
    paint.fillStyle = colour("panel");
    paint.fillRect(gutter, 0, width - gutter - edge, height - FOOT);
    paint.save();
    paint.beginPath(); paint.rect(gutter, 0, width - gutter - edge, height - FOOT); paint.clip();
    const per = rows();
    paint.font = "11px system-ui, sans-serif"; paint.textBaseline = "middle";
    for (const block of blocks) {
      const { job } = block, start = jobs.start[job], end = jobs.end[job];
      if (end <= view.lo || start >= view.hi || block.node + block.count <= range.lo || block.node >= range.hi) continue;
      const { x, y, w, h } = place(block);
      const faint = (chosen >= 0 && chosen !== job) || (account >= 0 && account !== Math.min(8, jobs.account[job]));
      paint.globalAlpha = faint ? 0.18 : 1;
      paint.fillStyle = fills[Math.min(8, jobs.account[job])];
      paint.fillRect(x, y, Math.max(w, 0.6), Math.max(h, 0.4));
      if (h > 2.5 && w > 3) { paint.strokeStyle = ground; paint.lineWidth = h > 8 ? 1 : 0.5; paint.strokeRect(x, y, w, h); }
      if (h >= 13 && w >= 46 && !faint) {
        paint.save(); paint.beginPath(); paint.rect(x, y, w, h); paint.clip();
        paint.fillStyle = bright(fills[Math.min(8, jobs.account[job])]) ? "#10161c" : "#ffffff";
        paint.fillText(jobs.id[job], x + 5, y + (per >= 20 ? Math.min(h, per) : h) / 2); paint.restore();
      }
      if (chosen === job) { paint.strokeStyle = ink; paint.lineWidth = 2; paint.strokeRect(x, y, w, h); }
    }
    paint.globalAlpha = 1;
    if (per >= 20) {
      // Lines between nodes, so that jobs beside each other on one node are told from those on two.
      paint.strokeStyle = ink; paint.lineWidth = 0.6;
      for (let node = Math.ceil(range.lo); node <= range.hi; node += 1) {
        const y = (node - range.lo) * per;
        paint.beginPath(); paint.moveTo(gutter, y); paint.lineTo(width - edge, y); paint.stroke();
      }
    }
    paint.restore();
    paint.fillStyle = soft; paint.font = "12px system-ui, sans-serif"; paint.textAlign = "right"; paint.textBaseline = "middle";
    const every = Math.max(1, Math.ceil((range.hi - range.lo) / Math.max(2, height / 34)));
    for (const at of chart.classes) {
      for (let number = 0; number < at.count; number += every) {
        const node = at.first + number, y = (node + 0.5 - range.lo) * per;
        const next = at.first + at.count < nodes ? (at.first + at.count - range.lo) * per : Infinity;
        if (y > 5 && y < height - FOOT - 4 && (next - y > 14 || number === 0)) paint.fillText(nodeName(node), gutter - 6, y);
      }
    }
    paint.textAlign = "center"; paint.textBaseline = "alphabetic";
    for (const [at, text] of page.ticks(width - gutter - edge)) paint.fillText(text, Math.min(toX(at), width - 18), height - 6);
  }

  const facts = (job) => [
    ["account, user", `${chart.accounts[jobs.account[job]] || "–"}, ${chart.users[jobs.user[job]] || "–"}`],
    ["runs", `${words(jobs.start[job])} – ${words(jobs.end[job])}`], ["waited", `${number(jobs.wait[job] / 3600, 1)} h`],
    ["nodes", jobs.nodes[job]], ["on each", most(job)], ["power", `${number(jobs.power[job] / 1000, 2)} kW`],
    ["revenue", chart.money.replace("#", number(jobs.revenue[job], 2))], ["profit", chart.money.replace("#", number(jobs.profit[job], 2))],
  ];
  // The largest share of a node that the job holds, by resource.
  function most(job) {
    const shares = chart.resources.map(() => 0), spans = jobs.spans[job];
    for (let i = 0; i < spans.length; i += stride) shares.forEach((share, k) => { shares[k] = Math.max(share, spans[i + 2 + k] / 10); });
    return chart.resources.map((name, k) => (shares[k] ? `${number(shares[k], 0)} % ${name}` : "")).filter(Boolean).join(", ");
  }
  const title = (job) => (jobs.name[job] ? `${jobs.id[job]} · ${jobs.name[job]}` : jobs.id[job]);
  function jobAt(spot) {
    const node = Math.floor(toNode(spot.y)), at = toAxis(spot.x), part = toNode(spot.y) - node;
    const here = (onNode[node] || []).filter((each) => jobs.start[each.job] <= at && at < jobs.end[each.job]);
    const hit = here.find((each) => each.low <= part && part < each.low + each.share);
    return hit ? hit.job : -1;
  }
  const look = (lo, hi) => {
    const span = Math.max(Math.min(4, nodes), Math.min(nodes, hi - lo));
    range.lo = Math.max(0, Math.min(nodes - span, lo)); range.hi = range.lo + span;
  };
  function find(text) {
    const wanted = text.trim().toLowerCase();
    chosen = -1;
    if (wanted) {
      chosen = jobs.id.findIndex((each) => each.toLowerCase() === wanted);
      if (chosen < 0) chosen = jobs.id.findIndex((each, i) => each.toLowerCase().includes(wanted) || jobs.name[i].toLowerCase().includes(wanted));
      page.say(chosen < 0 ? `no job matches ${text}` : `${title(chosen)}: ${facts(chosen).map((pair) => pair.join(" ")).join(", ")}`);
    } else page.say("");
    page.changed();
  }

  page.handle(plot, {
    toAxis,
    hover(event, spot) {
      if (spot.x < gutter || spot.x > width - edge || spot.y > height - FOOT) { page.hush(); return; }
      view.cursor = toAxis(spot.x);
      page.changed();
      const job = jobAt(spot);
      if (job < 0) page.tell(event, `${nodeName(Math.floor(toNode(spot.y)))}, ${words(view.cursor)}`, [["free", ""]]);
      else page.tell(event, title(job), facts(job));
    },
    leave() { view.cursor = null; pick = null; page.changed(); },
    select(from, to, done) {
      pick = from && !done ? [from, to] : null;
      if (done) {
        if (Math.abs(to.y - from.y) > 12) look(toNode(Math.min(from.y, to.y)), toNode(Math.max(from.y, to.y)));
        page.show(toAxis(Math.max(gutter, Math.min(from.x, to.x))), toAxis(Math.min(width - edge, Math.max(from.x, to.x))));
      } else page.changed();
    },
    keys: {
      ArrowLeft: () => page.show(view.lo - (view.hi - view.lo) / 8, view.hi - (view.hi - view.lo) / 8),
      ArrowRight: () => page.show(view.lo + (view.hi - view.lo) / 8, view.hi + (view.hi - view.lo) / 8),
      ArrowUp: () => { look(range.lo - (range.hi - range.lo) / 8, range.hi - (range.hi - range.lo) / 8); page.changed(); },
      ArrowDown: () => { look(range.lo + (range.hi - range.lo) / 8, range.hi + (range.hi - range.lo) / 8); page.changed(); },
      "+": () => { look(range.lo + (range.hi - range.lo) / 4, range.hi - (range.hi - range.lo) / 4); page.zoom(0.5); },
      "-": () => { look(range.lo - (range.hi - range.lo) / 2, range.hi + (range.hi - range.lo) / 2); page.zoom(2); },
    },
  });
  // All nodes, or those that have the resource at all.
  function lookAtAll() {
    const having = chart.classes.filter((each) => each.has[resource]);
    range.lo = having[0].first;
    range.hi = having[having.length - 1].first + having[having.length - 1].count;
  }
  document.querySelectorAll("[data-resource]").forEach((button) => button.addEventListener("click", () => {
    resource = Number(button.dataset.resource);
    document.querySelectorAll("[data-resource]").forEach((each) => each.setAttribute("aria-pressed", String(each === button)));
    layOut();
    lookAtAll();
    page.changed();
  }));
  page.resets.push(() => { lookAtAll(); chosen = -1; page.changed(); });
  document.getElementById("find").addEventListener("input", (event) => find(event.target.value));
  document.querySelectorAll("[data-account]").forEach((button) => button.addEventListener("click", () => {
    const mine = Number(button.dataset.account);
    account = account === mine ? -1 : mine;
    document.querySelectorAll("[data-account]").forEach((each) => each.setAttribute("aria-pressed", String(Number(each.dataset.account) === account)));
    page.changed();
  }));
  page.listeners.push(draw);
  page.changed();
})();
