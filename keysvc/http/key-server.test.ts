import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueCertificate } from '../../platform/certificates/issue-certificate.ts';
import type { CertificateAndKey } from '../../platform/certificates/certificate-and-key.ts';
import { createLogger } from '../../platform/logger.ts';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import type { AuditEvent } from '../audit/audit-log.ts';
import { parseConfig } from '../config/config-file.ts';
import { KeyStoreError } from '../keystore/keystore.ts';
import { MemoryKeyStore } from '../keystore/memory/memory-keystore.ts';
import { startKeyService } from '../start.ts';
import type { KeyService } from '../start.ts';

let folder: string;
let root: CertificateAndKey;
let reader: CertificateAndKey;
let service: KeyService;
const store = new MemoryKeyStore();
const events: AuditEvent[] = [];

interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** One request, as the superuser unless told otherwise; `null` brings no certificate. */
function ask(method: string, path: string, body?: string, who: CertificateAndKey | null = root): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>();
  const [host = '', port] = service.address.split(':');
  const credentials = who === null ? {} : { cert: who.certPem, key: who.keyPem };
  const options = { host, port, method, path, rejectUnauthorized: false, agent: false, ...credentials };
  const request = httpsRequest(options, (response) => {
    let text = '';
    response.on('data', (chunk: Buffer) => (text += chunk.toString()));
    response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
  });
  request.on('error', reject);
  request.end(body);
  return promise;
}

const message = (answered: Answered) => (JSON.parse(answered.text) as { message: string }).message;

const names = (answered: Answered) =>
  answered.text
    .split('\n')
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { name: string }).name);

const make = (commonName: string) =>
  issueCertificate({ commonName, ipAddresses: ['127.0.0.1'], validForMs: 3_600_000 });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'key-server-'));
  root = await make('root');
  reader = await make('reader');
  await writeFile(join(folder, 'tls.crt'), root.certPem);
  await writeFile(join(folder, 'tls.key'), root.keyPem);
  const config = parseConfig(
    `
address: 127.0.0.1:0
root: ${identityOfCertificate(root.certPem)}
tls: { key: ${join(folder, 'tls.key')}, cert: ${join(folder, 'tls.crt')}, auth: off }
policy:
  reader: { allow: [/v1/key/list/*], deny: [/v1/key/list/hidden*], identities: [${identityOfCertificate(reader.certPem)}] }
api: { /v1/ready: { skip_auth: true } }
log: { error: off }
keystore: { fs: { path: unused } }
`,
    {},
  );
  const log = createLogger({ name: 'test', level: 'silent' });
  service = await startKeyService(config, { log, writeAudit: () => undefined, openStore: async () => store });
  service.audit.on('event', (event) => events.push(event));
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

describe('the key server', () => {
  it.each(['POST', 'PUT'])('takes %s for calls that change or encrypt', async (method) => {
    const name = `by-${method}`;
    expect(await ask(method, `/v1/key/create/${name}`)).toMatchObject({ status: 200, text: '' });
    const sealed = await ask(method, `/v1/key/encrypt/${name}`, '{"plaintext":"c2VjcmV0"}');
    const { ciphertext } = JSON.parse(sealed.text) as { ciphertext: string };
    const opened = await ask(method, `/v1/key/decrypt/${name}`, JSON.stringify({ ciphertext }));
    expect(JSON.parse(opened.text)).toEqual({ plaintext: 'c2VjcmV0' });
  });

  it('describes a key by the identity that made it', async () => {
    await ask('POST', '/v1/key/create/described');
    expect(JSON.parse((await ask('GET', '/v1/key/describe/described')).text)).toMatchObject({
      name: 'described',
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      algorithm: 'AES256-GCM_SHA256',
      created_by: identityOfCertificate(root.certPem),
    });
  });

  it('deletes a key, once', async () => {
    await ask('POST', '/v1/key/create/deleted');
    expect((await ask('DELETE', '/v1/key/delete/deleted')).status).toBe(200);
    const again = await ask('DELETE', '/v1/key/delete/deleted');
    expect([again.status, message(again)]).toEqual([404, 'key does not exist']);
  });

  it('decrypts many at once in their order, and none where one fails', async () => {
    await ask('POST', '/v1/key/create/bulk');
    const sealed = async (text: string) => {
      const plaintext = Buffer.from(text).toString('base64');
      return JSON.parse((await ask('POST', '/v1/key/encrypt/bulk', JSON.stringify({ plaintext }))).text) as object;
    };
    const both = [await sealed('one'), await sealed('two')];
    const opened = await ask('POST', '/v1/key/bulk/decrypt/bulk', JSON.stringify(both));
    expect(JSON.parse(opened.text)).toEqual([{ plaintext: 'b25l' }, { plaintext: 'dHdv' }]);
    const broken = await ask('POST', '/v1/key/bulk/decrypt/bulk', JSON.stringify([...both, { ciphertext: 'AAAA' }]));
    expect([broken.status, message(broken)]).toEqual([400, 'decryption failed: ciphertext is not authentic']);
    const tooMany = JSON.stringify(Array.from({ length: 1001 }, () => ({ ciphertext: 'AAAA' })));
    expect(message(await ask('POST', '/v1/key/bulk/decrypt/bulk', tooMany))).toBe('too many ciphertexts');
  });

  it('lists what the pattern matches and hides what the policy denies', async () => {
    for (const name of ['list-a', 'list-b', 'hidden-c']) await ask('POST', `/v1/key/create/${name}`);
    expect(names(await ask('GET', '/v1/key/list/list-*'))).toEqual(['list-a', 'list-b']);
    expect(names(await ask('GET', '/v1/key/list/%2A'))).toContain('hidden-c');
    const seen = names(await ask('GET', '/v1/key/list', undefined, reader));
    expect(seen).toContain('list-a');
    expect(seen).not.toContain('hidden-c');
    expect((await ask('GET', '/v1/key/list/none-*')).text).toBe('');
  });
});

describe('the key server refuses', () => {
  it('a path that is none', async () => {
    const refused = await ask('GET', '/v1/nothing');
    expect([refused.status, message(refused)]).toEqual([501, 'not implemented']);
    expect(refused.headers['x-content-type-options']).toBe('nosniff');
  });

  it('a method that is not that of the call, and names the right one', async () => {
    const refused = await ask('GET', '/v1/key/create/x');
    expect([refused.status, message(refused), refused.headers['accept']]).toEqual([
      405,
      'Method Not Allowed',
      'POST, PUT',
    ]);
  });

  it.each([
    ['/v1/key/create', 'invalid argument: name is empty'],
    ['/v1/key/create/', 'invalid argument: name is empty'],
    ['/v1/key/create/a%2Fb', 'invalid argument: name contains invalid character'],
    [`/v1/key/create/${'x'.repeat(81)}`, 'invalid argument: name is too long'],
    ['/v1/key/create/%zz', 'invalid argument: the path is not valid'],
  ])('the name in %s', async (path, text) => {
    const refused = await ask('POST', path);
    expect([refused.status, message(refused)]).toEqual([400, text]);
  });

  it.each([
    ['/v1/key/decrypt/by-POST', 'not json', /not valid JSON/],
    ['/v1/key/decrypt/by-POST', '{}', /"ciphertext" is missing/],
    ['/v1/key/encrypt/by-POST', '{"plaintext":"***"}', /"plaintext" is missing or not of its form/],
    ['/v1/key/encrypt/by-POST', '[]', /not of its form/],
    ['/v1/key/bulk/decrypt/by-POST', '{}', /not of its form/],
  ])('%s with the body %s', async (path, body, text) => {
    const refused = await ask('POST', path, body);
    expect(refused.status).toBe(400);
    expect(message(refused)).toMatch(text);
  });

  it('a body of more than 1 MiB', async () => {
    const refused = await ask('POST', '/v1/key/encrypt/by-POST', `{"plaintext":"${'A'.repeat(1024 * 1024)}"}`);
    expect(refused.status).toBe(413);
  });

  it('a caller without certificate', async () => {
    const refused = await ask('GET', '/v1/status', undefined, null);
    expect([refused.status, message(refused)]).toEqual([400, 'insecure connection: no client certificate is present']);
    expect(events.at(-1)).toMatchObject({ request: { path: '/v1/status' }, response: { code: 400 } });
    expect(events.at(-1)?.request).not.toHaveProperty('identity');
  });

  it('a caller whose policy does not allow the call', async () => {
    const refused = await ask('POST', '/v1/key/create/x', undefined, reader);
    expect([refused.status, message(refused)]).toEqual([403, 'not authorized: insufficient permissions']);
  });
});

describe('without a certificate anyone may ask', () => {
  it('for the version', async () => {
    expect((await ask('GET', '/version', undefined, null)).status).toBe(200);
  });

  it('for readiness where the configuration opens it, which is that of the key store', async () => {
    expect((await ask('GET', '/v1/ready', undefined, null)).status).toBe(200);
    store.failure = new KeyStoreError('unreachable', 'no answer');
    const unreachable = await ask('GET', '/v1/ready', undefined, null);
    expect([unreachable.status, message(unreachable)]).toEqual([504, 'key store is not reachable']);
    store.failure = new KeyStoreError('unavailable', 'broken');
    const unavailable = await ask('GET', '/v1/ready', undefined, null);
    expect([unavailable.status, message(unavailable)]).toEqual([502, 'key store is unavailable']);
    expect(JSON.parse((await ask('GET', '/v1/status')).text)).toMatchObject({ keystore_unavailable: true });
    store.failure = undefined;
  });
});

describe('a key store that fails', () => {
  it.each([
    ['POST', '/v1/key/create/new', 'bad gateway: failed to create key'],
    ['GET', '/v1/key/describe/unread', 'bad gateway: failed to access key'],
    ['DELETE', '/v1/key/delete/by-POST', 'bad gateway: failed to delete key'],
    ['GET', '/v1/key/list/*', 'bad gateway: failed to list keys'],
  ])('answers %s %s with 502', async (method, path, text) => {
    store.failure = new KeyStoreError('unavailable', 'disk /secret/path is broken');
    try {
      const refused = await ask(method, path);
      expect([refused.status, message(refused)]).toEqual([502, text]);
    } finally {
      store.failure = undefined;
    }
  });
});
