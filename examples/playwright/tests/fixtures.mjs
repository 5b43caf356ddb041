// One simulator per test on free ports, a server for the page, and the simulator's command API.
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { test as base } from '@playwright/test';

export { expect } from '@playwright/test';

/** The simulator: the environment variable ATOM_SIM, or the release build of this checkout. */
const ATOM_SIM = process.env.ATOM_SIM ?? fileURLToPath(new URL('../../../target/release/atom-sim', import.meta.url));
const PAGE = new URL('../page/', import.meta.url);
const TYPES = { '.html': 'text/html', '.mjs': 'text/javascript' };

class Simulator {
  constructor(address) {
    this.address = address;
  }

  /** Asks the command API; throws what it refuses. */
  async command(method, path, body) {
    const response = await fetch(`http://${this.address}/api/${path}`, {
      method,
      body: body && JSON.stringify(body),
    });
    const reply = await response.json();
    if (!response.ok) throw new Error(`${path}: ${reply.error.code}: ${reply.error.message}`);
    return reply;
  }

  truth() {
    return this.command('GET', 'truth');
  }

  /** Waits in virtual time; while time is paused, lets it go on until then. */
  waitUntil(condition, timeout_s = 10) {
    return this.command('POST', 'wait', { until: condition, timeout_s, advance: true });
  }
}

async function start(options) {
  const child = spawn(ATOM_SIM, ['--port', '0', '--udp-port', '0', '--log', 'warn', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('error', (error) => reject(new Error(`${ATOM_SIM}: ${error.message}; build it or set ATOM_SIM`)));
    child.once('exit', (code) => reject(new Error(`the simulator ended with code ${code}`)));
  });
  const { host, websocket_port } = JSON.parse(line);
  return { child, simulator: new Simulator(`${host}:${websocket_port}`) };
}

export const test = base.extend({
  /** Options of the simulator: `test.use({ simulatorOptions: [...] })`. */
  simulatorOptions: [['--pose', 'ready'], { option: true }],

  simulator: async ({ simulatorOptions }, use) => {
    const { child, simulator } = await start(simulatorOptions);
    await use(simulator);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill();
    await ended;
  },

  /** Opens the page in a tab of its own, as one more client of the simulator. */
  openPage: async ({ simulator, context }, use) => {
    const files = createServer(async (request, response) => {
      const name = new URL(request.url, 'http://localhost').pathname.slice(1) || 'index.html';
      try {
        const body = await readFile(new URL(name, PAGE));
        response.writeHead(200, { 'content-type': TYPES[extname(name)] }).end(body);
      } catch {
        response.writeHead(404).end();
      }
    });
    await new Promise((resolve) => files.listen(0, '127.0.0.1', resolve));
    await use(async () => {
      const page = await context.newPage();
      await page.goto(`http://127.0.0.1:${files.address().port}/?robot=${simulator.address}`);
      return page;
    });
    files.closeAllConnections();
    files.close();
  },
});
