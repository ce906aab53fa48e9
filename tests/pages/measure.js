// What tests measure on a page; each gives a list of what is wrong.
const beyond = () => {
  const found = [], name = (each) => `${each.tagName} ${each.id || each.className.baseVal || each.className} ${each.textContent.slice(0, 30)}`;
  const right = document.documentElement.clientWidth;
  for (const each of document.querySelectorAll("header *, main *, footer *")) {
    const box = each.getBoundingClientRect();
    if (!box.width || each.closest(".scroll") || each.closest("svg")) continue;
    if (box.right > right + 1 || box.left < -1) found.push(name(each));
  }
  for (const mark of document.querySelectorAll("svg circle, svg rect, svg text")) {
    if (mark.closest("clipPath") || mark.closest("[clip-path]")) continue;
    // A figure that scrolls within its holder may be wider than that; its marks must still be inside the figure.
    const held = mark.closest(".still, .strip, .plot"), whole = held && held.scrollWidth <= held.clientWidth + 1 ? held : mark.closest("svg");
    const box = mark.getBoundingClientRect(), svg = whole.getBoundingClientRect();
    if (box.left < svg.left - 1 || box.right > svg.right + 1) found.push(name(mark));
  }
  return found;
};
const cut = () => [...document.querySelectorAll(".scroll")].filter((box) => box.offsetWidth && box.scrollWidth > box.clientWidth + 1)
  .map((box) => `${box.firstElementChild.id}: ${box.scrollWidth} in ${box.clientWidth}`);
const colliding = () => [...document.querySelectorAll("td, th")].filter((each) => each.offsetWidth && each.scrollWidth > each.clientWidth + 1)
  .map((each) => `${each.closest("table").id}: ${each.textContent}`);
const poorContrast = () => {
  const light = (rgb) => rgb.map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (text) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const ground = (each) => { for (let at = each; at; at = at.parentElement) { const c = rgba(getComputedStyle(at).backgroundColor); if (c[3] > 250) return c.slice(0, 3); } return [255, 255, 255]; };
  const poor = [];
  for (const each of document.querySelectorAll("body *")) {
    if (![...each.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()) || !each.getClientRects().length) continue;
    if (["SCRIPT", "STYLE", "TITLE"].includes(each.tagName.toUpperCase())) continue;
    const style = getComputedStyle(each), ink = rgba(each.closest("svg") ? style.fill : style.color).slice(0, 3);
    const pair = [light(ink), light(ground(each))].sort((a, b) => b - a), ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (ratio < 4.5) poor.push(`${each.tagName} ${each.textContent.slice(0, 20)}: ${ratio.toFixed(2)}`);
  }
  return poor;
};
