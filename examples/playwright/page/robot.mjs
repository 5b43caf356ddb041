// The part of the ATOM's WebSocket API that this page uses. It works with the robot and with the simulator.

const CODES = { HOLD: 0x09, SUBSCRIBE: 0x0c, CONTROL: 0x0d, JOG: 0x0f, ACK: 0x83, STREAM: 0x88 };
const STATES = ['booting', 'holding', 'ready', 'playing', 'error', 'OTA', 'moving', 'jogging', 'tracking'];
const CONTROL = ['nobody', 'you', 'another client'];
const STREAM_HZ = 50;
const RENEWAL_MS = 1000; // a subscription lasts 2 s
const STALL_MS = 100; // five packets missing

export class Robot extends EventTarget {
  #socket;
  #heard_ms = performance.now();
  #stalled = false;

  constructor(address) {
    super();
    this.#socket = new WebSocket(`ws://${address}/ws`);
    this.#socket.binaryType = 'arraybuffer';
    const timers = [];
    this.#socket.onopen = () => {
      this.#subscribe();
      timers.push(setInterval(() => this.#subscribe(), RENEWAL_MS));
      timers.push(setInterval(() => this.#watch(), STALL_MS / 4));
      this.#tell('connection', 'connected');
    };
    this.#socket.onclose = () => {
      timers.forEach(clearInterval);
      this.#tell('connection', 'closed');
    };
    this.#socket.onmessage = (event) => this.#receive(event.data);
  }

  /** 0 releases control, 1 takes it, 2 takes it over. */
  control(action) {
    this.#send(CODES.CONTROL, [['Uint8', action]]);
  }

  /** Joint speeds of J1–J6 (°/s). The arm stops when no JOG came for 200 ms. */
  jog(speeds_dps) {
    this.#send(CODES.JOG, [['Uint8', 0], ...speeds_dps.map((dps) => ['Int16', Math.round(10 * dps)])]);
  }

  hold() {
    this.#send(CODES.HOLD, []);
  }

  #subscribe() {
    this.#send(CODES.SUBSCRIBE, [['Uint16', STREAM_HZ]]);
  }

  #send(code, fields) {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    const view = new DataView(new ArrayBuffer(64));
    view.setUint8(0, code);
    let length = 1;
    for (const [type, value] of fields) {
      view[`set${type}`](length, value, true);
      length += type === 'Uint8' ? 1 : 2;
    }
    this.#socket.send(new Uint8Array(view.buffer, 0, length));
  }

  #receive(data) {
    if (typeof data === 'string') return; // status log
    const view = new DataView(data);
    switch (view.getUint8(0)) {
      case CODES.ACK:
        this.#tell('ack', { code: view.getUint8(1), status: view.getInt8(2) });
        break;
      case CODES.STREAM:
        this.#heard_ms = performance.now();
        this.#tell('stream', {
          state: STATES[view.getUint8(5)],
          control: CONTROL[view.getUint8(7)],
          j1_deg: (-(view.getUint16(9, true) - 2048) * 360) / 4096,
        });
        break;
    }
    this.#watch();
  }

  /** Tells when the stream stalls, and when it flows again. */
  #watch() {
    const stalled = performance.now() - this.#heard_ms > STALL_MS;
    if (stalled !== this.#stalled) {
      this.#stalled = stalled;
      this.#tell('connection', stalled ? 'stalled' : 'connected');
    }
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
