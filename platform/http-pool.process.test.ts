import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, it } from 'vitest';

const server = createServer((_, response) => response.end('served'));
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
});
