// Jogs J1 at 10 °/s for one second and shows its angle. MOVES THE ARM.
//
// node examples/jog.mjs [ws://127.0.0.1:8281/ws]     (Node 20: node --experimental-websocket ...)

const JOG_PERIOD_MS = 50; // the deadman stops the arm after 200 ms without a JOG
const STATES = ['booting', 'holding', 'ready', 'playing', 'error', 'OTA', 'moving', 'jogging', 'tracking'];

const message = (code, ...int16) => {
  const view = new DataView(new ArrayBuffer(code.length + 2 * int16.length));
  code.forEach((byte, i) => view.setUint8(i, byte));
  int16.forEach((value, i) => view.setInt16(code.length + 2 * i, value, true));
  return view;
};
const subscribe = () => message([0x0c], 20);
const takeControl = () => message([0x0d, 1]);
const releaseControl = () => message([0x0d, 0]);
const jogJ1 = (dps) => message([0x0f, 0], 10 * dps, 0, 0, 0, 0, 0); // frame 0: joints, in 0.1 °/s

const ws = new WebSocket(process.argv[2] ?? 'ws://127.0.0.1:8281/ws');
ws.binaryType = 'arraybuffer';

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const opened = new Promise((resolve, reject) => {
  ws.onopen = resolve;
  ws.onerror = () => reject(new Error(`no ATOM at ${ws.url}`));
});
let acknowledge;
ws.onmessage = (event) => {
  if (typeof event.data === 'string') return; // status log
  const view = new DataView(event.data);
  if (view.getUint8(0) === 0x83) acknowledge?.(view.getInt8(2));
  if (view.getUint8(0) === 0x88) {
    const j1_deg = (-(view.getUint16(9, true) - 2048) * 360) / 4096;
    console.log(STATES[view.getUint8(5)], 'J1', j1_deg.toFixed(1), '°');
  }
};

await opened.catch((error) => {
  console.error(`${error.message}; start one with atom-sim, or give its URL`);
  process.exit(1);
});
ws.send(subscribe());
const status = await new Promise((resolve) => {
  acknowledge = resolve;
  ws.send(takeControl());
});
if (status !== 0) throw new Error(`no control (${status}): another client has it`);
for (let t = 0; t < 1000; t += JOG_PERIOD_MS) {
  ws.send(jogJ1(10));
  await wait(JOG_PERIOD_MS);
}
ws.send(jogJ1(0));
ws.send(subscribe());
await wait(1000);
ws.send(releaseControl());
ws.close();
