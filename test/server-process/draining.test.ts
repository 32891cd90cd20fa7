import { Agent, get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { inFullForm } from '../support/full-form.ts';
import { startServer, untilReady } from '../support/server/start-server.ts';

/** The gate asks as fast as it can, which keeps both cores busy for a second. */
const pauseMs = inFullForm(0, 5);
const patient = { timeout: 90_000 };

/**
 * A GET over a pool of kept connections: the status, or the code of the error. A connection that the kernel queued in the instant in
 * which the listener closes is reset before anything was read of it, which no program can prevent: it counts as refused.
 */
function ask(url: string, agent: Agent): Promise<number | string> {
  return new Promise((resolve) => {
    const request = get(url, { agent }, (answer: IncomingMessage) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
      answer.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      const neverTaken = error.code === 'ECONNRESET' && !request.reusedSocket;
      resolve(neverTaken ? 'ECONNREFUSED' : (error.code ?? error.message));
    });
  });
}

it('a server that is told to stop is not ready at once, serves its clients on, and leaves them none but refused connections', async () => {
  // Within the delay a busy machine must find the time to see the server not ready.
  const server = await startServer({ env: { SVC_SHUTDOWN_DELAY: '5s' } });
  await untilReady(server);
  const agent = new Agent({ keepAlive: true });
  const answers: (number | string)[] = [];
  let notReadyYetServed = false;
  const clients = Array.from({ length: 8 }, async (_, client) => {
    for (;;) {
      // What S3 refuses to strangers it has served.
      const answer = await ask(client % 2 === 0 ? `${server.s3}/minio/health/live` : `${server.s3}/`, agent);
      answers.push(answer);
      if (answer === 'ECONNREFUSED') return;
      // A failure of another kind ends the client too, and the test.
      if (typeof answer === 'string') return;
      await sleep(pauseMs);
    }
  });
  const exited = server.stop();
  await server.untilLogged('stopping: SIGTERM');
  await expect
    .poll(async () => {
      const status = await ask(`${server.s3}/minio/health/ready`, agent);
      notReadyYetServed ||= status === 503 && (await ask(`${server.s3}/minio/health/live`, agent)) === 200;
      return status;
    }, patient)
    .toBe(503);
  expect(notReadyYetServed).toBe(true);
  await Promise.all(clients);
  agent.destroy();
  expect(await exited).toBe(0);
  expect(new Set(answers)).toEqual(new Set([200, 403, 'ECONNREFUSED']));
});

it('a lone server that is told to stop asks its clients to come again when it is back, and they sit out the restart', async () => {
  const server = await startServer({ env: { SVC_SHUTDOWN_REFUSAL: '5s' } });
  await untilReady(server);
  const exited = server.stop();
  await server.untilLogged('stopping: SIGTERM');
  let headers = new Headers();
  const status = async () => {
    const answer = await fetch(server.s3);
    headers = answer.headers;
    return answer.status;
  };
  await expect.poll(status).toBe(503);
  expect([headers.get('retry-after'), headers.get('x-amz-retry-after')]).toEqual(['5', '5000']);
  expect(await exited).toBe(0);
});
