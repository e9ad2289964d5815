// The page of a comparison: its figures are those of the JSON, and its differences add up to the picosecond.
import { look, tableRows } from '../look.mjs';
import { assert, assertClose } from '../session.mjs';

const kPicosecond = 1e-12;
const picoseconds = (seconds) => Math.round(seconds / kPicosecond);

/** Terms of a difference as the page has them. */
const termsOf = (tab, list) => tab.locator(`.falls[data-list="${list}"] tr[data-term]`).evaluateAll((rows) =>
  Object.fromEntries(rows.map((row) => [row.dataset.term, Number(row.dataset.difference)])));

const told = (terms, unit) => Object.fromEntries(terms.filter((term) => term.difference !== 0)
  .map((term) => [term.term, Math.round(term.difference / unit)]));

const kSeconds = { s: 1, ms: 1e-3, us: 1e-6 };
const secondsOf = (text) => {
  const [number, unit] = text.split(' ');
  return Number(number) * kSeconds[unit];
};

/** Whether the reader can see where an element begins. */
const isInView = (tab, selector) => tab.locator(selector).first().evaluate((element) => {
  const { top } = element.getBoundingClientRect();
  return top >= 0 && top < innerHeight;
});

/** A plan that does not fit is hollow and on no line; what is opened comes into view. */
async function checkInfeasible(session) {
  const { html, json } = session.page(['compare', 'examples/llama-7b.yaml', '--why', '--vary', 'plan.micro_batch_size=1,2,8', '--chart', 'none']);
  assert.deepEqual(json.rows.map((row) => row.result.feasible), [true, true, false]);
  const tab = await session.open(html);
  const swatches = await tab.locator('#along .legend button').evaluateAll((buttons) => buttons.map((button) =>
    [button.textContent, button.querySelector('.swatch').className.split(' ')[1]]));
  assert.deepEqual(swatches, [['plans', 'dot'], ['best of plans', 'line'], ['out of memory', 'hollow']]);
  await session.focus(tab, '#along-chart .plot');
  const said = async (key) => {
    await tab.keyboard.press(key);
    return tab.locator('.tooltip').innerText();
  };
  await said('ArrowRight');
  const line = [await said('ArrowDown'), await said('ArrowRight'), await said('ArrowRight')].join('\n');
  assert.match(line, /micro_batch_size 2/);
  assert.doesNotMatch(line, /micro_batch_size 8/, 'the line of the best has no plan that does not fit');
  assert.match(await said('ArrowDown'), /micro_batch_size 8[\s\S]*not feasible/);
  await tab.keyboard.press('Enter');
  assert.ok(await isInView(tab, '#rows .detail h3'), 'the plan that was opened is in view');
  assert.match(await tab.locator('#rows .detail h3').first().innerText(), /8/);
}

export default async function check(session) {
  await checkInfeasible(session);
  const { html, json } = session.page(['compare', 'examples/llama-7b.yaml', '--why', '--vary', 'plan.micro_batch_size=1,2,8',
    '--vary', 'plan.recompute=none,full', '--vary', 'plan.zero_stage=1,3', '--chart', 'none']);
  await look(session, html);
  const tab = await session.open(html);

  const rows = await tableRows(tab, '#rows');
  const column = rows[0].findIndex((title) => title.startsWith('step time'));
  assert.equal(rows.length - 1, json.rows.length);
  json.rows.forEach((row, i) => assertClose(secondsOf(rows[i + 1][column]), row.result.step_time_s, 4, `step time of row ${i}`));

  const second = tab.locator('#why select').nth(1);
  for (const i of [1, 5]) {
    await second.selectOption(String(i));
    const { why } = json.rows[i];
    const breakdown = await termsOf(tab, 'breakdown');
    assert.deepEqual(breakdown, told(why.breakdown_s, kPicosecond));
    assert.equal(Object.values(breakdown).reduce((a, b) => a + b, 0), picoseconds(why.step_time_s));
    assert.deepEqual(await termsOf(tab, 'critical_path'), told(why.critical_path_s, kPicosecond));
    assert.deepEqual(await termsOf(tab, 'memory'), told(why.memory_gb, 1e-9));
  }

  // A row opens by click and by Enter, with the overrides that make it.
  await tab.locator('#rows tbody tr').nth(1).click();
  const line = tab.locator('#rows input.line');
  assert.equal(await line.inputValue(), 'plan.micro_batch_size=1 plan.recompute=none plan.zero_stage=3');
  await tab.locator('#rows tbody tr').nth(2).focus();
  await tab.keyboard.press('Enter');
  assert.equal(await line.inputValue(), 'plan.micro_batch_size=1 plan.recompute=full plan.zero_stage=1');

  // The chart answers to the keys and to a drag.
  await session.focus(tab, '#along-chart .plot');
  await tab.keyboard.press('ArrowRight');
  await tab.locator('.tooltip').waitFor({ state: 'visible' });
  await tab.keyboard.press('Enter');
  await tab.keyboard.press('Escape');
  await tab.locator('#along select').first().selectOption('memory.peak_gb');
  await tab.locator('#along .plot canvas').waitFor();
  await session.screenshot(tab, 'page-compare', { selector: '#why' });
}
