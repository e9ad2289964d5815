// Declares the global `orrery`, which all scripts of a page share: the data of the page, light and dark, colours.
//   orrery.data             the JSON of the page
//   orrery.column(name)     a typed array of the page, or undefined; read once, when first asked for
//   orrery.activities       [{name, colour, dark}], in the order of the numbers that stand for them
//   orrery.colour(a)        of activity number a, in the present theme
//   orrery.series(i)        a colour for the i-th of several lines, that all people tell apart
//   orrery.seriesDash(i)    its dashes: none of the first eight, whose colours come again after them
//   orrery.style(name)      a colour of page.css by its variable, such as "ink"
//   orrery.dark()           whether the page is dark now
//   orrery.onTheme(draw)    calls draw() whenever that changes
// Text from the data goes into the page as text (textContent) and in no other way.
"use strict";

globalThis.orrery = (() => {
  const json = (id) => JSON.parse(document.getElementById(id).textContent);
  const activities = json("activities");
  const arrays = {
    Uint8Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array, Float32Array, Float64Array,
  };

  // Bytes of one weight stand together, and most numbers as differences to the one before (packed_column.hpp).
  const decode = (script) => {
    const text = atob(script.textContent);
    const packed = new Uint8Array(text.length);
    for (let i = 0; i < text.length; ++i) packed[i] = text.charCodeAt(i);
    const weights = globalThis.pako.inflateRaw(packed, { chunkSize: Number(script.dataset.bytes) || 1 });
    script.textContent = "";  // the text has served
    const Numbers = arrays[script.dataset.type];
    const width = Numbers.BYTES_PER_ELEMENT;
    const count = weights.length / width;
    const bytes = new Uint8Array(weights.length);
    const little = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
    for (let weight = 0; weight < width; ++weight) {
      for (let i = 0, at = little ? weight : width - 1 - weight; i < count; ++i, at += width) bytes[at] = weights[weight * count + i];
    }
    const numbers = new Numbers(bytes.buffer);
    if (script.dataset.differences !== undefined) for (let i = 1; i < count; ++i) numbers[i] += numbers[i - 1];
    return numbers;
  };
  const scripts = new Map();
  for (const script of document.querySelectorAll("script.column")) scripts.set(script.dataset.name, script);
  const decoded = new Map();
  const column = (name) => {
    if (!decoded.has(name) && scripts.has(name)) decoded.set(name, decode(scripts.get(name)));
    return decoded.get(name);
  };

  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => root.dataset.theme === "dark";
  const listeners = [];
  // Drawings ask for colours a hundred thousand times a second; the browser takes long to answer.
  let shades = null;
  const styles = new Map();
  const announce = () => {
    shades = null;
    styles.clear();
    listeners.forEach((draw) => draw());
  };
  const show = (theme) => {
    root.dataset.theme = theme;
    announce();
  };
  // The reader's system decides until the reader does.
  const followSystem = () => show(system.matches ? "dark" : "light");
  const toggleTheme = () => {
    system.removeEventListener("change", followSystem);
    show(dark() ? "light" : "dark");
  };
  system.addEventListener("change", followSystem);
  followSystem();

  const colour = (a) => {
    if (!shades) {
      const isDark = dark();
      shades = activities.map((activity) => (isDark ? activity.dark : activity.colour));
    }
    return shades[a];
  };
  const style = (name) => {
    if (!styles.has(name)) styles.set(name, getComputedStyle(root).getPropertyValue(`--${name}`).trim());
    return styles.get(name);
  };
  // Neighbours in this order differ in hue and in lightness.
  const seriesOrder = ["forward", "messages between stages", "backward", "tensor communication",
    "context communication", "optimizer", "gradients and parameters", "copies to and from the host"]
    .map((name) => activities.findIndex((activity) => activity.name === name));

  return {
    data: json("data"),
    column,
    activities,
    colour,
    series: (i) => colour(seriesOrder[i % seriesOrder.length]),
    seriesDash: (i) => [[], [6, 3], [2, 3]][Math.min(2, Math.floor(i / seriesOrder.length))],
    style,
    dark,
    toggleTheme,
    onTheme: (draw) => { listeners.push(draw); },
  };
})();
