// The page of a run: its figures are those of the JSON, its timelines zoom by wheel and keys, and a large one opens soon.
import fs from 'node:fs';
import { look } from '../look.mjs';
import { assert } from '../session.mjs';

const kWantedSeconds = 10; // a run of 1,024 GPUs
const kMostPageBytes = 45e6;

/** Every figure of the page that the JSON has under that name, as `simulate` prints it. */
const figureText = (tab, label) => tab.locator('.figure', { hasText: label }).first().locator('dd').first().innerText();

/** The text of a duration in the unit that suits it, as the summary has it. */
function durationText(seconds) {
  const [unit, name] = [[1, 's'], [1e-3, 'ms'], [1e-6, 'us']].find(([size]) => seconds >= size);
  return `${(seconds / unit).toFixed(3)} ${name}`;
}

async function zoom(session, tab, section) {
  const canvas = tab.locator(`#${section} canvas`).first();
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  const picture = () => canvas.evaluate((element) => element.toDataURL());
  await tab.mouse.move(box.x + box.width / 2, box.y + Math.min(box.height, 400) / 2);
  const before = await picture();
  await tab.keyboard.down('Control');
  await tab.mouse.wheel(0, -400);
  await tab.keyboard.up('Control');
  await session.settle(tab);
  await tab.waitForTimeout(200);
  const zoomed = await picture();
  assert.notEqual(zoomed, before, `the wheel zooms into ${section}`);
}

/** Of the row of each rank: [kind, share of the row's time, share of its pixels]. */
const sharesOfRows = () => {
  const { model, run, activities, colour } = globalThis.orrery;
  const { timeline } = document.querySelector('#ranks .timeline');
  timeline.draw();
  const ctx = timeline.canvas.getContext('2d');
  const near = (pixels, i, [r, g, b]) => Math.hypot(pixels[i] - r, pixels[i + 1] - g, pixels[i + 2] - b) < 40;
  return run.classes.map((of, c) => {
    const lane = timeline.lanes[c];
    const { data } = ctx.getImageData(timeline.gutter, timeline.tops[c] + 1, timeline.width, lane.height - 2);
    return ['forward', 'recomputation', 'backward'].map((name) => {
      const a = model.activity(name);
      let time = 0;
      for (let k = 0; k < of.ops; ++k) {
        const span = of.first_span + k;
        if (model.ops.activity[of.first_op + k] === a && model.ops.stream[of.first_op + k] === 0) time += model.finish[span] - model.start[span];
      }
      const wanted = [1, 3, 5].map((at) => parseInt(colour(a).slice(at, at + 2), 16));
      let pixels = 0;
      for (let i = 0; i < data.length; i += 4) pixels += near(data, i, wanted) ? 1 : 0;
      return [activities[a].name, time / run.makespan_ps, pixels / (data.length / 4)];
    });
  });
};

/** What is too narrow to be drawn by itself is drawn as much as it takes, and the pointer says so. */
async function checkOverview(session, tab) {
  await tab.locator('#ranks').scrollIntoViewIfNeeded();
  await session.settle(tab);
  const rows = await tab.evaluate(sharesOfRows);
  for (const [c, row] of rows.entries())
    for (const [name, taken, drawn] of row) assert.ok(Math.abs(taken - drawn) < 0.04, `row ${c}: ${name} takes ${taken}, drawn are ${drawn}`);
  const box = await tab.locator('#ranks .lanes').boundingBox();
  await tab.mouse.move(box.x + box.width / 2, box.y + 32);
  const tooltip = await tab.locator('.tooltip').innerText();
  assert.match(tooltip, /^\d+ operations and waits within/);
  const shares = [...tooltip.matchAll(/([\d.]+) %/g)].reduce((sum, [, share]) => sum + Number(share), 0);
  assert.ok(Math.abs(shares - 100) < 0.5, tooltip);
}

async function checkSearchOfRanks(tab) {
  for (const [text, rank] of [['all-reduce rank 8', 8], ['rank 1023', 1023]]) {
    await tab.fill('#schedule input[type=search]', text);
    await tab.keyboard.press('Enter');
    assert.match(await tab.locator('.found').textContent(), new RegExp(`^1 of .* of rank ${rank}$`));
    const shown = await tab.evaluate(() => {
      const { timeline } = document.querySelector('#ranks .timeline');
      return timeline.lanes[timeline.chosen.lane].layers.find(({ kind }) => kind === 'span').rank;
    });
    assert.equal(shown, rank, 'the row of that rank is unfolded');
  }
  await tab.fill('#schedule input[type=search]', 'rank 1024');
  await tab.keyboard.press('Enter');
  assert.equal(await tab.locator('.found').textContent(), '0 found: ranks are 0 to 1023');
}

/** A run of more operations than a page holds. */
async function checkLimit(session) {
  const { html } = session.page(['simulate', 'examples/gpt3-175b.json', 'plan.global_batch_size=15360']);
  assert.ok(fs.statSync(html).size < kMostPageBytes, `${fs.statSync(html).size} bytes`);
  const tab = await session.open(html);
  const spans = await tab.evaluate(() => globalThis.orrery.model.start.length);
  assert.ok(spans > 0 && spans <= 300_000, `${spans} operations`);
  assert.match(await tab.locator('#ranks .note').innerText(), /A page holds 300\W000 operations at most; shown are \d+ of 1\W024 ranks\./);
  await tab.locator('#schedule .lanes').scrollIntoViewIfNeeded();
  const box = await tab.locator('#schedule .lanes').boundingBox();
  await tab.mouse.click(box.x + box.width / 2, box.y + 24 + 24 * 3 + 8);
  assert.match(await tab.locator('#pass .note').textContent(), /on stage 3: its operations are not on this page/);
}

export default async function check(session) {
  const { html, json } = session.page(['simulate', 'examples/pipeline-1f1b.json']);
  await look(session, html);
  const tab = await session.open(html);
  assert.equal(await figureText(tab, 'step time'), durationText(json.step_time_s));
  await zoom(session, tab, 'schedule');

  const large = session.page(['simulate', 'examples/gpt3-175b.json', 'cluster.nodes=128']);
  assert.equal(large.json.gpus, 1024);
  const began = performance.now();
  const opened = await session.open(large.html);
  await opened.locator('#schedule canvas').first().waitFor();
  const seconds = (performance.now() - began) / 1000;
  session.note(`a run of ${large.json.gpus} GPUs: opened in ${seconds.toFixed(1)} s, ${kWantedSeconds} s are wanted`);
  await checkOverview(session, opened);
  await checkSearchOfRanks(opened);
  await checkLimit(session);
}
