import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signRequest } from '../../protocol/sigv4/sign-request.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';

let server: RunningServer;

beforeAll(async () => {
  server = await startServer({ env: { SVC_THREADS: '2' } });
  await untilReady(server);
});
afterAll(async () => {
  await server?.stop();
});

const root = { accessKey: 'root', secretKey: 'root-password' };
const service = (query: string) => adminCall(server.s3, root, 'POST', `service?${query}`);

function signed(rawPath: string, rawQuery = ''): Record<string, string> {
  const headers = { host: new URL(server.s3).host };
  const payloadHash = createHash('sha256').update('').digest('hex');
  const options = { region: 'us-east-1', service: 's3', now: new Date(), payloadHash } as const;
  return signRequest({ method: 'GET', rawPath, rawQuery, headers }, root, options);
}

const buckets = () => fetch(`${server.s3}/`, { headers: signed('/') });

const info = () => adminCall(server.s3, root, 'GET', 'info');

async function goodAndBad(): Promise<void> {
  await buckets();
  await fetch(`${server.s3}/secret-bucket/key`);
}

function saysUnfreeze({ message }: Record<string, unknown>): boolean {
  return String(message).includes('asks this server to unfreeze');
}

/** Reads the lines of an answer without an end until one fits, doing something now and then that makes such lines. */
async function untilLine(
  call: string,
  query: string,
  fits: (line: Record<string, unknown>) => boolean,
  stir: () => Promise<unknown> = () => Promise.resolve(),
): Promise<Record<string, unknown>> {
  const rawPath = `/minio/admin/v3/${call}`;
  const leave = new AbortController();
  const answer = await fetch(`${server.s3}${rawPath}?${query}`, {
    headers: signed(rawPath, query),
    signal: leave.signal,
  });
  expect(answer.status).toBe(200);
  const stirring = (async () => {
    while (!leave.signal.aborted) {
      await stir();
      await sleep(50);
    }
  })();
  try {
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        const value = JSON.parse(line) as Record<string, unknown>;
        if (fits(value)) return value;
      }
    }
    throw new Error('the answer ended');
  } finally {
    leave.abort();
    await stirring;
  }
}

describe('trace', () => {
  it('shows the requests of every thread to a caller of any of them, without credentials', async () => {
    const line = await untilLine('trace', 's3=true', ({ funcname }) => funcname === 's3.ListBuckets', buckets);
    expect(line).toMatchObject({
      type: 4,
      path: '/',
      http: { response: { statuscode: 200 }, request: { method: 'GET' } },
    });
    expect(JSON.stringify(line)).toContain('Credential=root/');
    expect(JSON.stringify(line)).not.toMatch(/Signature=[0-9a-f]/);
  });

  it('shows what was refused alone where errors are asked for', async () => {
    const line = await untilLine('trace', 's3=true&err=true', ({ type }) => type === 4, goodAndBad);
    expect(line).toMatchObject({ path: '/secret-bucket/key', http: { response: { statuscode: 403 } } });
    expect(line['error']).toMatch(/^AccessDenied/);
  });

  it('shows other calls as internal', async () => {
    const line = await untilLine('trace', 'internal=true', ({ funcname }) => funcname === 'admin.ServerInfo', info);
    expect(line).toMatchObject({ type: 8 });
  });

  it('refuses a threshold that is none', async () => {
    expect(await adminCall(server.s3, root, 'GET', 'trace?s3=true&threshold=soon')).toMatchObject({
      status: 400,
      value: { Code: 'XCofferInvalidRequest' },
    });
  });
});

describe('log', () => {
  it('shows what was written before, of all threads, and goes on', async () => {
    expect(await untilLine('log', 'limit=0&logType=all', ({ message }) => message === 'ready')).toMatchObject({
      level: 'INFO',
      errKind: 'APPLICATION',
      node: new URL(server.s3).host,
    });
    await untilLine('log', 'limit=1', saysUnfreeze, () => service('action=unfreeze'));
  });

  it('holds no secret', () => {
    expect(server.log.join('\n')).not.toContain(root.secretKey);
  });
});

describe('service', () => {
  it('refuses an action that is none', async () => {
    expect(await service('action=explode')).toMatchObject({ status: 400, value: { Code: 'XCofferInvalidRequest' } });
  });

  it('does nothing on a dry run', async () => {
    expect(await service('action=stop&type=2&dry-run=true')).toMatchObject({
      status: 200,
      value: { action: 'stop', dryRun: true, results: [{ host: new URL(server.s3).host }] },
    });
    expect((await buckets()).status).toBe(200);
  });

  it('holds S3 on every thread while it is frozen, and answers what was held', async () => {
    await service('action=freeze');
    const waiting: Promise<Response>[] = [];
    const held = async () => {
      const asked = buckets();
      waiting.push(asked);
      return Promise.race([asked.then(() => false), sleep(300, true)]);
    };
    // Each thread hears of it by itself.
    await expect
      .poll(async () => (await Promise.all([held(), held(), held(), held()])).every(Boolean), { timeout: 60_000 })
      .toBe(true);
    // The admin API goes on: somebody has to thaw it.
    expect((await service('action=unfreeze&type=2')).status).toBe(200);
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(waiting.map(() => 200));
  });

  it('restarts in the same process, and is ready again', { timeout: 360_000 }, async () => {
    const before = server.log.filter((line) => line.includes('"event":"ready"')).length;
    expect((await service('action=restart')).status).toBe(200);
    await expect
      .poll(() => server.log.filter((line) => line.includes('"event":"ready"')).length, { timeout: 300_000 })
      .toBe(before + 1);
    expect(server.log.join('\n')).toContain('"reason":"an administrator asks for a restart"');
    process.kill(server.pid, 0);
  });
});
