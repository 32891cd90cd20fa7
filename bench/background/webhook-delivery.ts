// `node bin/run.js bench/background/webhook-delivery.ts [TURNS] [EVENTS]` measures what it costs the delivering thread to send an event of a PUT to a webhook and to remove it from its
// queue: each turn (5) queues EVENTS (20,000) in a record store of its own, and counts the processor time of this process until the last one is removed. The webhook is
// another process. Processor time depends little on other work of the machine, so that two checkouts can be compared by turns.
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { deliverEvents } from '../../server/notifications/deliver-events.ts';
import { queueEvent } from '../../server/objects/events/outbox.ts';
import { commitOnce } from '../../server/store/commits.ts';
import { within } from '../../server/store/keys.ts';
import { openLmdbRecordStore } from '../../server/store/lmdb/record-store.ts';
import { median, number } from '../statistics.ts';
import { AttemptEvents } from '../../server/objects/events/attempt-events.ts';
import { noEventHub } from '../../server/objects/context/event-hub.ts';

const silent = () => undefined;

if (process.argv[2] === 'webhook') await serve();
else await measure(Number(process.argv[2] ?? 5), Number(process.argv[3] ?? 20_000));

async function serve(): Promise<void> {
  const server = createServer((request, response) => {
    request.resume();
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send?.((server.address() as AddressInfo).port);
  process.once('disconnect', () => process.exit());
}

async function measure(turns: number, count: number): Promise<void> {
  const webhook = fork(fileURLToPath(import.meta.url), ['webhook']);
  const port = Number((await once(webhook, 'message'))[0]);
  const each: number[] = [];
  try {
    for (let turn = 0; turn < turns; turn += 1) {
      each.push(await deliver(port, count));
      process.stderr.write(`${number(each.at(-1) ?? 0)} µs an event\n`);
    }
  } finally {
    webhook.disconnect();
  }
  process.stdout.write(
    `${number(median(each))} µs of processor time an event (median of ${turns} turns of ${count})\n`,
  );
}

/** Microseconds of processor time for each event. */
async function deliver(port: number, count: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'coffer-webhook-delivery-'));
  const records = openLmdbRecordStore({ folder });
  const done = new AbortController();
  try {
    for (let first = 0; first < count; first += 500) {
      const put = Array.from({ length: Math.min(500, count - first) }, (_, at) => eventOf(first + at)).flat();
      await commitOnce(records, { put }, randomBytes);
    }
    const before = process.cpuUsage();
    const delivering = deliverEvents({
      records,
      digests: {} as never,
      settings: {
        targets: [
          { id: 'A', type: 'webhook', queueLimit: 10 * count, values: { endpoint: `http://127.0.0.1:${port}/` } },
        ],
        queueBytes: 2 ** 40,
        whenFull: 'drop',
      } as never,
      source: () => ({ region: 'us-east-1', endpoint: 'http://127.0.0.1:9000', deploymentId: 'a-deployment' }),
      signal: done.signal,
      log: { info: silent, warn: console.error, error: console.error },
      isOver: () => false,
    });
    while (await hasEvents()) await sleep(100);
    const { user, system } = process.cpuUsage(before);
    done.abort();
    await delivering;
    return (user + system) / count;
  } finally {
    await records.close();
    await rm(folder, { recursive: true });
  }

  async function hasEvents(): Promise<boolean> {
    for await (const _event of records.scan({ ...within('outbox'), limit: 1 })) return true;
    return false;
  }
}

function eventOf(at: number) {
  return queueEvent({ events: new AttemptEvents(noEventHub), random: randomBytes }, {
    names: ['s3:ObjectCreated:Put'],
    time: Date.now() - 60_000,
    bucket: 'bench',
    key: `turn-1/${Math.floor(at / 1_000)}/${at % 1_000}`,
    versionId: '0123456789abcdef0123456789abcdef',
    object: {
      id: randomBytes(16).toString('hex'),
      size: 4_096,
      etag: randomBytes(16).toString('hex'),
      contentType: 'application/octet-stream',
    },
    origin: { principal: 'root', address: '127.0.0.1', requestId: '66759ED49002711D', userAgent: 'bench' },
    rules: [{ id: 'all', target: 'A:webhook', events: ['s3:ObjectCreated:*'] }],
  } as never);
}
