/**
 * Runs loads against a server that is already running: see bench/README.md. `node bin/run.js bench/against.ts --url http://127.0.0.1:9000
 * --access-key KEY --secret-key SECRET [--only put-4KiB,get-4KiB]`
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { Endpoint } from './generator/request-signer.ts';
import { makeBucket, RoundInProgress } from './generator/session.ts';
import { loadsNamed } from './loads/loads.ts';
import type { Load } from './loads/load.ts';
import { ProcessTree } from './servers/running-server.ts';

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: 'http://127.0.0.1:9000' },
    'access-key': { type: 'string' },
    'secret-key': { type: 'string' },
    region: { type: 'string', default: 'us-east-1' },
    only: { type: 'string', default: 'put-4KiB,get-4KiB,head-4KiB,delete-4KiB,list,put-8MiB,get-8MiB' },
    connections: { type: 'string', default: '32' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '1' },
    quick: { type: 'boolean', default: false },
    'sign-payload': { type: 'boolean', default: false },
    pid: { type: 'string' },
  },
});
const url = new URL(values.url);
const endpoint: Endpoint = {
  host: url.hostname,
  port: Number(url.port || 80),
  accessKey: values['access-key'] ?? process.env['AWS_ACCESS_KEY_ID'] ?? '',
  secretKey: values['secret-key'] ?? process.env['AWS_SECRET_ACCESS_KEY'] ?? '',
  region: values.region,
};
const server = values.pid === undefined ? undefined : new ProcessTree(Number(values.pid));
const widths = [16, 6, 12, 10, 10, 10, 18, 12];

function row(cells: readonly string[]): void {
  process.stdout.write(`${cells.map((cell, at) => cell.padStart(widths[at] ?? 0)).join('')}\n`);
}

async function measure(load: Load, connections: number): Promise<void> {
  const running = await RoundInProgress.prepare(load, {
    endpoint,
    connections,
    seconds: Number(values.seconds),
    id: randomBytes(4).toString('hex'),
    quick: values.quick,
    signPayload: values['sign-payload'],
  });
  const cpu = server?.cpuSeconds() ?? 0;
  const measured = await running.run();
  const used = (server?.cpuSeconds() ?? 0) - cpu;
  const seconds = measured.milliseconds / 1000;
  row([
    load.name,
    String(connections),
    (measured.operations / seconds).toFixed(measured.operations === 1 ? 2 : 0),
    (measured.bytes / 2 ** 20 / seconds).toFixed(1),
    measured.p50.toFixed(2),
    measured.p99.toFixed(2),
    server === undefined ? '' : ((used / measured.operations) * 1000).toFixed(4),
    `${((measured.generatorCpu / seconds) * 100).toFixed(0)} %`,
  ]);
  await running.finish();
}

row(['load', 'conn', 'ops/s', 'MiB/s', 'p50 ms', 'p99 ms', 'CPU-s/1,000 ops', 'gen. CPU']);
await makeBucket(endpoint, { versioned: false, webhook: false });
for (const load of loadsNamed(values.only.split(','))) {
  for (const connections of values.connections.split(',').map(Number)) {
    for (let round = 0; round < Number(values.rounds); round += 1) await measure(load, connections);
  }
}
