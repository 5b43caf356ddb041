// The page: shows the stream, jogs while a button is held.
import { Robot } from './robot.mjs';

const JOG_MS = 50;
const SPEED_DPS = 20;
const REFUSALS = { [-1]: 'not now', [-2]: 'another client has control' };

const show = (id, text) => (document.getElementById(id).textContent = text);
const robot = new Robot(new URLSearchParams(location.search).get('robot') ?? '127.0.0.1:8281');

robot.addEventListener('connection', ({ detail }) => show('connection', detail));
robot.addEventListener('ack', ({ detail }) => {
  show('message', detail.status === 0 ? '' : (REFUSALS[detail.status] ?? `refused (${detail.status})`));
});
robot.addEventListener('stream', ({ detail }) => {
  show('state', detail.state);
  show('control', detail.control);
  show('j1', detail.j1_deg.toFixed(1));
});

const onClick = (id, action) => document.getElementById(id).addEventListener('click', action);
onClick('take', () => robot.control(1));
onClick('take-over', () => robot.control(2));
onClick('release', () => robot.control(0));
onClick('hold', () => robot.hold());

for (const [id, dps] of [['plus', SPEED_DPS], ['minus', -SPEED_DPS]]) {
  const button = document.getElementById(id);
  let timer;
  const stop = () => {
    if (timer === undefined) return;
    clearInterval(timer);
    timer = undefined;
    robot.jog([0, 0, 0, 0, 0, 0]); // brakes at once, before the deadman would
  };
  button.addEventListener('pointerdown', (event) => {
    button.setPointerCapture(event.pointerId);
    const jog = () => robot.jog([dps, 0, 0, 0, 0, 0]);
    jog();
    timer = setInterval(jog, JOG_MS);
  });
  button.addEventListener('pointerup', stop);
  button.addEventListener('pointercancel', stop);
}
