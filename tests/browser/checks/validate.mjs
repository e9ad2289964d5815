// The page of validation: errors by table and row are those of the JSON, held-out tables are marked.
import { look, tableRows } from '../look.mjs';
import { assert } from '../session.mjs';

export default async function check(session) {
  const { html, json } = session.page(['validate', 'megatron-2021', 'korthikanti-2022', 'alpa-v100']);
  await look(session, html);
  const tab = await session.open(html);
  const rows = await tableRows(tab, '#tables');
  const column = rows[0].findIndex((title) => title.startsWith('mean error'));
  for (const table of json.tables) {
    const row = rows.find((cells) => cells[0] === table.table);
    assert.equal(row[1], table.fitted ? 'yes' : 'no');
    const shown = parseFloat(row[column]) / 100; // in tenths of a percent
    assert.ok(Math.abs(shown - table.mean_abs_error) < 0.00051, `mean error of ${table.table}: ${shown}`);
  }
  assert.ok(json.tables.some((table) => table.fitted), 'a table that constants were fitted to');
  await session.focus(tab, '#scatter .plot');
  await tab.keyboard.press('ArrowDown'); // the diagonal
  await tab.keyboard.press('ArrowDown');
  await tab.keyboard.press('ArrowRight');
  await tab.locator('.tooltip').waitFor({ state: 'visible' });
  assert.match(await tab.locator('.tooltip').innerText(), /error/);
  await session.focus(tab, '#errors .plot');
  await tab.keyboard.press('ArrowRight');
  const least = json.tables.filter((table) => table.fitted).flatMap((table) => table.rows.filter((row) => row.key === table.key))
    .reduce((a, b) => (b.error < a.error ? b : a));
  assert.match(await tab.locator('.tooltip').innerText(), new RegExp(`${(100 * least.error).toFixed(1)} %`), 'the keys go from left to right');
  await tab.locator('#tables tbody tr').first().click();
  assert.equal((await tableRows(tab, '#rows')).length - 1, Math.min(25, json.tables[0].rows.length));
  await tab.keyboard.press('Escape');
  await session.screenshot(tab, 'page-validate', { selector: '#scatter' });
}
