// What would make a step faster: the figures of the page are those of the JSON, in its order.
import { look, tableRows } from '../look.mjs';
import { assert, assertClose } from '../session.mjs';

const kSeconds = { s: 1, ms: 1e-3, us: 1e-6 };
const secondsOf = (text) => {
  const [number, unit] = text.split(' ');
  return Number(number) * kSeconds[unit];
};

/** "312 TFLOP/s" of 312 and "TFLOP/s". */
function assertValue(text, value, unit, what) {
  const [number, ...rest] = text.split(' ');
  assertClose(Number(number), value, 4, what);
  assert.equal(rest.join(' '), unit, what);
}

export default async function check(session) {
  const { html, json } = session.page(['simulate', 'examples/llama-13b-fsdp.json', '--what-if']);
  await look(session, html);
  const tab = await session.open(html);
  const rows = (await tableRows(tab, '#what-if')).slice(1);
  assert.equal(rows.length, json.what_if.length);
  json.what_if.forEach((owed, i) => {
    const [key, is, share, , better, time, , holds] = rows[i];
    assert.equal(key, owed.key);
    assertValue(is, owed.value, owed.unit, `${key} is`);
    assert.equal(share, `${(100 * owed.share).toFixed(1)} %`);
    assertValue(better, owed.better, owed.unit, `${key} twice as good`);
    assertClose(secondsOf(time), owed.better_step_time_s, 4, `step time with ${key}`);
    if (owed.holds_until === null) assert.equal(holds, 'any value');
    else assertValue(holds, owed.holds_until, owed.unit, `${key} holds to`);
  });
  const bars = await tab.locator('#what-if .bar').evaluateAll((list) => list.map((bar) => bar.getBoundingClientRect().width / bar.parentElement.getBoundingClientRect().width));
  assert.ok(Math.abs(bars[0] - json.what_if[0].share) < 0.01, `a bar of ${bars[0]} for ${json.what_if[0].share}`);
  assert.equal(await tab.locator('.contents a[href="#what-if"]').count(), 1, 'the contents name it');

  // Without the option there is no such section.
  const plain = await session.open(session.page(['simulate', 'examples/llama-13b-fsdp.json']).html);
  assert.equal(await plain.locator('#what-if').count(), 0);
}
