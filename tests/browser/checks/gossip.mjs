// The page of gossip graphs: figures of the JSON, and a matrix whose cells say their weights.
import { look, tableRows } from '../look.mjs';
import { assert, assertClose } from '../session.mjs';

export default async function check(session) {
  const { html, json } = session.page(['gossip', 'ring', 'one-peer-exponential', 'torus', '--workers', '16,64']);
  await look(session, html);
  const tab = await session.open(html);
  const rows = await tableRows(tab, '#table');
  const column = rows[0].findIndex((title) => title.startsWith('spectral gap'));
  json.forEach((row, i) => {
    if (row.spectral_gap > 1e-9) assertClose(Number(rows[i + 1][column]), row.spectral_gap, 4, `gap of ${row.topology}`);
  });
  // The ring of 16 takes a third of each neighbour and of itself: cell (0, 1).
  const box = await tab.locator('#matrix canvas').first().boundingBox();
  await tab.mouse.move(box.x + 1.5 * box.width / 16, box.y + 0.5 * box.height / 16);
  assert.match(await tab.locator('.tooltip').innerText(), /worker 0 takes from worker 1[\s\S]*0\.3333/);
  await tab.locator('#table tbody tr').nth(2).click();
  assert.ok(await tab.locator('#matrix .controls select').count() > 1, 'rounds to choose');
  await session.screenshot(tab, 'page-gossip', { selector: '#matrix' });

  // No two of sixteen lines look alike in the key.
  const all = await session.open(session.page(['gossip', '--workers', '16,64']).html);
  const looks = await all.locator('#gaps .legend .swatch').evaluateAll((list) => list.map((swatch) =>
    `${swatch.className} ${swatch.style.getPropertyValue('--swatch')}`));
  assert.equal(looks.length, 16);
  assert.equal(new Set(looks).size, looks.length, looks.join('\n'));
}
