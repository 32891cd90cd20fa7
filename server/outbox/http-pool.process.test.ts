import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Pool } from 'undici';
import { exchange, openPool, type PoolRequest } from './http-pool.ts';

const paths: string[] = [];
let release = () => {};
const server = createServer(({ url = '' }, response) => {
  paths.push(url);
  if (url === '/held') release = () => response.end('held');
  else response.end('served');
});
beforeAll(
  () =>
    new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    }),
);
afterAll(() => void server.close());

/** Runs the lines in a thread that has loaded nothing yet. Resolves with what they post. */
function inThread(lines: string): Promise<unknown> {
  const code = `import { parentPort } from 'node:worker_threads';\n${lines}`;
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
  thread.once('message', resolve);
  thread.once('error', reject);
  return promise.finally(() => void thread.terminate());
}

it('leaves the client behind the fetch of its thread as it is', async () => {
  const { port } = server.address() as AddressInfo;
  const said = await inThread(`
    const { openPool } = await import('${new URL('http-pool.ts', import.meta.url).href}');
    const url = 'http://127.0.0.1:${port}';
    const pool = await openPool(url, { connections: 1 });
    const { body } = await pool.request({ path: '/', method: 'GET' });
    const fetched = await fetch(url);
    const { Agent } = await import('${import.meta.resolve('undici')}');
    const isReplaced = globalThis[Symbol.for('undici.globalDispatcher.2')] instanceof Agent;
    parentPort.postMessage([await body.text(), await fetched.text(), isReplaced]);`);
  expect(said).toEqual(['served', 'served', false]);
  paths.length = 0;
});

const get = (path: string): PoolRequest => ({ method: 'GET', path, headers: {} });

it.each([
  ['late', (get: PoolRequest, pool: Pool) => exchange(pool, get, { maxAnswerBytes: 100, timeoutMs: 1 })],
  [
    'ended',
    (get: PoolRequest, pool: Pool) => {
      const stop = new AbortController();
      const ended = exchange(pool, { ...get, signal: stop.signal }, { maxAnswerBytes: 100 });
      stop.abort();
      return ended;
    },
  ],
])('does not send a request that is %s while it waits for a connection', async (how, ask) => {
  const { port } = server.address() as AddressInfo;
  const pool = await openPool(`http://127.0.0.1:${port}`, { connections: 1 });
  const first = exchange(pool, get('/held'), { maxAnswerBytes: 100 });
  await vi.waitFor(() => expect(paths).toContain('/held'));
  await expect(ask(get(`/${how}`), pool)).rejects.toThrow(how === 'late' ? 'within 1 ms' : 'aborted');
  const last = exchange(pool, get('/last'), { maxAnswerBytes: 100 });
  release();
  expect([(await first).text, (await last).text]).toEqual(['held', 'served']);
  expect(paths).toEqual(['/held', '/last']);
  paths.length = 0;
  await pool.close();
});
