// The page of requests that were served: its figures are those of --json, its timelines hold them and zoom.
import fs from 'node:fs';
import { look, tableRows } from '../look.mjs';
import { assert } from '../session.mjs';

const kServed = { model: 'llama3.1-8b', cluster: { base: 'dgx-h100', gpus_per_node: 4 }, plan: { pipeline_parallel: 2, data_parallel: 2 },
  inference: { prompt_tokens: 500, output_tokens: 40, requests_per_s: 40, requests: 300, chunked_prefill: true } };

async function checkShares(tab, json) {
  const rows = (await tableRows(tab, '#time')).filter((row) => row.length === 4 && row[2].endsWith('%'));
  const shares = (of) => Object.values(of).filter((part) => part > 0);
  const { time_share: byBatch, work_share: byWork } = json.serving;
  assert.equal(rows.length, shares(byBatch).length + shares(byWork).length);
  for (const of of [byBatch, byWork])
    assert.ok(Math.abs(shares(of).reduce((sum, part) => sum + part, 0) - 1) < 1e-12, 'shares add up');
}

async function checkTimeline(session, tab) {
  const range = () => tab.evaluate(() => {
    const { range: shown } = document.querySelector('#replicas .timeline').timeline;
    return [shown.from, shown.to];
  });
  const lanes = tab.locator('#replicas .lanes');
  await lanes.scrollIntoViewIfNeeded();
  const box = await lanes.boundingBox();
  const [, whole] = await range();
  await tab.mouse.move(box.x + 500, box.y + 32);
  await tab.mouse.down();
  await tab.mouse.move(box.x + 506, box.y + 32, { steps: 3 });
  await tab.mouse.up();
  const [from, to] = await range();
  assert.ok(to - from < whole / 20, 'a drag zooms');
  await session.settle(tab);
  let tooltip = '';
  for (let x = 200; x < box.width && !/from/.test(tooltip); x += 25) {
    await tab.mouse.move(box.x + x, box.y + 32);
    tooltip = await tab.locator('.tooltip').innerText();
  }
  assert.match(tooltip, /(prefill|decode) \d+/);
  await tab.getByRole('button', { name: 'All of it' }).click();
  assert.deepEqual(await range(), [0, whole]);
}

/** What the columns of the page add up to. */
const sumsOnPage = () => {
  const { servingModel: model } = globalThis.orrery;
  const { iteration, request } = model;
  return {
    iterations: iteration.count.reduce((sum, one) => sum + one, 0),
    ttft: request.first.reduce((sum, first, r) => sum + first - request.arrival[r], 0) * 1e-12 / request.first.length,
    requests: request.end.length,
  };
};

export default async function check(session) {
  const experiment = session.file('served.json');
  fs.writeFileSync(experiment, JSON.stringify(kServed));
  const { html, json } = session.page(['simulate', experiment]);
  const tab = await session.open(html);
  const sums = await tab.evaluate(sumsOnPage);
  assert.equal(sums.iterations, json.serving.iterations);
  assert.equal(sums.requests, json.serving.requests);
  assert.ok(Math.abs(sums.ttft / json.ttft_s - 1) < 1e-9, `${sums.ttft} ${json.ttft_s}`);
  await checkShares(tab, json);
  await checkTimeline(session, tab);
  await look(session, html);

  // Both charts of latencies have their names, and figures the range in which measured runs lie.
  assert.deepEqual(await tab.locator('#latency figcaption').allInnerTexts(),
    ['Time to the first token, and to the end of the request', 'Time per output token']);
  const known = session.page(['simulate', 'examples/serve-70b.json']);
  const ranged = await session.open(known.html);
  for (const [label, key] of [['time to first token', 'ttft_s'], ['time per output token', 'tpot_s']]) {
    const { low, high } = known.json.serving.ranges[key];
    const note = await ranged.locator('.figure', { hasText: label }).first().locator('dd.note').innerText();
    const ms = (seconds) => `${(1000 * seconds).toFixed(3)} ms`;
    assert.ok(note.includes(`${ms(low)} to ${ms(high)}, where 8 of 10 measured runs lie`), note);
  }

  // Ten thousand requests, replicas of their own for prompts, and what cannot be served have their pages too.
  fs.writeFileSync(experiment, JSON.stringify({ ...kServed, plan: { data_parallel: 4 },
    inference: { ...kServed.inference, chunked_prefill: false, requests: 10_000, disaggregated: { prefill: 2, decode: 2 } } }));
  const large = session.page(['simulate', experiment]);
  assert.ok(fs.statSync(large.html).size < 16e6, `a page of ${fs.statSync(large.html).size} bytes`);
  const apart = await session.open(large.html);
  assert.match(await apart.locator('#replicas .names').innerText(), /replica 0 \(prefill\)/);
  assert.match(await apart.locator('#requests .legend').innerText(), /keys and values travel/);
  fs.writeFileSync(experiment, JSON.stringify({ ...kServed, model: 'llama3.1-70b', name: '</script><script>window.ran = 1</script>',
    cluster: { base: 'dgx-h100', gpus_per_node: 1 }, plan: {} }));
  const infeasible = await session.open(session.page(['simulate', experiment], 3).html);
  assert.match(await infeasible.locator('#timeline').innerText(), /Nothing was served/);
  assert.equal(await infeasible.evaluate(() => window.ran), undefined);
}
