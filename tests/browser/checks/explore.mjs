// The page of orrery explore: knobs turn, figures are those of simulate, errors stand at their line, the address holds it all.
import { assert, assertClose } from '../session.mjs';
import { spawn } from 'node:child_process';
import http from 'node:http';

/** The server, and the address that it prints. */
async function served(session, args) {
  const server = spawn(session.program, ['explore', ...args], { cwd: session.root });
  const address = await new Promise((done) => { server.stdout.once('data', (text) => done(String(text).split('\n')[0])); });
  return { server, address };
}

/** A tab on the page once the first answer is drawn. */
async function opened(session, address) {
  const tab = await session.tab({ allowed: new URL(address).origin });
  await tab.goto(address);
  await turned(tab, 1);
  return tab;
}
const turned = (tab, n) => tab.waitForFunction((least) => Number(document.body.dataset.turn ?? 0) >= least, n);
const turns = (tab) => tab.evaluate(() => Number(document.body.dataset.turn ?? 0));

/** Does something, and waits for the figures of it. */
async function after(tab, action) {
  const before = await turns(tab);
  await action();
  await turned(tab, before + 1);
}

const stepTime = (tab) => tab.locator('.figure', { hasText: 'step time' }).locator('dd').first().innerText();
const seconds = (text) => Number(text.split(' ')[0]) * { s: 1, ms: 1e-3 }[text.split(' ')[1]];
const simulated = (session, args) => JSON.parse(session.orrery(['simulate', 'examples/llama-7b.yaml', ...args, '--json', '-', '--quiet'])).step_time_s;

async function checkKnobs(session, tab) {
  assertClose(seconds(await stepTime(tab)), simulated(session, []), 4, 'the step as given');
  const box = tab.locator('[id="knob-plan.overlap_gradient_reduce"]');
  const was = await box.isChecked();
  await after(tab, () => box.click());
  assertClose(seconds(await stepTime(tab)), simulated(session, [`plan.overlap_gradient_reduce=${!was}`]), 4, 'a flag turned');
  const number = tab.locator('.knob', { has: tab.locator('[id="knob-plan.micro_batch_size"]') }).locator('input[type=text]');
  await after(tab, async () => { await number.fill('2'); await number.press('Enter'); });
  const two = simulated(session, [`plan.overlap_gradient_reduce=${!was}`, 'plan.micro_batch_size=2']);
  assertClose(seconds(await stepTime(tab)), two, 4, 'a number turned');
  await after(tab, () => tab.getByRole('button', { name: 'Undo' }).click());
  assertClose(seconds(await stepTime(tab)), simulated(session, [`plan.overlap_gradient_reduce=${!was}`]), 4, 'undone');
  await after(tab, () => tab.getByRole('button', { name: 'Redo' }).click());
  assertClose(seconds(await stepTime(tab)), two, 4, 'done again');
}

async function checkPins(tab) {
  await after(tab, () => tab.getByRole('button', { name: 'Pin', exact: true }).click());
  const number = tab.locator('.knob', { has: tab.locator('[id="knob-plan.micro_batch_size"]') }).locator('input[type=text]');
  await after(tab, async () => { await number.fill('1'); await number.press('Enter'); });
  assert.match(await tab.locator('.headline').innerText(), /against pinned/);
  assert.match(await tab.locator('.terms').innerText(), /AGAINST PINNED|against pinned/);
  await tab.locator('.neighbours tr').nth(1).waitFor();
}

async function checkErrors(tab) {
  const editor = tab.getByLabel('The experiment as YAML');
  const good = await editor.inputValue();
  await editor.fill(good.replace('global_batch_size', 'global_batch_sise'));
  await editor.blur();
  await tab.locator('.errors li').waitFor();
  assert.match(await tab.locator('.errors').innerText(), /line \d+: plan\.global_batch_sise: .*global_batch_size/);
  assert.ok(await tab.evaluate(() => document.body.classList.contains('old')), 'the last good answer is greyed');
  await after(tab, async () => { await editor.fill(good); await editor.blur(); });
  assert.equal(await tab.locator('.errors li').count(), 0);
}

async function checkBest(tab) {
  await tab.getByRole('button', { name: 'Find the best plan' }).click();
  await tab.locator('.best tbody tr').first().waitFor();
  assert.match(await tab.locator('.best').innerText(), /optimal/);
  await after(tab, () => tab.locator('.best tbody tr').first().click());
}

/** The address holds the experiment: another page of it has the same figures. */
async function checkAddress(session, tab) {
  const second = await opened(session, tab.url());
  assert.equal(await stepTime(second), await stepTime(tab));
  await second.close();
}

const asked = (address, headers, path = '/figures') => new Promise((done) => {
  const request = http.request(new URL(path, address), { method: 'POST', headers }, (answer) => { answer.resume(); done(answer.statusCode); });
  request.on('error', () => done(0));
  request.end('{"setup":{"text":"model: llama-7b"}}');
});

/** Who has not the token, or comes from another site, gets nothing. */
async function checkStrangers(address) {
  const token = new URL(address).searchParams.get('token');
  assert.equal(await asked(address, { 'X-Orrery-Token': token }), 200);
  assert.equal(await asked(address, {}), 403);
  assert.equal(await asked(address, { 'X-Orrery-Token': `${token.slice(1)}0` }), 403);
  assert.equal(await asked(address, { 'X-Orrery-Token': token, Origin: 'http://elsewhere.example' }), 403);
  assert.equal(await asked(address, { 'X-Orrery-Token': token, Host: 'elsewhere.example' }), 403);
}

/** The page says that its server is gone; the last answer stays. */
async function checkGone(session, tab, server) {
  server.kill('SIGINT');
  await new Promise((done) => { server.once('exit', done); });
  const problems = session.problems.length;
  await tab.locator('[id="knob-plan.overlap_gradient_reduce"]').click();
  await tab.getByText('The server does not answer').waitFor();
  session.problems.length = problems;  // the browser itself reports a refused connection as an error
  await tab.context().close();
}

export default async function (session) {
  const { server, address } = await served(session, ['examples/llama-7b.yaml']);
  try {
    const tab = await opened(session, address);
    await checkKnobs(session, tab);
    await checkPins(tab);
    await checkErrors(tab);
    await checkBest(tab);
    await checkAddress(session, tab);
    await checkStrangers(address);
    await session.screenshot(tab, 'page-explore');
    await checkGone(session, tab, server);
  } finally {
    server.kill('SIGKILL');
  }
}
