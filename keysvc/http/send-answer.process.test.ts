import type { IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CertificateAndKey } from '../../platform/tls/certificate-and-key.ts';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import { KeyError } from '../keystores/keystore.ts';
import {
  ask,
  issueBy,
  open,
  startTestKeyService,
  type TestKeyService,
} from '../../test/support/keysvc/test-key-service.ts';

let keys: TestKeyService;
let root: CertificateAndKey;

beforeAll(async () => {
  keys = await startTestKeyService(async (ca) => {
    root = await issueBy(ca, 'root');
    return `root: ${identityOfCertificate(root.certPem)}`;
  });
});
afterAll(() => keys.stop());

const call = (method: string, path: string) => ask(keys.service, method, path, { who: root });

/** Begins a stream and collects its text. */
async function watch(path: string): Promise<{ response: IncomingMessage; lines: unknown[] }> {
  const response = await open(keys.service, 'GET', path, { who: root });
  const lines: unknown[] = [];
  createInterface({ input: response }).on('line', (line) => lines.push(JSON.parse(line)));
  response.on('error', () => undefined);
  return { response, lines };
}

describe('a stream of the audit', () => {
  it('begins at once and shows each call of others as it is answered', async () => {
    const { response, lines } = await watch('/v1/log/audit');
    expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'application/x-ndjson']);
    await call('POST', '/v1/key/create/streamed');
    await call('DELETE', '/v1/key/delete/none');
    await expect
      .poll(() => lines, { timeout: 60_000 })
      .toEqual([
        {
          time: expect.any(String),
          request: { ip: '127.0.0.1', path: '/v1/key/create/streamed', identity: identityOfCertificate(root.certPem) },
          response: { code: 200, time: expect.any(Number) },
        },
        expect.objectContaining({ response: { code: 404, time: expect.any(Number) } }),
      ]);
    response.destroy();
  });

  it('says nothing of the streams themselves, nor of who reads metrics', async () => {
    const { response, lines } = await watch('/v1/log/audit');
    (await watch('/v1/log/error')).response.destroy();
    await call('GET', '/v1/metrics');
    await call('GET', '/version');
    await expect.poll(() => lines, { timeout: 60_000 }).toHaveLength(1);
    expect(lines).toEqual([expect.objectContaining({ request: expect.objectContaining({ path: '/version' }) })]);
    response.destroy();
  });

  it('ends for a reader that does not read, so that the events kept for it are bounded', async () => {
    // Waits until the server has closed the streams of other tests.
    const streams = () => keys.service.audit.listenerCount('event') - 1;
    await expect.poll(streams, { timeout: 60_000 }).toBe(0);
    const response = await open(keys.service, 'GET', '/v1/log/audit', { who: root });
    response.on('error', () => undefined);
    expect(streams()).toBe(1);
    const event = {
      time: new Date(0).toISOString(),
      request: { path: 'x'.repeat(64 * 1024) },
      response: { code: 200, time: 1 },
    };
    // The buffers of the sockets hold some MiB.
    for (let sent = 0; sent < 2000 && streams() > 0; sent++) {
      keys.service.audit.record(event);
      await new Promise(setImmediate);
    }
    expect(streams()).toBe(0);
    response.destroy();
  });
});

describe('a stream of errors', () => {
  it('shows why calls fail, which their callers are not told', async () => {
    const { response, lines } = await watch('/v1/log/error');
    keys.store.failure = new KeyError('unavailable', 'the disk is broken');
    await call('GET', '/v1/key/describe/unread');
    keys.store.failure = undefined;
    await call('GET', '/v1/key/describe/missing');
    await expect
      .poll(() => lines, { timeout: 60_000 })
      .toEqual([{ message: '/v1/key/describe/unread: bad gateway: failed to access key: the disk is broken' }]);
    response.destroy();
  });
});

describe('when the service stops', () => {
  it('streams end, and nothing waits for their readers', async () => {
    const other = await startTestKeyService(async (ca) => {
      root = await issueBy(ca, 'root');
      return `root: ${identityOfCertificate(root.certPem)}`;
    });
    const response = await open(other.service, 'GET', '/v1/log/audit', { who: root });
    const ended = new Promise((resolve) => response.once('end', resolve));
    response.resume();
    await other.stop();
    await ended;
  });
});
