// The page of a search: the plans found, the front, why the first wins, what became of all others.
import { look, tableRows } from '../look.mjs';
import { assert } from '../session.mjs';

const count = (text) => Number(text.replace(/\s/g, ''));

/** Rows are told apart by the keys in which they differ, and the first is held against one that is worse. */
async function checkTied(session) {
  const { html, json } = session.page(['plan', 'examples/llama-7b.yaml', '--top', '10', '--vary', 'plan.micro_batch_size=2,4', '--vary',
    'plan.pipeline_schedule=1f1b,gpipe', '--vary', 'plan.zero_stage=1,3', '--vary', 'plan.recompute=none,full']);
  const step = (i) => json.best[i].step_time_s ?? json.best[i].result?.step_time_s;
  const tab = await session.open(html);
  const labels = await tab.locator('#time .stack-label').allInnerTexts();
  assert.equal(new Set(labels).size, labels.length, labels.join('\n'));
  const chosen = await tab.locator('#why select').evaluateAll((list) => list.map((select) => Number(select.value)));
  const worse = json.best.findIndex((_, i) => step(i) !== step(0));
  assert.ok(worse > 0, JSON.stringify(json.best.map((_, i) => step(i))));
  assert.deepEqual(chosen, [0, worse]);
  assert.ok(await tab.locator('#why tr[data-term]').count() > 0, 'terms of a difference');
}

export default async function check(session) {
  await checkTied(session);
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

  // What is opened far below comes into view.
  await session.focus(tab, '#front-chart .plot');
  await tab.keyboard.press('ArrowRight');
  await tab.keyboard.press('Enter');
  const { y } = await tab.locator('#best .detail h3').first().boundingBox();
  assert.ok(y >= 0 && y < 900, `the plan that was opened is at ${y}`);
  await tab.reload();
  await session.settle(tab);

  await tab.locator('#why select').nth(1).selectOption('1'); // the runner-up, as the JSON has it
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
