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
  for (const options of [{}, { dark: true }, { width: 480 }]) {
    const tab = await session.open(html, options);
    await tab.waitForTimeout(100);
    assert.deepEqual(await tab.evaluate(visibleProblems), [], JSON.stringify(options));
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
