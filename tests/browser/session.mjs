// What a check works with: the program, a browser that may ask no machine for anything, and assertions.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const kMostImageBytes = 200_000; // of a screenshot in the documentation
const kViewport = { width: 1280, height: 900 };

/** Requests that stay on this machine. */
const isLocal = (url) => /^(file|data|blob|about|devtools|chrome):/.test(url);

export class Session {
  static async start(setup) {
    const browser = await chromium.launch({
      executablePath: setup.browserPath,
      args: ['--no-sandbox', '--force-device-scale-factor=1', '--font-render-hinting=none'],
    });
    return new Session(setup, browser);
  }

  constructor(setup, browser) {
    Object.assign(this, setup);
    this.browser = browser;
    this.problems = [];
    this.files = 0;
  }

  /** Runs the program in the root of the project; its standard output. `status`: exit status that is right. */
  orrery(args, status = 0) {
    try {
      const output = execFileSync(this.program, args, { cwd: this.root, encoding: 'utf8', stdio: 'pipe', maxBuffer: 1 << 28 });
      assert.equal(0, status, `orrery ${args.join(' ')}: exit status 0`);
      return output;
    } catch (error) {
      if (error.status !== undefined) assert.equal(error.status, status, `orrery ${args.join(' ')}\n${error.stderr}`);
      else throw error;
      return error.stdout;
    }
  }

  /** A path in the folder of this check. */
  file(name) {
    this.files += 1;
    return path.join(this.work, `${this.files}-${name}`);
  }

  /** A command's page and its JSON, of one run of it. */
  page(args, status = 0) {
    const html = this.file(`${args[0]}.html`);
    const json = this.file(`${args[0]}.json`);
    this.orrery([...args, '--quiet', '--html', html, '--json', json], status);
    return { html, json: JSON.parse(fs.readFileSync(json, 'utf8')) };
  }

  /** A tab in which nothing may fail and nothing may leave this machine; `allowed`: a server of ours. */
  async tab({ dark = false, width = kViewport.width, height = kViewport.height, allowed = '' } = {}) {
    const isAllowed = (url) => isLocal(url) || (allowed && url.startsWith(`${allowed}/`));
    const context = await this.browser.newContext({
      viewport: { width, height },
      colorScheme: dark ? 'dark' : 'light',
      reducedMotion: 'reduce',
      locale: 'en-US',
      timezoneId: 'UTC',
    });
    const tab = await context.newPage();
    tab.setDefaultTimeout(120_000);  // of a machine that does other things beside
    tab.on('console', (message) => {
      if (message.type() === 'error') this.problems.push(`error on the console: ${message.text()}`);
    });
    tab.on('pageerror', (error) => this.problems.push(`error of a script: ${error.stack || error}`));
    tab.on('request', (request) => {
      if (!isAllowed(request.url())) this.problems.push(`request to ${request.url()}`);
    });
    await context.route((url) => !isAllowed(url.href), (route) => route.abort());
    return tab;
  }

  /** A file in a tab of its own, once it has drawn itself. */
  async open(file, options = {}) {
    const tab = await this.tab(options);
    await tab.goto(pathToFileURL(file).href, { waitUntil: 'load', timeout: 120_000 });
    await this.settle(tab);
    return tab;
  }

  /** Until two frames have been drawn. */
  async settle(tab) {
    await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  }

  /** Gives the focus to an element, and waits until the page has stopped scrolling to it. */
  async focus(tab, selector) {
    await tab.locator(selector).first().focus();
    await tab.waitForFunction(async () => {
      const before = scrollY;
      await new Promise((done) => setTimeout(done, 100));
      return scrollY === before;
    });
  }

  /** A picture of a tab, or of the element at `selector`, for the documentation. */
  async screenshot(tab, name, { selector = '', fullPage = false } = {}) {
    const target = selector ? tab.locator(selector).first() : tab;
    const bytes = await target.screenshot(selector ? {} : { fullPage });
    if (!this.images) return;
    assert.ok(bytes.length <= kMostImageBytes, `${name}.png has ${bytes.length} bytes, at most ${kMostImageBytes}`);
    fs.mkdirSync(this.images, { recursive: true });
    fs.writeFileSync(path.join(this.images, `${name}.png`), bytes);
  }

  note(text) {
    console.log(`      ${text}`);
  }

  /** Fails where anything went wrong that a check did not ask about. */
  finish() {
    assert.deepEqual(this.problems, []);
  }

  async close() {
    await this.browser.close();
  }
}

export { assert };

/** Whether `found` is `wanted` to `digits` significant digits, as a page shows numbers. */
export function assertClose(found, wanted, digits, what) {
  const most = 0.5001 * 10 ** (Math.floor(Math.log10(Math.abs(wanted) || 1)) + 1 - digits);
  assert.ok(Math.abs(found - wanted) <= most, `${what}: found ${found}, wanted ${wanted} to ${digits} digits`);
}
