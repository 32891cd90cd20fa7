/**
 * Measures the PostgreSQL engine with its own database server: commits per second and processor time of both sides, at several numbers of
 * callers; reads; scans. `node bin/run.js bench/postgres.ts [SECONDS]`. Both sides share the machine's processors.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { endOf, escape, key, partialPrefix, within } from '../server/store/keys.ts';
import { commitId } from '../test/support/store/patient.ts';
import { openPostgresRecordStore } from '../server/store/postgres/record-store.ts';
import type { Batch, RecordStore } from '../server/store/record-store.ts';
import { startPostgres } from '../test/support/server/postgres.ts';
import { childrenOf } from '../test/support/process/process-tree.ts';

const seconds = Number(process.argv[2] ?? 3);
const body = randomBytes(4096);
const small = randomBytes(200);
let next = 0;

const server = await startPostgres();
const database = await server.createDatabase();
const store = await openPostgresRecordStore({ ...database, log: pino({ enabled: false }), connections: 16 });

try {
  await store.commit({ id: commitId(), put: [{ key: key('b', 'bucket'), value: small }] });
  const bucket = await store.get(key('b', 'bucket'));
  const guard = { kind: 'revision' as const, key: key('b', 'bucket'), revision: bucket?.revision ?? 0 };
  const loads: readonly (readonly [string, (index: number) => Promise<unknown>])[] = [
    ['commit 200 B', (index) => commit({ put: [{ key: key('o', 'small', name(index)), value: small }] })],
    ['commit 4 KiB, absent', (index) => commit(absentPut(index))],
    ['PUT: guard, object, 4 KiB body, counter', (index) => commit(objectPut(index))],
    ['overwrite of 100 keys', (index) => commit({ put: [{ key: key('w', String(index % 100)), value: small }] })],
    ['one counter', () => commit({ add: [{ key: key('count'), delta: 1n }] })],
    ['get 200 B', (index) => store.get(key('o', 'small', name(index % 1000)))],
    ['get 4 KiB', (index) => store.get(key('i', name(index % 1000)))],
    ['getAll of 3', (index) => store.getAll([key('b', 'bucket'), key('o', 'small', name(index % 1000)), key('x')])],
  ];
  console.log('| load | callers | a second | this process, µs each | PostgreSQL, µs each |');
  console.log('| --- | ---: | ---: | ---: | ---: |');
  for (const [what, once] of loads) {
    for (const callers of [1, 8, 64]) await measure(what, callers, once);
  }
  await scans(store);

  function objectPut(index: number): Omit<Batch, 'id'> {
    return {
      expect: [guard, { kind: 'absent', key: key('o', 'bucket', name(index)) }],
      put: [
        { key: key('o', 'bucket', name(index)), value: small },
        { key: key('i', name(index)), value: body },
      ],
      add: [{ key: key('usage', 'bucket', String(index % 8)), delta: 4096n }],
    };
  }
} finally {
  await store.close();
  await server.remove();
}

function absentPut(index: number): Omit<Batch, 'id'> {
  const at = key('i', `absent ${name(index)}`);
  return { expect: [{ kind: 'absent', key: at }], put: [{ key: at, value: body }] };
}

async function commit(batch: Omit<Batch, 'id'>): Promise<void> {
  const outcome = await store.commit({ id: commitId(), ...batch });
  if (outcome.kind !== 'committed') throw new Error(outcome.kind);
}

/** The names are not in the order of the keys. */
function name(index: number): string {
  return (Math.imul(index, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0');
}

async function measure(what: string, callers: number, once: (index: number) => Promise<unknown>): Promise<void> {
  if (!what.startsWith('commit') && !what.startsWith('PUT')) next = 0;
  await Promise.all(Array.from({ length: callers }, () => once(next++)));
  const before = { own: process.cpuUsage(), server: serverTime(), at: performance.now(), done: 0 };
  const until = before.at + seconds * 1000;
  let done = 0;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < until) {
        await once(next++);
        done += 1;
      }
    }),
  );
  const own = process.cpuUsage(before.own);
  const elapsed = (performance.now() - before.at) / 1000;
  const figures = [
    Math.round(done / elapsed),
    Math.round((own.user + own.system) / done),
    Math.round((serverTime() - before.server) / done),
  ];
  console.log(`| ${what} | ${callers} | ${figures.join(' | ')} |`);
}

async function scans(records: RecordStore): Promise<void> {
  await flat(records);
  console.log('\n| scan | items a second | this process, µs each | PostgreSQL, µs each |');
  console.log('| --- | ---: | ---: | ---: |');
  const prefix = partialPrefix('o', 'scan', '');
  const all = { start: prefix, end: endOf(prefix) };
  await scan('all, 200 B each', () => records.scan(within('o', 'scan')));
  await scan('in reverse', () => records.scan({ ...within('o', 'scan'), reverse: true }));
  await scan('collapsed, nothing in groups', () =>
    records.scan({ ...all, collapse: { prefix, delimiter: escape('!') } }),
  );
  await scan('collapsed to groups of 100', () =>
    records.scan({ ...all, collapse: { prefix, delimiter: escape('/') } }),
  );
}

async function flat(records: RecordStore): Promise<void> {
  for (let folder = 0; folder < 1000; folder += 1) {
    const put = Array.from({ length: 100 }, (_, index) => ({
      key: key('o', 'scan', `folder ${String(folder).padStart(4, '0')}/${index}`),
      value: small,
    }));
    await records.commit({ id: commitId(), put });
  }
  await server.asSuperuser('analyze', new URL(database.url).pathname.slice(1));
}

async function scan(what: string, items: () => AsyncIterable<unknown>): Promise<void> {
  const before = { own: process.cpuUsage(), server: serverTime(), at: performance.now() };
  let count = 0;
  while (performance.now() - before.at < seconds * 1000) {
    for await (const _item of items()) count += 1;
  }
  const own = process.cpuUsage(before.own);
  const elapsed = (performance.now() - before.at) / 1000;
  const micros = [(own.user + own.system) / count, (serverTime() - before.server) / count].map((one) => one.toFixed(1));
  console.log(`| ${what} | ${Math.round(count / elapsed)} | ${micros.join(' | ')} |`);
}

/** Returns the processor time of all processes of the database in microseconds. */
function serverTime(): number {
  const first = childrenOf(process.pid).filter((pid) => commandOf(pid).includes('/postgres'));
  return [...first, ...first.flatMap(childrenOf)].reduce((sum, pid) => sum + timeOf(pid), 0);
}

function commandOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
}

function timeOf(pid: number): number {
  try {
    // Nanoseconds on a processor. `stat` only counts hundredths of a second.
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;
  } catch {
    return 0;
  }
}
