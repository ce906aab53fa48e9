"use strict";
// Tables: a press on a heading sorts, a third one restores the order of the page; wide ones shrink a little to fit.
(() => {
  const numeric = (cell) => {
    const exact = cell.querySelector("data");
    if (exact) return Number(exact.value);
    const text = cell.textContent.trim().replace(/\u2212/g, "-"), clock = /^(-?)(\d+):(\d\d)/.exec(text);
    if (clock) return (clock[1] ? -1 : 1) * (60 * Number(clock[2]) + Number(clock[3]));
    const found = /-?[\d,]*\.?\d+/.exec(text);
    return found ? Number((text.startsWith("-") && !found[0].startsWith("-") ? "-" : "") + found[0].replace(/,/g, "")) : NaN;
  };
  const isBlank = (value) => value === "" || value === "–" || Number.isNaN(value);

  function sortable(table) {
    const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells], original = [...body.rows];
    if (original.length < 2) return;
    heads.forEach((head, column) => {
      if (!head.textContent.trim()) return;
      const button = document.createElement("button"), isNumber = head.classList.contains("n");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        // Numbers begin with the largest, words with the first.
        const way = [isNumber ? "descending" : "ascending", isNumber ? "ascending" : "descending", "none"];
        const next = way[(way.indexOf(head.getAttribute("aria-sort")) + 1) % 3];
        heads.forEach((each) => { if (each.hasAttribute("aria-sort")) each.setAttribute("aria-sort", "none"); });
        head.setAttribute("aria-sort", next);
        const keyed = original.map((row, index) => ({ row, index, key: isNumber ? numeric(row.cells[column]) : row.cells[column].textContent.trim() }));
        const sign = next === "descending" ? -1 : 1;
        if (next !== "none") {
          keyed.sort((a, b) => isBlank(a.key) - isBlank(b.key) || (isBlank(a.key) ? 0 : sign * (isNumber ? a.key - b.key : a.key.localeCompare(b.key, "en", { numeric: true }))) || a.index - b.index);
        }
        body.append(...keyed.map((each) => each.row));
      });
    });
  }

  const LEAST = 0.75;
  function fit() {
    const boxes = [...document.querySelectorAll(".scroll")];
    boxes.forEach((box) => { box.firstElementChild.style.fontSize = ""; });
    boxes.map((box) => [box, box.clientWidth / box.scrollWidth]).forEach(([box, part]) => {
      const table = box.firstElementChild;
      // Padding does not shrink with the letters, hence a little more than needed.
      if (part < 1 && part >= LEAST) table.style.fontSize = `${(parseFloat(getComputedStyle(table).fontSize) * (part - 0.04)).toFixed(2)}px`;
    });
  }

  document.querySelectorAll("table[data-sort]").forEach(sortable);
  fit();
  addEventListener("resize", fit);
  // What is folded away is printed as well, and folded again after it.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    folded.forEach((each) => { each.open = true; });
  });
  addEventListener("afterprint", () => folded.forEach((each) => { each.open = false; }));
  document.querySelectorAll("details").forEach((each) => each.addEventListener("toggle", fit));
})();
