// What holds for every page, whatever it shows.
import { assert } from './session.mjs';

/** Problems that a reader would see at once. */
const visibleProblems = () => {
  const problems = [];
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) problems.push(`the page is ${root.scrollWidth} wide in a window of ${innerWidth}`);
  const nonsense = document.body.innerText.match(/.{0,30}(\bNaN\b|\bundefined\b|\[object |\bInfinity\b).{0,30}/);
  if (nonsense) problems.push(`text without meaning: ${nonsense[0]}`);
  for (const section of document.querySelectorAll('section')) {
    const content = [...section.querySelectorAll('canvas, table, .stacks, ul, dl, svg, p:not(.note)')];
    if (!content.some((one) => one.getBoundingClientRect().height > 0)) problems.push(`the section ${section.id} is empty`);
  }
  for (const canvas of document.querySelectorAll('canvas')) {
    if (canvas.width === 0 || canvas.height === 0) {
      problems.push(`a canvas of ${canvas.width} x ${canvas.height}`);
      continue;
    }
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const pixels = new Uint32Array(data.buffer);
    if (pixels.every((pixel) => pixel === pixels[0])) problems.push(`nothing is drawn in ${canvas.closest('section')?.id}`);
  }
  return problems;
};

/** Ratios of contrast (WCAG 2.2, 1.4.3: at least 4.5) of the page's words on its paper that are too low. */
const faintWords = () => {
  const brightness = (text) => {
    const parts = text.match(/[\d.]+/g).slice(0, 3).map((part) => Number(part) / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const paperOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const { backgroundColor } = getComputedStyle(at);
      if (!/, 0\)$/.test(backgroundColor)) return backgroundColor;
    }
    return 'rgb(255, 255, 255)';
  };
  const problems = new Set();
  for (const element of document.querySelectorAll('h1, h2, h3, p, a, button, th, td, dt, dd, li, caption, label, summary, code, footer')) {
    if (!element.innerText?.trim() || element.closest('svg, .old, .waits')) continue;
    const [ink, paper] = [brightness(getComputedStyle(element).color), brightness(paperOf(element))];
    const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    if (ratio < 4.5) problems.add(`${element.tagName}.${element.className}: contrast ${ratio.toFixed(2)}`);
  }
  return [...problems];
};

/** Elements that the Tab key comes to, in order: their accessible names, and whether one sees where one is. */
async function tabStops(tab) {
  const stops = [];
  for (let i = 0; i < 60; ++i) {
    await tab.keyboard.press('Tab');
    const stop = await tab.evaluate(() => {
      const element = document.activeElement;
      if (!element || element === document.body) return null;
      const name = element.getAttribute('aria-label') || element.closest('label')?.textContent || element.textContent || element.title;
      return { tag: element.tagName, name: (name ?? '').trim(), seen: getComputedStyle(element).outlineStyle !== 'none' };
    });
    if (!stop) break;
    stops.push(stop);
  }
  return stops;
}

/** Opens a page light and dark, wide and narrow, and walks through it by keyboard. */
export async function look(session, html) {
  for (const options of [{}, { dark: true }, { width: 390 }, { width: 390, dark: true }]) {
    const tab = await session.open(html, options);
    await tab.waitForTimeout(100);
    assert.deepEqual(await tab.evaluate(visibleProblems), [], JSON.stringify(options));
    assert.deepEqual(await tab.evaluate(faintWords), [], JSON.stringify(options));
    const paper = await tab.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const light = paper.match(/\d+/g).slice(0, 3).every((part) => Number(part) > 128);
    assert.equal(light, !options.dark, `the paper is ${paper}`);
    await tab.context().close();
  }
  const tab = await session.open(html);
  const stops = await tabStops(tab);
  assert.ok(stops.length > 3, `${stops.length} places for the keyboard`);
  for (const stop of stops) {
    assert.ok(stop.name, `a ${stop.tag} without a name`);
    assert.ok(stop.seen, `one does not see that ${stop.tag} "${stop.name}" has the focus`);
  }
  await tab.context().close();
}

/** The rows of a table as texts, headers first. */
export const tableRows = (tab, selector) => tab.locator(`${selector} table tr`).evaluateAll((rows) =>
  rows.map((row) => [...row.children].map((cell) => cell.innerText.trim())));
