// The documentation as a site, opened from disk: every page loads, the search finds, runs are there to look at.
import fs from 'node:fs';
import path from 'node:path';
import { assert } from '../session.mjs';

function pagesBelow(folder) {
  return fs.readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.html') && !file.startsWith('runs/'));
}

async function search(tab, words) {
  await tab.locator('.md-search__input').fill(words);
  await tab.locator('.md-search-result__link').first().waitFor();
  return tab.locator('.md-search-result__link h1').allInnerTexts();
}

export default async function (session) {
  assert.ok(session.site, 'the check site needs --site FOLDER');
  const start = path.join(session.site, 'index.html');
  const tab = await session.open(start);
  assert.equal(await tab.locator('h1').first().innerText().then((text) => text.replace('\u00b6', '').trim()), 'Orrery');
  const found = await search(tab, 'gradient buckets');
  assert.ok(found.length > 0, 'the search finds pages about gradient buckets');

  const dark = await session.open(start, { dark: true });
  assert.equal(await dark.locator('body').getAttribute('data-md-color-scheme'), 'slate');

  const narrow = await session.open(start, { width: 390 });
  assert.ok(await narrow.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than 390 px');

  const pages = pagesBelow(session.site);
  for (const page of pages) {
    await tab.goto(`file://${path.join(session.site, page)}`, { waitUntil: 'load' });
    const broken = await tab.evaluate(() => [...document.images].filter((image) => !image.naturalWidth).map((image) => image.src));
    assert.deepEqual(broken, [], `${page}: every picture loads`);
  }
  session.note(`${pages.length} pages, ${found.length} found by the search`);

  await tab.goto(`file://${path.join(session.site, 'runs.html')}`);
  const runs = await tab.locator('article a[href^="runs/"]').evaluateAll((links) => links.map((link) => link.href));
  assert.ok(runs.length >= 3, 'three runs to look at');
  for (const run of runs) {
    await tab.goto(run, { waitUntil: 'load' });
    await session.settle(tab);
    assert.ok(await tab.locator('canvas, svg').count(), `${run} draws something`);
  }
}
