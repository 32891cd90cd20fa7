// `node bin/run.js bench/background/access-logs.ts [TURNS]` measures what access logs cost a GET of 256 bytes: two servers, one with logs and one without,
// get the same requests by turns of a second. Turns that are short and alternate give comparable figures on a machine that is not quiet, and
// processor time, of all threads and of the system for them, is disturbed less than the rate.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServer, untilReady, type RunningServer } from '../../test/support/server/start-server.ts';
import { askWell } from '../generator/ask.ts';
import { drive } from '../generator/drive.ts';
import { RequestRing, type RingRequest } from '../generator/request-ring.ts';
import { type Endpoint, RequestSigner } from '../generator/request-signer.ts';
import { bucket } from '../loads/load.ts';
import { bodiesOf, Objects, writeOver } from '../loads/objects.ts';
import { markdownTable } from '../report.ts';
import { parseStat } from '../servers/running-server.ts';
import { endpointOf } from '../servers/started-server.ts';
import { median, number } from '../statistics.ts';

const turns = Number(process.argv[2] ?? 30);
const turnMs = 1_000;
/** Each thread looks every five seconds which buckets have logs. */
const untilSeenMs = 6_000;
const objects = new Objects('keys', 2_000, bodiesOf(256));
const gets: readonly RingRequest[] = objects.all((at) => objects.get(at));

interface Turn {
  readonly operations: number;
  /** Operations a second. */
  readonly rate: number;
  /** Seconds of processor time. */
  readonly used: number;
}

/** A server with its turns. */
class Side {
  readonly name: string;
  readonly turns: Turn[] = [];
  readonly #server: RunningServer;
  readonly #endpoint: Endpoint;

  private constructor(name: string, server: RunningServer, endpoint: Endpoint) {
    this.name = name;
    this.#server = server;
    this.#endpoint = endpoint;
  }

  static async open(name: string, logs: boolean): Promise<Side> {
    const server = await startServer({ env: { SVC_THREADS: '1', SVC_ACCESS_LOG_INTERVAL: '5s' } });
    await untilReady(server);
    const endpoint = endpointOf(server);
    const put = (path: string, query: string, body = '') =>
      askWell(endpoint, { method: 'PUT', path, query }, Buffer.from(body));
    for (const one of [bucket, 'logs']) await put(`/${one}`, '');
    await writeOver(endpoint, objects, objects.count, 64);
    const target = '<LoggingEnabled><TargetBucket>logs</TargetBucket><TargetPrefix>of/</TargetPrefix></LoggingEnabled>';
    if (logs) await put(`/${bucket}`, 'logging=', `<BucketLoggingStatus>${target}</BucketLoggingStatus>`);
    return new Side(name, server, endpoint);
  }

  async turn(milliseconds: number): Promise<Turn> {
    const ring = new RequestRing(gets, new RequestSigner(this.#endpoint, new Date()));
    const before = this.#cpuSeconds();
    const driven = await drive({ address: this.#endpoint, ring, connections: 32, milliseconds, repeat: true });
    if (driven.failures.size > 0) throw new Error(`GET failed: ${JSON.stringify([...driven.failures])}`);
    const { operations } = driven;
    return { operations, rate: (operations / driven.milliseconds) * 1_000, used: this.#cpuSeconds() - before };
  }

  row(): string[] {
    const micros = this.turns.map(({ used, operations }) => (used * 1e6) / operations);
    const rates = this.turns.map(({ rate }) => rate);
    const all = this.turns.reduce((sum, { operations }) => sum + operations, 0);
    const mean = (this.turns.reduce((sum, { used }) => sum + used, 0) * 1e6) / all;
    return [
      this.name,
      String(all),
      ...[mean, median(micros), Math.min(...micros), median(rates)].map((one) => number(one)),
    ];
  }

  stop(): Promise<unknown> {
    return this.#server.stop();
  }

  #cpuSeconds(): number {
    return parseStat(readFileSync(`/proc/${this.#server.pid}/stat`, 'latin1'))?.cpuSeconds ?? 0;
  }
}

const sides = [await Side.open('without access logs', false), await Side.open('with them', true)] as const;
try {
  await sleep(untilSeenMs);
  for (const side of sides) await side.turn(4 * turnMs);
  for (let turn = 0; turn < turns; turn += 1) {
    for (const side of turn % 2 === 0 ? sides : sides.toReversed()) side.turns.push(await side.turn(turnMs));
  }
} finally {
  await Promise.all(sides.map((side) => side.stop()));
}
const head = ['GET of 256 bytes', 'requests', 'µs each: mean', 'median of turns', 'least', 'median rate'];
process.stdout.write(
  `${markdownTable(
    head,
    sides.map((side) => side.row()),
    1,
  )}\n`,
);
