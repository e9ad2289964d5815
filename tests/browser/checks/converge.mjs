// The page of convergence: the last loss of each run is that of the JSON; a curve is read by the keys.
import { look, tableRows } from '../look.mjs';
import { assert, assertClose } from '../session.mjs';

export default async function check(session) {
  const { html, json } = session.page(['converge', 'examples/converge-gossip.json', '--vary',
    'data_parallel_sync.method=all-reduce,gossip,local-sgd']);
  await look(session, html);
  const tab = await session.open(html);
  const rows = await tableRows(tab, '#runs');
  const column = rows[0].findIndex((title) => title.startsWith('loss'));
  json.runs.forEach((run, i) => assertClose(Number(rows[i + 1][column]), run.points.at(-1).loss, 5, `loss of ${run.name}`));
  await session.focus(tab, '#time .plot');
  await tab.keyboard.press('ArrowRight');
  const said = await tab.locator('.tooltip').innerText();
  assert.match(said, /iteration/);
  await tab.locator('#time .legend button').first().click();
  assert.equal(await tab.locator('#time .legend button').first().getAttribute('aria-pressed'), 'false');
  await tab.locator('#time .legend button').first().click();
  await session.screenshot(tab, 'page-converge', { selector: '#time' });
}
