// The page of a sweep: any two figures of thousands of points, each of which opens whole.
import fs from 'node:fs';
import { look } from '../look.mjs';
import { assert } from '../session.mjs';

export default async function check(session) {
  const results = session.file('results.db');
  const html = session.file('sweep.html');
  const columns = session.file('columns.json');
  session.orrery(['sweep', 'examples/llama-7b.yaml', '--out', results, '--quiet', '--vary', 'plan.micro_batch_size=1,2,4,8',
    '--vary', 'plan.recompute=none,selective,full', '--vary', 'plan.zero_stage=0,1,2,3', '--vary', 'plan.bucket_mb=10..100+10',
    '--html', html, '--export', 'columns', '--to', columns]);
  const told = JSON.parse(fs.readFileSync(columns, 'utf8'));
  await look(session, html);
  const tab = await session.open(html);

  // Fluid: what one zooms and points at follows within a moment.
  const feasible = told.state.filter((state) => state === 'feasible').length;
  const plot = tab.locator('#figures-chart .plot');
  const box = await plot.boundingBox();
  const began = performance.now();
  for (let i = 0; i < 20; ++i) await tab.mouse.move(box.x + 80 + 40 * i, box.y + box.height / 2);
  const moved = (performance.now() - began) / 20;
  assert.ok(moved < 200, `a move of the pointer takes ${moved} ms`);
  session.note(`sweep: ${feasible} feasible points, ${moved.toFixed(0)} ms a move of the pointer`);

  // The first point of the table is the best; a click opens it.
  await tab.locator('#points tbody tr').first().click();
  const least = Math.min(...told.step_time_s.filter((_, i) => told.state[i] === 'feasible'));
  const best = told.step_time_s.indexOf(least);
  const line = await tab.locator('#plan input.line').inputValue();
  assert.ok(line.includes(`plan.micro_batch_size=${told['plan.micro_batch_size'][best]}`), line);
  await tab.locator('#figures select').nth(0).selectOption('plan.recompute');
  await session.focus(tab, '#figures .plot');
  await tab.keyboard.press('ArrowRight');
  await tab.keyboard.press('Enter');
  await session.screenshot(tab, 'page-sweep', { selector: '#along' });
}
