// `node bin/run.js bench/background/replication.ts [TURNS] [PUTS] [WARM-UP] [apart]` measures what a rule of replication, and a webhook with it, cost a PUT
// of 4 KiB: servers without them and with them get the same requests by turns (10) of PUTS objects (5,000), after WARM-UP of them (40,000). A turn ends
// when the other side has every object, so that the processor time of a server is that of its PUTs and of their deliveries; that of the target is counted
// apart. With `apart` the sources and the load run on the first core, and the target of replication on the second, which needs a machine without other work.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServer, untilReady, type RunningServer } from '../../test/support/server/start-server.ts';
import { askWell } from '../generator/ask.ts';
import { drive } from '../generator/drive.ts';
import { RequestRing } from '../generator/request-ring.ts';
import { type Endpoint, RequestSigner } from '../generator/request-signer.ts';
import { makeBucket } from '../generator/session.ts';
import { bucket } from '../loads/load.ts';
import { bodiesOf, Objects } from '../loads/objects.ts';
import { markdownTable } from '../report.ts';
import { replicateTo } from '../servers/replica.ts';
import { parseStat } from '../servers/running-server.ts';
import { endpointOf } from '../servers/started-server.ts';
import { startWebhook } from '../servers/webhook.ts';
import { median, number } from '../statistics.ts';

const turns = Number(process.argv[2] ?? 10);
const puts = Number(process.argv[3] ?? 5_000);
const apart = process.argv[5] === 'apart';
const connections = 32;
/** Turns before the measured ones: V8 has optimized a path after some 50,000 requests. */
const warmUpPuts = Number(process.argv[4] ?? 40_000);
const signaturesLiveMs = 840_000;

interface Turn {
  /** Operations a second. */
  readonly rate: number;
  /** Seconds until the other side had all. */
  readonly deliveredAfter: number;
  /** Seconds of processor time of the source, and of the target. */
  readonly used: number;
  readonly usedByTarget: number;
}

/** The part of the machine that a process runs on. */
function pin(pid: number, core: number): void {
  if (apart && availableParallelism() >= 2)
    execFileSync('taskset', ['-a', '-p', '-c', String(core), String(pid)], { stdio: 'ignore' });
}

async function start(env: Readonly<Record<string, string>>, core: number): Promise<RunningServer> {
  const server = await startServer({ env: { SVC_THREADS: '2', ...env } });
  await untilReady(server);
  pin(server.pid, core);
  return server;
}

function cpuSeconds({ pid }: RunningServer): number {
  return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.cpuSeconds ?? 0;
}

/** Counts the objects below a prefix, up to a thousand for each request. */
async function countBelow(endpoint: Endpoint, prefix: string): Promise<number> {
  let count = 0;
  for (let after = ''; ;) {
    const query = `list-type=2&prefix=${encodeURIComponent(prefix)}${after === '' ? '' : `&start-after=${encodeURIComponent(after)}`}`;
    const { body } = await askWell(endpoint, { method: 'GET', path: `/${bucket}`, query });
    const keys = [...body.toString().matchAll(/<Key>([^<]+)<\/Key>/g)];
    count += keys.length;
    after = keys.at(-1)?.[1] ?? '';
    if (keys.length < 1_000) return count;
  }
}

/** A server with its turns. */
class Side {
  readonly name: string;
  readonly turns: Turn[] = [];
  readonly #source: RunningServer;
  readonly #target: RunningServer | undefined;
  #written = 0;

  private constructor(name: string, source: RunningServer, target: RunningServer | undefined) {
    this.name = name;
    this.#source = source;
    this.#target = target;
  }

  static async open(
    name: string,
    { replicated, env = {} }: { replicated: boolean; env?: Readonly<Record<string, string>> },
  ): Promise<Side> {
    const source = await start(env, 0);
    await makeBucket(endpointOf(source), { versioned: true, webhook: Object.keys(env).length > 0 });
    if (!replicated) return new Side(name, source, undefined);
    const target = await start({}, 1);
    await makeBucket(endpointOf(target), { versioned: true, webhook: false });
    await replicateTo(endpointOf(target), endpointOf(source));
    return new Side(name, source, target);
  }

  async turn(count: number, isDelivered: () => boolean): Promise<Turn> {
    const endpoint = endpointOf(this.#source);
    this.#written += 1;
    const objects = new Objects(`turn-${this.#written}`, count, bodiesOf(4_096));
    const requests = objects.all((at) => objects.put(at));
    const ring = new RequestRing(requests, new RequestSigner(endpoint, new Date()));
    const [before, beforeOfTarget] = [
      cpuSeconds(this.#source),
      this.#target === undefined ? 0 : cpuSeconds(this.#target),
    ];
    const began = performance.now();
    const driven = await drive({ address: endpoint, ring, connections, milliseconds: signaturesLiveMs, repeat: false });
    if (driven.failures.size > 0) throw new Error(`PUT failed: ${JSON.stringify([...driven.failures])}`);
    const target = this.#target;
    if (target !== undefined) {
      const endpointOfTarget = endpointOf(target);
      while ((await countBelow(endpointOfTarget, `${objects.prefix}/`)) < count) await sleep(100);
    }
    while (!isDelivered()) await sleep(50);
    const deliveredAfter = (performance.now() - began) / 1_000;
    // The last statuses and removals from the queue follow the last delivery.
    await sleep(1_000);
    return {
      rate: (driven.operations / driven.milliseconds) * 1_000,
      deliveredAfter,
      used: cpuSeconds(this.#source) - before,
      usedByTarget: target === undefined ? 0 : cpuSeconds(target) - beforeOfTarget,
    };
  }

  row(plain: Side): string[] {
    const micros = (side: Side) => median(side.turns.map(({ used }) => (used * 1e6) / puts));
    const rate = (side: Side) => median(side.turns.map((turn) => turn.rate));
    return [
      this.name,
      number(rate(this)),
      `${Math.round((rate(this) / rate(plain)) * 100)} %`,
      number(micros(this)),
      `${Math.round((micros(plain) / micros(this)) * 100)} %`,
      number(median(this.turns.map((turn) => turn.deliveredAfter))),
      number(median(this.turns.map((turn) => (turn.usedByTarget * 1e6) / puts))),
    ];
  }

  async stop(): Promise<void> {
    await Promise.all([this.#source.stop(), this.#target?.stop()]);
  }
}

pin(process.pid, 0);
const webhook = await startWebhook();
let events = 0;
const plain = await Side.open('neither', { replicated: false });
const ruled = await Side.open('a rule', { replicated: true });
const both = await Side.open('a rule and a webhook', { replicated: true, env: webhook.environment });
const sides = [plain, ruled, both];
const turnOf = (side: Side, count: number) => {
  if (side === both) events = webhook.count() + count;
  return side.turn(count, () => side !== both || webhook.count() >= events);
};
try {
  for (const side of sides)
    process.stderr.write(`${side.name}, warm-up: ${JSON.stringify(await turnOf(side, warmUpPuts))}\n`);
  for (let turn = 0; turn < turns; turn += 1) {
    for (const side of turn % 2 === 0 ? sides : sides.toReversed()) {
      const one = await turnOf(side, puts);
      process.stderr.write(`${side.name}: ${JSON.stringify(one)}
`);
      side.turns.push(one);
    }
  }
} finally {
  await Promise.all(sides.map((side) => side.stop()));
  webhook.stop();
}
const head = [
  'PUT of 4 KiB',
  'median rate',
  'kept',
  'µs of the source each',
  'kept',
  's until delivered',
  'µs of the target each',
];
process.stdout.write(
  `${markdownTable(
    head,
    sides.map((side) => side.row(plain)),
    1,
  )}\n`,
);
