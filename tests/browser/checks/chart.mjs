// The keys of a chart: they stay with what is in view, and one press moves by a pixel or more.
import { assert } from '../session.mjs';

/** Where the tooltip points to, beside the plot. */
async function pointed(tab) {
  await tab.locator('.tooltip').waitFor({ state: 'visible' });
  const plot = await tab.locator('#memory .u-over').boundingBox();
  const box = await tab.locator('.tooltip').boundingBox();
  return { plot, box, text: await tab.locator('.tooltip').innerText() };
}

/** Presses a key until it changes nothing more, `most` times at most; how often. */
const pressed = (tab, key, most) => tab.evaluate(([name, limit]) => {
  const plot = document.querySelector('#memory .plot');
  const tooltip = document.querySelector('.tooltip');
  for (let n = 0; n < limit; ++n) {
    const before = tooltip.textContent;
    plot.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true }));
    if (tooltip.textContent === before) return n;
  }
  return limit;
}, [key, most]);

async function assertInView(tab, range) {
  const { plot, box } = await pointed(tab);
  assert.ok(box.x + box.width > plot.x && box.x < plot.x + plot.width + 20, `the tooltip at ${box.x} lies beside the plot`);
  assert.ok(box.x >= 0 && box.y >= 0, `the tooltip is off the screen at ${box.x}, ${box.y}`);
  assert.deepEqual(await tab.evaluate(() => {
    const { range: shown } = document.querySelector('#schedule .timeline').timeline;
    return [shown.from, shown.to];
  }), range, 'the keys of a point do not move the range');
}

async function checkZoomed(session) {
  const tab = await session.open(session.page(['simulate', 'examples/pipeline-1f1b.json']).html);
  await session.focus(tab, '#schedule .lanes');
  for (let i = 0; i < 4; ++i) await tab.keyboard.press('+');
  const range = await tab.evaluate(() => {
    const { range: shown } = document.querySelector('#schedule .timeline').timeline;
    return [shown.from, shown.to];
  });
  await session.focus(tab, '#memory .plot');
  await tab.keyboard.press('ArrowRight');
  await assertInView(tab, range);
  const first = (await pointed(tab)).text;
  assert.ok(await pressed(tab, 'ArrowRight', 5000) > 0);
  await assertInView(tab, range);
  assert.notEqual((await pointed(tab)).text, first);
  await tab.keyboard.press('ArrowDown');
  await assertInView(tab, range);
  await pressed(tab, 'ArrowLeft', 5000);
  await assertInView(tab, range);
}

/** 28,088 points of eight stages: no more presses than pixels. */
async function checkCrowded(session) {
  const tab = await session.open(session.page(['simulate', 'examples/gpt3-175b.json']).html);
  await session.focus(tab, '#memory .plot');
  const width = Math.ceil((await tab.locator('#memory .u-over').boundingBox()).width);
  await tab.keyboard.press('ArrowLeft');
  const last = (await pointed(tab)).text;
  await tab.keyboard.press('ArrowRight');
  assert.equal((await pointed(tab)).text, last, 'no point lies beyond the last');
  const presses = await pressed(tab, 'ArrowLeft', width + 2);
  assert.ok(presses <= width + 1, `${presses} presses cross ${width} pixels`);
}

export default async function check(session) {
  await checkZoomed(session);
  await checkCrowded(session);
}
