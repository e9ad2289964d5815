// The page of a run: its figures are those of the JSON, its timelines zoom by wheel and keys, and a large one opens soon.
import { look } from '../look.mjs';
import { assert } from '../session.mjs';

const kWantedSeconds = 10; // a run of 1,024 GPUs
const kSlowMachine = 4;    // times that, where others compute beside

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
  assert.ok(seconds < kSlowMachine * kWantedSeconds);
}
