// Traces in speedscope, from its package, from disk: profiles and frames are those of the trace.
import fs from 'node:fs';
import path from 'node:path';
import { assert } from '../session.mjs';

/** The threads that a trace has slices of, and the names of their slices. */
function told(trace) {
  const events = JSON.parse(fs.readFileSync(trace, 'utf8')).traceEvents;
  const slices = events.filter((event) => event.ph === 'X');
  return {
    slices: slices.length,
    threads: new Set(slices.map((event) => `${event.pid} ${event.tid}`)).size,
    span: Math.max(...slices.map((event) => event.ts + event.dur)),
  };
}

async function load(session, tab, trace) {
  await tab.locator('input[type=file]').first().setInputFiles(trace);
  await tab.waitForFunction(() => document.querySelectorAll('canvas').length > 0 && /Export/.test(document.body.innerText), null, {
    timeout: 120_000,
  });
  await session.settle(tab);
}

/** What speedscope has understood: its own file format. */
async function exported(session, tab) {
  const waiting = tab.waitForEvent('download');
  await tab.getByText('Export').click();
  const file = session.file('speedscope.json');
  await (await waiting).saveAs(file);
  return JSON.parse(fs.readFileSync(file, 'utf8'));
}

export default async function check(session) {
  const trace = session.file('trace.json');
  session.orrery(['simulate', 'examples/pipeline-1f1b.json', '--quiet', '--trace', trace]);
  const tab = await session.open(path.join(session.packages, 'speedscope/dist/release/index.html'));
  await load(session, tab, trace);
  const wanted = told(trace);
  const found = await exported(session, tab);
  assert.equal(found.profiles.length, wanted.threads, 'a profile for each thread');
  const opened = found.profiles.flatMap((profile) => profile.events).filter((event) => event.type === 'O');
  assert.equal(opened.length, wanted.slices, 'every slice is opened once');
  session.note(`speedscope: ${found.profiles.length} profiles, ${opened.length} slices, ${found.shared.frames.length} frames`);
}
