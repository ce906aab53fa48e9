"use strict";
// The index: filters by scenario, month and words, and what colours the days of the months.
(() => {
  const pick = (name) => document.getElementById(`filter-${name}`), months = document.querySelector(".months");
  const rows = [...document.querySelectorAll("#days tbody tr")], parts = [...document.querySelectorAll("[data-scenario]")];
  const apply = () => {
    const scenario = pick("scenario")?.value || "", month = pick("month")?.value || "";
    const words = pick("words").value.toLowerCase().split(/\s+/).filter(Boolean);
    parts.forEach((each) => {
      each.hidden = Boolean((scenario && each.dataset.scenario !== scenario) || (month && each.dataset.month && each.dataset.month !== month));
    });
    let shown = 0;
    rows.forEach((row) => {
      const text = row.textContent.toLowerCase(), [day, name] = [row.cells[0].textContent, row.cells[1].textContent];
      row.hidden = Boolean((scenario && name !== scenario) || (month && !day.startsWith(month)) || !words.every((each) => text.includes(each)));
      shown += !row.hidden;
    });
    pick("count").textContent = shown === rows.length ? "" : `${shown} of ${rows.length} days`;
  };
  ["scenario", "month", "words"].forEach((name) => pick(name)?.addEventListener("input", apply));
  document.querySelectorAll("[data-by]").forEach((button) => button.addEventListener("click", () => {
    months.dataset.shown = button.dataset.by;
    document.querySelectorAll("[data-by]").forEach((each) => each.setAttribute("aria-pressed", String(each === button)));
  }));
  apply();
})();
