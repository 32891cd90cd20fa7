import { execFile } from 'node:child_process';
import { getPriority } from 'node:os';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { keptChunks } from '../streams/chunks.ts';
import { parquetFile } from '../../test/support/select/parquet-file.ts';
import { temporaryFolder } from '../../test/support/store/temporary-folder.ts';
import { parseSelectRequest } from './select-request.ts';
import { defaultQueryBudget } from './query-budget.ts';
import { QueryProcesses } from './query-processes.ts';

const xml = Buffer.from(
  '<SelectObjectContentRequest><Expression>SELECT * FROM S3Object</Expression><ExpressionType>SQL</ExpressionType>' +
    '<InputSerialization><CSV/></InputSerialization><OutputSerialization><CSV/></OutputSerialization></SelectObjectContentRequest>',
);
const request = parseSelectRequest(xml);
const bytes = Buffer.from('a,b\n1,2\n');
const asked = { now: new Date(), budget: defaultQueryBudget, account: 'a', gone: () => false };
const object = {
  size: bytes.length,
  read: (start: number, end: number) => Promise.resolve(bytes.subarray(start, end)),
};

/** Returns the answer to a query, or the message of its failure. */
async function answerOf(queries: QueryProcesses, ...query: Parameters<QueryProcesses['run']>): Promise<string> {
  const messages = await queries.run(...query);
  try {
    return Buffer.concat(await Array.fromAsync(keptChunks(messages))).toString('latin1');
  } catch (error) {
    return (error as Error).message;
  } finally {
    await messages.close();
  }
}

/**
 * The processes of queries that this one has started. It shares its worker with the tests of other files, whose processes may start and end
 * at any time.
 */
function queryProcesses(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
        const isChild = Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]) === process.pid;
        return isChild && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('query-process');
      } catch {
        return false;
      }
    })
    .map(Number);
}

it('runs a query after the process of the query before has ended on its own', async () => {
  const queries = new QueryProcesses();
  const answer = async () => {
    const messages = await queries.run(request, object, asked);
    const found = Buffer.concat(await Array.fromAsync(keptChunks(messages)));
    await messages.close();
    return found.toString('latin1');
  };
  const others = new Set(queryProcesses());
  expect(await answer()).toContain('1,2');
  const [idle, ...more] = queryProcesses().filter((pid) => !others.has(pid));
  expect(more).toEqual([]);
  if (idle === undefined) throw new Error('the process was not kept');
  process.kill(idle, 'SIGKILL');
  // Its entry is gone when this process has got the exit.
  await expect.poll(() => existsSync(`/proc/${idle}`), { timeout: 10_000 }).toBe(false);
  expect(await answer()).toContain('1,2');
}, 60_000);

it('runs a query with a lower priority, and with no right but to read its code', async () => {
  const queries = new QueryProcesses();
  const others = new Set(queryProcesses());
  const messages = await queries.run(request, object, asked);
  const [pid = 0] = queryProcesses().filter((one) => !others.has(one));
  expect(getPriority(pid)).toBe(10);
  const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  expect(args).toContain('--permission');
  expect(args.filter((arg) => arg.startsWith('--allow') && !arg.startsWith('--allow-fs-read='))).toEqual([]);
  expect(args).not.toContain('--allow-fs-read=*');
  expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('SVC_');
  await messages.close();
}, 60_000);

it('reads what its code needs, of Parquet too', async () => {
  const queries = new QueryProcesses();
  const columnData = [{ name: 'price', data: [1, 2], type: 'INT32' as const }];
  const file = Buffer.from(parquetWriteBuffer({ columnData, codec: 'SNAPPY' }));
  const parquet = {
    size: file.length,
    read: (start: number, end: number) => Promise.resolve(file.subarray(start, end)),
  };
  const messages = await queries.run({ ...request, input: { kind: 'parquet' } }, parquet, asked);
  const found = Buffer.concat(await Array.fromAsync(keptChunks(messages))).toString('latin1');
  await messages.close();
  expect(found).toContain('1\n2\n');
}, 60_000);

it('ends a query that used its processor time, and runs the next one', async () => {
  const queries = new QueryProcesses();
  const bomb = gzipSync(Buffer.alloc(64 * 1_024 * 1_024, '\n'), { level: 1 });
  const source = {
    size: bomb.length,
    read: (start: number, end: number) => Promise.resolve(bomb.subarray(start, end)),
  };
  const input = { ...(request.input as Extract<typeof request.input, { kind: 'csv' }>), compression: 'GZIP' as const };
  const counting = { ...request, input, expression: 'SELECT COUNT(*) FROM S3Object' };
  const answer = (budget: typeof defaultQueryBudget) => answerOf(queries, counting, source, { ...asked, budget });
  expect(await answer({ ...defaultQueryBudget, processorMs: 100 })).toContain('SVC_API_SELECT_PROCESSOR_TIME');
  expect(await answer({ ...defaultQueryBudget, decompressedBytes: 2 ** 20 })).toContain('SVC_API_SELECT_DECOMPRESSED');
}, 180_000);

it('ends Parquet files that expand, and answers another account meanwhile', async () => {
  const queries = new QueryProcesses();
  const page = { type: 'DATA_PAGE', encoding: 'PLAIN', values: 65_536, bytes: Buffer.alloc(4 * 65_536) } as const;
  const file = parquetFile({ pages: [page], rows: 65_536, groups: 20_000 });
  const source = {
    size: file.length,
    read: (start: number, end: number) => Promise.resolve(file.subarray(start, end)),
  };
  const counting = { ...request, input: { kind: 'parquet' }, expression: 'SELECT COUNT(*) FROM S3Object' } as const;
  // Little, since queries run with a low priority: beside other work a second of the processor may take a minute.
  const budgets = [
    { ...defaultQueryBudget, processorMs: 300 },
    { ...defaultQueryBudget, decompressedBytes: 2 ** 24 },
    { ...defaultQueryBudget, processorMs: 300 },
  ];
  const bombs = budgets.map((budget) => answerOf(queries, counting, source, { ...asked, budget }));
  expect(await answerOf(queries, request, object, { ...asked, account: 'b' })).toContain('1,2');
  const [first, second, third] = await Promise.all(bombs);
  expect(first).toContain('SVC_API_SELECT_PROCESSOR_TIME');
  expect(second).toContain('SVC_API_SELECT_DECOMPRESSED');
  expect(third).toContain('SVC_API_SELECT_PROCESSOR_TIME');
}, 360_000);

it('refuses queries while no process can be started, and runs them afterwards', async () => {
  const script = `
    const { openSync, closeSync } = await import('node:fs');
    const { QueryProcesses } = await import(${JSON.stringify(new URL('query-processes.ts', import.meta.url).href)});
    const { parseSelectRequest } = await import(${JSON.stringify(new URL('select-request.ts', import.meta.url).href)});
    const request = parseSelectRequest(Buffer.from(process.env.REQUEST));
    const bytes = Buffer.from('a,b\\n1,2\\n');
    const object = { size: bytes.length, read: async (start, end) => bytes.subarray(start, end) };
    const queries = new QueryProcesses();
    const query = async () => {
      const messages = await queries.run(request, object, { now: new Date(), budget: { processorMs: 10000, decompressedBytes: 1e9 }, account: 'a', gone: () => false });
      try {
        return (await messages.next()) !== undefined;
      } finally {
        await messages.close();
      }
    };
    const taken = [];
    try {
      for (;;) taken.push(openSync('/dev/null'));
    } catch {}
    // More than may run at a time: a refused query leaves its place to the next.
    for (let round = 0; round < 4; round += 1) console.log(await query().catch(({ code }) => code));
    for (const file of taken) closeSync(file);
    console.log(await query());
    process.exit(0);
  `;
  const folder = await temporaryFolder();
  const file = join(folder.path, 'script.mjs');
  await writeFile(file, script);
  const limited = ['-c', 'ulimit -n 200; exec "$0" "$1"', process.execPath, file];
  const { stdout } = await promisify(execFile)('sh', limited, { env: { ...process.env, REQUEST: String(xml) } });
  await folder.remove();
  expect(stdout).toBe('EMFILE\nEMFILE\nEMFILE\nEMFILE\ntrue\n');
}, 90_000);
