// The page of a run: its figures are those of --json, its timelines zoom, are searched and answer.
import { assert } from '../session.mjs';

const kOpenSeconds = 30; // on the slowest machine that the gate runs on; 10 s are wanted

/** Rows of a table in words: cells of the body. */
const rowsOf = (tab, selector) => tab.locator(`${selector} tbody tr`).evaluateAll((rows) =>
  rows.map((row) => [...row.children].map((cell) => cell.textContent.trim())));

const seconds = (text) => {
  const [number, unit] = text.split(' ');
  return Number(number) * { s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9 }[unit];
};

async function checkFigures(tab, json) {
  const figure = async (name) => (await tab.locator('.figure', { hasText: name }).first().locator('dd').first().textContent()).trim();
  assert.ok(Math.abs(seconds(await figure('step time')) / json.step_time_s - 1) < 1e-3, await figure('step time'));
  assert.equal(await figure('MFU'), `${(100 * json.mfu).toFixed(1)} %`);
  assert.equal(await figure('GPUs busy'), `${(100 * json.utilization.gpu_mean).toFixed(1)} %`);
  const breakdown = await rowsOf(tab, '#breakdown');
  const shares = Object.values(json.breakdown_s).filter((part) => part > 0);
  assert.equal(breakdown.length, shares.length);
  const sum = breakdown.reduce((total, row) => total + seconds(row[1]), 0);
  assert.ok(Math.abs(sum / json.step_time_s - 1) < 1e-3, `the breakdown sums to ${sum}`);
}

/** Hatched times of the timelines, mean over GPUs, by cause. */
const waitsOnPage = () => {
  const { column, run } = globalThis.orrery;
  const sums = new Array(8).fill(0);
  const [cause, of, start, finish] = ['cause', 'class', 'start', 'finish'].map((name) => column(`wait.${name}`));
  for (let i = 0; i < of.length; ++i) sums[cause[i]] += (finish[i] - start[i]) * run.classes[of[i]].count;
  return sums.map((ps) => ps * 1e-12 / run.ranks / run.steps);
};

async function checkWaits(tab, json) {
  const waits = await tab.evaluate(waitsOnPage);
  const names = ['exposed_tensor', 'exposed_pipeline', 'exposed_data', 'exposed_context', 'exposed_expert', 'exposed_offload'];
  names.forEach((name, i) => assert.ok(Math.abs(waits[i] - json.breakdown_s[name]) < 1e-9, `${name}: ${waits[i]}`));
  assert.ok(Math.abs(waits[7] - json.breakdown_s.bubble) < 1e-9, `bubble: ${waits[7]}`);
}

const range = (tab) => tab.evaluate(() => {
  const { range: shown } = document.querySelector('#schedule .timeline').timeline;
  return [shown.from, shown.to];
});

async function checkTimelines(session, tab) {
  const lanes = tab.locator('#schedule .lanes');
  await lanes.scrollIntoViewIfNeeded();
  const box = await lanes.boundingBox();
  const [, whole] = await range(tab);
  await tab.mouse.move(box.x + 500, box.y + 40);
  await tab.mouse.down();
  await tab.mouse.move(box.x + 700, box.y + 40, { steps: 3 });
  await tab.mouse.up();
  let [from, to] = await range(tab);
  assert.ok(to - from < whole / 3, 'a drag zooms');
  await lanes.focus();
  await tab.keyboard.press('ArrowRight');
  assert.ok((await range(tab))[0] > from, 'an arrow key moves');
  await tab.keyboard.press('0');
  [from, to] = await range(tab);
  assert.deepEqual([from, to], [0, whole]);

  await tab.mouse.click(box.x + 160, box.y + 36);
  assert.match(await tab.locator('#pass .note').textContent(), /forward pass of micro-batch \d+ on stage 0/);
  await session.settle(tab);
  const layers = await tab.locator('#pass .lanes').boundingBox();
  await tab.locator('#pass .lanes').scrollIntoViewIfNeeded();
  const place = await tab.locator('#pass .lanes').boundingBox();
  await tab.mouse.move(place.x + layers.width / 2, place.y + 34);
  const tooltip = await tab.locator('.tooltip').innerText();
  assert.match(tooltip, /layer/);
  assert.match(tooltip, /micro-batch/);
}

/** What the line below a timeline says of the span that the cursor is on. */
const told = (tab, section) => tab.locator(`#${section} figure.timeline > figcaption`).textContent();

async function checkKeyboard(session, tab) {
  await session.focus(tab, '#schedule .lanes');
  await tab.keyboard.press('0');
  await tab.keyboard.press('ArrowDown');
  await tab.keyboard.press('ArrowDown');
  assert.match(await told(tab, 'schedule'), /^stage 1: bubble/);
  for (let i = 0; i < 9 && !/forward pass/.test(await told(tab, 'schedule')); ++i) await tab.keyboard.press('n');
  assert.match(await told(tab, 'schedule'), /^stage 1: forward pass; stage 1; micro-batch 0; from .* takes/);
  await tab.keyboard.press('Enter');
  assert.match(await tab.locator('#pass .note').textContent(), /forward pass of micro-batch 0 on stage 1/);
  await session.focus(tab, '#pass .lanes');
  for (let i = 0; i < 9 && !/layer/.test(await told(tab, 'pass')); ++i) await tab.keyboard.press('n');
  const first = await told(tab, 'pass');
  assert.match(first, /^compute: forward attention;.* layer \d+; micro-batch 0;/);
  await tab.keyboard.press('n');
  await tab.keyboard.press('p');
  assert.equal(await told(tab, 'pass'), first, 'p goes back');
  await tab.keyboard.press('Escape');
  assert.equal(await told(tab, 'pass'), '');
}

/** A drag that the browser takes away ends, and zooms nowhere. */
async function checkCancelledDrag(tab) {
  const before = await range(tab);
  const drags = await tab.evaluate(() => {
    const { timeline } = document.querySelector('#schedule .timeline');
    timeline.drag = { x: 300, at: 600, moves: false, from: timeline.range.from, to: timeline.range.to };
    timeline.box.dispatchEvent(new PointerEvent('pointercancel'));
    return timeline.drag !== null;
  });
  assert.equal(drags, false, 'pointercancel ends a drag');
  assert.deepEqual(await range(tab), before);
}

/** Neighbours can be put in order by what their tooltips say. */
async function checkMoments(tab) {
  const words = await tab.evaluate(() => {
    const { model } = globalThis.orrery;
    return [model.at(3_095_100_000, 85_282_000), model.at(3_180_382_000, 85_282_000)].map((text) => text.replaceAll('\u202f', ''));
  });
  assert.deepEqual(words, ['3.095100 ms', '3.180382 ms']);
}

async function checkSearch(tab) {
  await tab.fill('#schedule input[type=search]', 'forward attention layer 3');
  await tab.keyboard.press('Enter');
  assert.match(await tab.locator('.found').textContent(), /^1 of \d+: forward attention$/);
  await tab.fill('#experiment input[type=search]', 'plan.pipeline_schedule');
  const rows = await rowsOf(tab, '#experiment');
  assert.equal(rows.length, 1);
  assert.equal(rows[0][0], 'plan.pipeline_schedule');
}

export default async function check(session) {
  const { html, json } = session.page(['simulate', 'examples/pipeline-1f1b.json']);
  const tab = await session.open(html);
  await checkFigures(tab, json);
  await checkWaits(tab, json);
  await checkTimelines(session, tab);
  await checkKeyboard(session, tab);
  await checkCancelledDrag(tab);
  await checkMoments(tab);
  await checkSearch(tab);

  const picture = await session.open(html);
  await picture.setViewportSize({ width: 1160, height: 1320 });
  await session.screenshot(picture, 'page-run');

  const large = session.page(['simulate', 'examples/megatron-145b.json']);
  const began = performance.now();
  const main = await session.open(large.html);
  const took = (performance.now() - began) / 1000;
  assert.ok(took < kOpenSeconds, `the page of the main job opens in ${took} s`);
  session.note(`the page of the main job opens in ${took.toFixed(1)} s`);
  await checkFigures(main, large.json);
  // All of its ranks fit into the page where links are not shared, so the waits of all add up.
  const alone = session.page(['simulate', 'examples/megatron-145b.json', 'simulation.network=alpha-beta']);
  await checkWaits(await session.open(alone.html), alone.json);

  // What has no timeline, or does not fit, has its page too.
  const asynchronous = await session.open(session.page(['simulate', 'examples/asynchronous.json']).html);
  assert.equal(await asynchronous.locator('#schedule').count(), 0);
  assert.match(await asynchronous.locator('#timeline').innerText(), /keep no step with each other/);
  const infeasible = await session.open(session.page(['simulate', 'examples/gpt3-175b.json', 'plan.tensor_parallel=2',
    'plan.pipeline_parallel=1', 'plan.data_parallel=512', 'plan.virtual_stages=1'], 3).html);
  assert.match(await infeasible.locator('#trust').innerText(), /out of memory/);
}
