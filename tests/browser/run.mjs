// Opens what Orrery writes in a real browser: its pages, and its traces in DevTools and speedscope. See README.md.
//
// usage: node tests/browser/run.mjs [--orrery FILE] [--images FOLDER] [NAME...]
//   --orrery FILE    the program, build/release/apps/orrery by default
//   --images FOLDER  where the screenshots of the documentation go; without it none are kept
//   --site FOLDER    the documentation as scripts/site built it; without it the check `site` is left out
//   NAME             files of checks/ to run, without .mjs; all by default
// Exit status: 0 all checks pass, 1 one fails, 2 wrong arguments, 77 the browser or the packages of npm are missing.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(here, '../..');
const browserPath = process.env.CHROMIUM || '/usr/bin/chromium';

function argumentsOf(list) {
  const options = { orrery: path.join(root, 'build/release/apps/orrery'), images: '', site: '', names: [] };
  for (let i = 0; i < list.length; ++i) {
    const name = list[i].startsWith('--') ? list[i].slice(2) : '';
    if (!name) options.names.push(list[i]);
    else if (name in options && name !== 'names' && i + 1 < list.length) options[name] = path.resolve(list[++i]);
    else throw new Error(`found ${list[i]}, allowed --orrery FILE, --images FOLDER, --site FOLDER and names of checks`);
  }
  return options;
}

/** What keeps the test from running, or ''. */
function missing(options) {
  if (!fs.existsSync(browserPath)) return `${browserPath} (Debian's chromium)`;
  if (!fs.existsSync(path.join(here, 'node_modules/playwright-core'))) return 'packages: npm ci --prefix tests/browser';
  if (!fs.existsSync(options.orrery)) return `${options.orrery}: build it first`;
  return '';
}

async function chosenChecks({ names, site }) {
  const known = fs.readdirSync(path.join(here, 'checks')).filter((file) => file.endsWith('.mjs'));
  const all = known.map((file) => file.slice(0, -4)).sort();
  for (const name of names) {
    if (!all.includes(name)) throw new Error(`found check ${name}, allowed ${all.join(', ')}`);
  }
  const checks = [];
  for (const name of names.length ? names : all.filter((name) => name !== 'site' || site))
    checks.push({ name, run: (await import(`./checks/${name}.mjs`)).default });
  return checks;
}

async function runCheck(check, Session, options) {
  const began = performance.now();
  const work = fs.mkdtempSync(path.join(os.tmpdir(), 'orrery-browser-'));
  const session = await Session.start({
    program: options.orrery,
    images: options.images,
    site: options.site,
    packages: path.join(here, 'node_modules'),
    work,
    browserPath,
    root,
  });
  try {
    await check.run(session);
    session.finish();
    console.log(`ok    ${check.name}  ${((performance.now() - began) / 1000).toFixed(1)} s`);
    return true;
  } catch (error) {
    console.log(`FAIL  ${check.name}\n${error.stack || error}`);
    return false;
  } finally {
    await session.close();
    fs.rmSync(work, { recursive: true, force: true });
  }
}

async function main() {
  let options;
  let checks;
  try {
    options = argumentsOf(process.argv.slice(2));
    const lack = missing(options);
    if (lack) {
      console.log(`skipped, missing: ${lack}`);
      return 77;
    }
    checks = await chosenChecks(options);
  } catch (error) {
    console.error(error.message);
    return 2;
  }
  const { Session } = await import('./session.mjs');
  let failed = 0;
  for (const check of checks) failed += (await runCheck(check, Session, options)) ? 0 : 1;
  console.log(failed ? `${failed} of ${checks.length} checks failed` : `${checks.length} checks passed`);
  return failed ? 1 : 0;
}

process.exitCode = await main();
