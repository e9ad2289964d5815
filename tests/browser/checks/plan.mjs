// The page of a search: the plans found, the front, why the first wins, what became of all others.
import { look, tableRows } from '../look.mjs';
import { assert } from '../session.mjs';

const count = (text) => Number(text.replace(/\s/g, ''));

export default async function check(session) {
  const { html, json } = session.page(['plan', 'examples/llama-7b.yaml', '--pareto', 'memory.peak_gb', '--vary',
    'plan.micro_batch_size=1,2,4,8', '--vary', 'plan.recompute=none,selective,full', '--vary', 'plan.zero_stage=1,2,3', '--vary',
    'plan.tensor_parallel=1,2,4']);
  await look(session, html);
  const tab = await session.open(html);
  const best = await tableRows(tab, '#best > .table');
  assert.equal(best.length - 1, json.best.length);
  for (const key of ['micro_batch_size', 'zero_stage']) {
    const column = best[0].findIndex((title) => title.startsWith(key));
    json.best.forEach((plan, i) => assert.equal(best[i + 1][column], String(plan.point[`plan.${key}`])));
  }

  // The page opens the best plan by itself, and any other by a click.
  const line = tab.locator('#best input.line');
  const overrides = (plan) => Object.entries(plan.point).map(([name, value]) => `${name}=${value}`).sort();
  assert.deepEqual((await line.inputValue()).split(' ').sort(), overrides(json.best[0]));
  await tab.locator('#best > .table tbody tr').nth(1).click();
  assert.deepEqual((await line.inputValue()).split(' ').sort(), overrides(json.best[1]));

  const terms = await tab.locator('.falls[data-list="breakdown"] tr[data-term]').evaluateAll((rows) =>
    Object.fromEntries(rows.map((row) => [row.dataset.term, Number(row.dataset.difference)])));
  const why = Object.fromEntries(json.why.filter((term) => term.gain_s !== 0).map((term) => [term.term, Math.round(term.gain_s * 1e12)]));
  assert.deepEqual(terms, why);

  // Every point of the space has its place.
  const others = (await tableRows(tab, '#others')).slice(1);
  const removed = Object.values(json.removed).reduce((a, b) => a + b, 0);
  const losers = Object.values(json.losers).reduce((a, b) => a + b, 0);
  assert.equal(others.reduce((sum, row) => sum + count(row[0]), 0), removed + losers);
  assert.equal((await tableRows(tab, '#front')).length - 1, json.pareto.length);
  await session.screenshot(tab, 'page-plan', { selector: '#front' });
}
