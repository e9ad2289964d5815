// The network of a run: small fabrics vertex by vertex, and no switch where there is none.
import { look } from '../look.mjs';
import { assert } from '../session.mjs';

const drawn = (tab) => tab.locator('#network svg').evaluate((svg) => ({
  text: [...svg.querySelectorAll('text')].map((text) => text.textContent),
  boxes: svg.querySelectorAll('rect').length,
  edges: [...svg.querySelectorAll('path.edge > title')].map((title) => title.textContent),
}));

export default async function check(session) {
  const torus = session.page(['simulate', 'examples/torus.json']);
  await look(session, torus.html);
  let { text, boxes, edges } = await drawn(await session.open(torus.html));
  assert.ok(!text.some((line) => /^switch$/.test(line)), 'no switch');
  assert.ok(text.some((line) => line.includes('4 \u00d7 4 torus of 16 nodes')), text.join('\n'));
  assert.equal(boxes, 16);
  assert.equal(edges.length, 32, 'two edges a node');
  const { links } = torus.json.utilization;
  assert.ok(edges[0].includes(`busiest ${(100 * links[0].peak).toFixed(1)} %`), `${edges[0]} of ${JSON.stringify(links)}`);

  ({ text, boxes, edges } = await drawn(await session.open(session.page(['simulate', 'examples/explicit-graph.json']).html)));
  assert.equal(boxes, 6);
  for (const name of ['gpu0', 'gpu3', 'switch0', 'switch1']) assert.ok(text.includes(name), name);
  assert.ok(!text.some((line) => line.includes('between the nodes')));
  assert.ok(edges.some((edge) => edge.startsWith('gpu0 to gpu1: 50.0 GB/s')), edges.join('\n'));
  assert.equal(edges.length, 7);

  for (const [kind, wanted] of [['ring', 16], ['star', 15], ['full-mesh', 120], ['grid', 24]]) {
    const page = session.page(['simulate', 'examples/torus.json', `cluster.fabric.kind=${kind}`]);
    assert.equal((await drawn(await session.open(page.html))).edges.length, wanted, kind);
  }
  ({ text } = await drawn(await session.open(session.page(['simulate', 'examples/megatron-145b.json']).html)));
  assert.ok(text.includes('fat tree'), text.join('\n'));
}
