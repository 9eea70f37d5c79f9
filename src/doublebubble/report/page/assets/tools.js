// What all parts share: the data, elements whose text is only ever text, numbers in words, colours.

const page = JSON.parse(document.getElementById("page-data").textContent);
const ABSTAIN = -1;

// An element with attributes, listeners (on...) and children; strings become text, never markup.
function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, String(value));
  }
  for (const child of children.flat()) if (child !== null && child !== "") made.append(child);
  return made;
}

function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function mark(words) {
  return words ? make("span", { class: "mark" }, words) : null;
}

// As in Python: to the nearest tenth of a per cent, halves up, in integers.
function percent(count, n) {
  const tenths = Math.floor((2000 * count + n) / (2 * n));
  return `${Math.floor(tenths / 10)}.${tenths % 10} %`;
}

// The interval for `count` of n inputs, outward to tenths of a per cent.
function interval(count, n) {
  const [low, high] = page.bands[n];
  const down = Math.floor(low[count] / 10);
  const up = Math.ceil(high[count] / 10);
  return `${Math.floor(down / 10)}.${down % 10} to ${Math.floor(up / 10)}.${up % 10} %`;
}

// Radii come in millionths; `decimals` digits are kept and the rest is cut off.
function radiusText(millionths, decimals) {
  const unit = 10 ** (6 - decimals);
  return ((Math.floor(millionths / unit) * unit) / 1e6).toFixed(decimals);
}

// Distances are upper bounds: what is cut off counts up.
function distanceText(millionths, decimals) {
  const unit = 10 ** (6 - decimals);
  return ((Math.ceil(millionths / unit) * unit) / 1e6).toFixed(decimals);
}

function className(run, label) {
  if (label === null) return "no label";
  if (label === ABSTAIN) return "none";
  const names = page.classes[run.gallery];
  return names && label < names.length ? names[label] : `class ${label}`;
}

// The first place in a rising list whose value is at least the one asked for.
function firstAtLeast(values, wanted) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

// How many inputs a step curve certifies at a radius in millionths.
function certifiedAt(curve, millionths) {
  const place = firstAtLeast(curve.radii, millionths);
  return place < curve.radii.length ? curve.certified[place] : 0;
}

function cssValue(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// A colour of the page by its number, or one of the registry's, made lighter on a dark page.
function colour(given) {
  if (typeof given === "number") return cssValue(`--series-${given % 7}`);
  if (!dark.matches) return given;
  const parts = [1, 3, 5].map((at) => parseInt(given.slice(at, at + 2), 16));
  return `#${parts.map((part) => Math.round(part + 0.45 * (255 - part)).toString(16).padStart(2, "0")).join("")}`;
}

const DASHES = ["solid", "dash", "dot", "dashdot", "longdash"];

function dash(number) {
  return DASHES[Math.floor(number / 7 + number) % DASHES.length];
}

const calm = matchMedia("(prefers-reduced-motion: reduce)");
const dark = matchMedia("(prefers-color-scheme: dark)");
