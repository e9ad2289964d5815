// Text of experiments shows as text on every page and never runs.
import fs from 'node:fs';
import { look } from '../look.mjs';
import { assert } from '../session.mjs';

const kName = `</script><script>window.ran = 1</script><img src=x onerror="window.ran = 2">'"&amp; \u{1F680} \u202Eabc ${'long '.repeat(1900)}`; // nearly 10,000 characters

export default async function check(session) {
  const experiment = session.file('hostile.json');
  fs.writeFileSync(experiment, JSON.stringify({
    name: kName, model: 'gpt3-125m', cluster: { base: 'dgx-a100-80gb', nodes: 1 }, plan: { micro_batch_size: 2 } }));
  const other = session.file('<b>other.json');
  fs.writeFileSync(other, JSON.stringify({
    name: `<i>${kName}`, model: 'gpt3-125m', cluster: { base: 'dgx-a100-80gb', nodes: 1 }, plan: { micro_batch_size: 4 } }));
  for (const args of [['compare', experiment, other], ['compare', experiment, '--vary', 'plan.micro_batch_size=1,2'],
    ['plan', experiment, '--vary', 'plan.micro_batch_size=1,2,4']]) {
    const { html } = session.page(args);
    await look(session, html);
    const tab = await session.open(html);
    assert.equal(await tab.evaluate(() => window.ran), undefined);
    assert.equal(await tab.locator('img').count(), 0);
    assert.ok((await tab.locator('body').innerText()).includes('</script><script>window.ran = 1'), 'the name shows as it is');
  }
}
