// `node bin/run.js bench/background/lifecycle.ts [COUNT] [RATE]` writes COUNT objects of 256 bytes (1,000,000) and puts a rule by which all of them are due,
// while clients GET other objects. It says how long it took until all were gone, and the rate of the GETs before, meanwhile and after. RATE is
// SVC_LIFECYCLE_RATE, removals a second (2,000).
import { setTimeout as sleep } from 'node:timers/promises';
import { startServer, untilReady } from '../../test/support/server/start-server.ts';
import { ask, askWell } from '../generator/ask.ts';
import { drive } from '../generator/drive.ts';
import { RequestRing } from '../generator/request-ring.ts';
import { RequestSigner } from '../generator/request-signer.ts';
import { bucket } from '../loads/load.ts';
import { bodiesOf, Objects, sendAll, writeOver } from '../loads/objects.ts';
import { markdownTable } from '../report.ts';
import { ProcessTree } from '../servers/running-server.ts';
import { endpointOf } from '../servers/started-server.ts';
import { median, number, percentile } from '../statistics.ts';

const count = Number(process.argv[2] ?? 1_000_000);
const rate = Number(process.argv[3] ?? 2_000);
const turnMs = 1_000;
/** Turns before and after the walk. */
const calmTurns = 30;

interface Turn {
  readonly rate: number;
  /** Milliseconds. */
  readonly p99: number;
}

const server = await startServer({ env: { SVC_LIFECYCLE_RATE: String(rate) } });
await untilReady(server);
const endpoint = endpointOf(server);
const kept = new Objects('kept', 2_000, bodiesOf(256));
const due = new Objects('due', count, bodiesOf(256));
const gets = kept.all((at) => kept.get(at));

async function turn(): Promise<Turn> {
  const ring = new RequestRing(gets, new RequestSigner(endpoint, new Date()));
  const driven = await drive({ address: endpoint, ring, connections: 32, milliseconds: turnMs, repeat: true });
  if (driven.failures.size > 0) throw new Error(`GET failed: ${JSON.stringify([...driven.failures])}`);
  return {
    rate: (driven.operations / driven.milliseconds) * 1_000,
    p99: percentile(driven.latencies.toSorted(), 0.99) / 1_000,
  };
}

async function calm(): Promise<Turn[]> {
  const turns: Turn[] = [];
  while (turns.length < calmTurns) turns.push(await turn());
  return turns;
}

async function remains(prefix: string): Promise<boolean> {
  const query = `list-type=2&max-keys=1&prefix=${prefix}%2F`;
  const { body } = await askWell(endpoint, { method: 'GET', path: `/${bucket}`, query });
  return body.includes('<Contents>');
}

async function putRule(): Promise<void> {
  const rule =
    '<Rule><ID>due</ID><Status>Enabled</Status><Filter><Prefix>due/</Prefix></Filter><Expiration><Date>2020-01-01T00:00:00Z</Date></Expiration></Rule>';
  const document = Buffer.from(`<LifecycleConfiguration>${rule}</LifecycleConfiguration>`);
  await askWell(endpoint, { method: 'PUT', path: `/${bucket}`, query: 'lifecycle=' }, document);
}

try {
  await askWell(endpoint, { method: 'PUT', path: `/${bucket}`, query: '' });
  await sendAll(
    endpoint,
    kept.all((at) => kept.put(at)),
  );
  await writeOver(endpoint, due, count, 64);
  for (let at = 0; at < 5; at += 1) await turn();
  const before = await calm();
  const tree = new ProcessTree(server.pid);
  await putRule();
  // The walk begins up to ten seconds later.
  const first = `/${bucket}/${due.key(0)}`;
  const waits: Turn[] = [];
  while ((await ask(endpoint, { method: 'HEAD', path: first, query: '' })).status === 200) waits.push(await turn());
  const [began, cpu] = [performance.now(), tree.cpuSeconds()];
  const meanwhile: Turn[] = [];
  while (await remains('due')) meanwhile.push(await turn());
  const seconds = (performance.now() - began) / 1_000;
  const used = tree.cpuSeconds() - cpu;
  await sleep(2_000);
  const after = await calm();
  if (!(await remains('kept'))) throw new Error('objects are gone that no rule names');
  const rows = (
    [
      ['before', before],
      ['while objects are removed', meanwhile],
      ['after', after],
    ] as const
  ).map(([name, turns]) => [
    name,
    String(turns.length),
    number(median(turns.map((one) => one.rate))),
    number(median(turns.map((one) => one.p99))),
  ]);
  const share = (median(meanwhile.map((one) => one.rate)) / median(before.map((one) => one.rate))) * 100;
  process.stdout.write(
    `${count} objects were gone after ${seconds.toFixed(1)} s, ${Math.round(count / seconds)} a second (SVC_LIFECYCLE_RATE=${rate}); ${used.toFixed(1)} s of processor time for all\n` +
      `GETs kept ${share.toFixed(1)} % of their rate\n\n${markdownTable(['GET of 256 bytes', 'seconds', 'median rate', 'median p99, ms'], rows, 1)}\n`,
  );
} finally {
  await server.stop();
}
