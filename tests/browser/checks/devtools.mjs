// Traces in the Performance panel of DevTools, from disk: its tracks are the ranks and streams of the trace.
import fs from 'node:fs';
import { assert } from '../session.mjs';

const kWantedSeconds = 10; // a trace of a million spans

async function panel(session) {
  const tab = await session.tab();
  await tab.goto('devtools://devtools/bundled/devtools_app.html?panel=timeline');
  await tab.locator('input[type=file]').first().waitFor({ state: 'attached' });
  return tab;
}

/** What the panel has understood: tracks by name, number of slices. Nothing before it has read the file. */
const understood = async () => {
  const { TimelinePanel } = await import('./panels/timeline/timeline.js');
  const chart = TimelinePanel.TimelinePanel.instance().getFlameChart();
  const data = chart.getMainDataProvider().timelineData();
  if (!data || data.entryLevels.length === 0) return null;
  return { tracks: data.groups.map((group) => group.name), slices: data.entryLevels.length };
};

async function load(session, tab, trace) {
  const began = performance.now();
  await tab.locator('input[type=file]').first().setInputFiles(trace);
  let found = null;
  while (!found) {
    assert.ok(performance.now() - began < 120_000, `${trace} is not read after two minutes`);
    await tab.waitForTimeout(100);
    found = await tab.evaluate(understood);
  }
  return { ...found, seconds: (performance.now() - began) / 1000 };
}

export default async function check(session) {
  const trace = session.file('trace.json');
  session.orrery(['simulate', 'examples/pipeline-1f1b.json', '--quiet', '--trace', trace]);
  const events = JSON.parse(fs.readFileSync(trace, 'utf8')).traceEvents;
  const tab = await panel(session);
  const found = await load(session, tab, trace);
  const processes = events.filter((event) => event.ph === 'M' && event.name === 'process_name');
  for (const event of processes) {
    const track = found.tracks.find((name) => name.startsWith(event.args.name));
    assert.ok(track, `no track for ${event.args.name} among ${found.tracks.join(', ')}`);
  }
  assert.ok(found.slices >= events.filter((event) => event.ph === 'X').length, 'every slice has a place');
  session.note(`DevTools: ${processes.length} ranks, ${found.slices} slices, ${found.seconds.toFixed(1)} s`);

  const long = session.file('long.json');
  session.orrery(['simulate', 'examples/megatron-145b.json', '--quiet', '--trace-ranks', '0-149', '--trace', long]);
  const opened = await load(session, await panel(session), long);
  session.note(`DevTools: ${opened.slices} slices of the main job, opened in ${opened.seconds.toFixed(1)} s, ${kWantedSeconds} s are wanted`);
  assert.ok(opened.slices > 900_000);
}
