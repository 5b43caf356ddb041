// A page against the simulator: it jogs, watches the stream, takes and loses control, survives a stall.
import { expect, test } from './fixtures.mjs';

/** J1 as the page shows it (°). */
const shown = async (page) => Number(await page.locator('#j1').textContent());

/** Presses a button of the page and keeps it pressed. */
async function press(page, name) {
  await page.bringToFront();
  await page.getByRole('button', { name }).hover();
  await page.mouse.down();
}

test.describe('in real time', () => {
  test('shows the stream', async ({ openPage }) => {
    const page = await openPage();
    await expect(page.locator('#connection')).toHaveText('connected');
    await expect(page.locator('#state')).toHaveText('holding');
    await expect(page.locator('#control')).toHaveText('nobody');
    await expect(page.locator('#j1')).toHaveText(/^-?0\.\d$/);
  });

  test('jogs while the button is held, and stops', async ({ openPage, simulator }) => {
    const page = await openPage();
    await press(page, 'J1 ▶');
    await expect(page.locator('#state')).toHaveText('jogging');
    await expect(page.locator('#control')).toHaveText('you');
    await expect.poll(() => shown(page)).toBeGreaterThan(8);
    await page.mouse.up();
    await expect(page.locator('#state')).toHaveText('holding');
    // The page shows what is, to a step of the servo (0.09°).
    await simulator.waitUntil({ speed_dps: { joint: 1, max: 0.1 } });
    const { angle_deg } = await simulator.truth();
    await expect.poll(async () => Math.abs((await shown(page)) - angle_deg[0])).toBeLessThan(0.2);
  });

  test('takes control, refuses to a second page, loses control when that takes over', async ({ openPage }) => {
    const [first, second] = [await openPage(), await openPage()];
    await first.getByRole('button', { name: 'Take control' }).click();
    await expect(first.locator('#control')).toHaveText('you');
    await expect(second.locator('#control')).toHaveText('another client');

    await press(second, 'J1 ▶');
    await expect(second.locator('#message')).toHaveText('another client has control');
    await second.mouse.up();
    await expect(second.locator('#state')).toHaveText('holding');

    await second.getByRole('button', { name: 'Take over' }).click();
    await expect(second.locator('#control')).toHaveText('you');
    await expect(first.locator('#control')).toHaveText('another client');
    await second.getByRole('button', { name: 'Release control' }).click();
    await expect(first.locator('#control')).toHaveText('nobody');
  });

  test('survives a stall of the WiFi: the arm brakes, the page says so and goes on', async ({ openPage, simulator }) => {
    const page = await openPage();
    await press(page, 'J1 ▶');
    await expect(page.locator('#state')).toHaveText('jogging');
    await simulator.command('POST', 'faults', { name: 'wifi.stall', client: 'websocket-1', for_s: 1.5 });
    // The stream stops at the page, the JOGs stop at the robot: its deadman brakes.
    await expect(page.locator('#connection')).toHaveText('stalled');
    await simulator.waitUntil({ state: 'holding' }, 1);
    const braked = (await simulator.truth()).angle_deg[0];
    // The button is still pressed: once the link is back, the arm goes on.
    await expect(page.locator('#connection')).toHaveText('connected');
    await expect(page.locator('#state')).toHaveText('jogging');
    await expect.poll(() => shown(page)).toBeGreaterThan(braked + 2);
    await page.mouse.up();
    await expect(page.locator('#state')).toHaveText('holding');
  });

  test('says when the robot is gone', async ({ openPage, simulator }) => {
    const page = await openPage();
    await expect(page.locator('#connection')).toHaveText('connected');
    await simulator.command('POST', 'power-cycle', { what: 'atom', for_s: 1 });
    await expect(page.locator('#connection')).toHaveText('closed');
  });
});

test.describe('in virtual time', () => {
  test.use({ simulatorOptions: ['--pose', 'ready', '--speed', 'paused'] });

  test('the end of a page stops the arm by the same clock every time', async ({ openPage, simulator }) => {
    const runs = [];
    for (let run = 0; run < 2; run += 1) {
      await simulator.command('POST', 'reset', { seed: 1 });
      const page = await openPage();
      await expect(page.locator('#connection')).toHaveText(/connected|stalled/);
      // Time stands still: the JOGs of a held button arrive at one instant.
      await press(page, 'J1 ▶');
      const { t_s: began_s } = await simulator.waitUntil({ state: 'jogging' });
      // Before time goes on: no JOG that comes meanwhile keeps the arm going.
      await simulator.command('POST', 'faults', { name: 'client.half_open', client: 'websocket-1' });
      const { t_s: ended_s } = await simulator.waitUntil({ state: 'holding' });
      runs.push({ after_s: ended_s - began_s, j1_deg: (await simulator.truth()).angle_deg[0] });
      await page.mouse.up();
      await page.close();
    }
    // 200 ms of deadman, and the ramp of 20 °/s.
    expect(runs[0].after_s).toBeGreaterThan(0.1);
    expect(runs[0].after_s).toBeLessThan(0.6);
    expect(Math.abs(runs[1].j1_deg - runs[0].j1_deg)).toBeLessThan(0.2);
  });

  test('a minute of waiting takes no minute', async ({ simulator }) => {
    const began = performance.now();
    const { t_s } = await simulator.command('GET', 'clock');
    const reached = await simulator.command('POST', 'advance', { for_s: 60 });
    expect(reached.t_s - t_s).toBeCloseTo(60, 6);
    expect(performance.now() - began).toBeLessThan(30_000);
  });
});
