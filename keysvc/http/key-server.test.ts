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
import { addVersion } from '../keys/key-versions.ts';
import { seal } from '../keys/seal.ts';
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

const auditEvents = (metrics: string) => /^kes_log_audit_events (\d+)/m.exec(metrics)?.[1];

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
api: { /v1/ready: { skip_auth: true, timeout: 3s } }
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

  it.each([
    ['first', { bytes: Buffer.alloc(32, 1).toString('base64'), algorithm: 'XCHACHA20-POLY1305' }, 'XCHACHA20-POLY1305'],
    ['second', { key: Buffer.alloc(32, 2).toString('base64'), cipher: 'AES256' }, 'AES256-GCM_SHA256'],
  ])('imports a key as the %s generation sends it, once', async (generation, body, algorithm) => {
    const path = `/v1/key/import/imported-${generation}`;
    expect(await ask('POST', path, JSON.stringify(body))).toMatchObject({ status: 200, text: '' });
    const described = await ask('GET', `/v1/key/describe/imported-${generation}`);
    expect(JSON.parse(described.text)).toMatchObject({ algorithm, created_by: identityOfCertificate(root.certPem) });
    const again = await ask('PUT', path, JSON.stringify(body));
    expect([again.status, message(again)]).toEqual([400, 'key already exists']);
  });

  it('opens with an imported key what was sealed with it elsewhere', async () => {
    await ask(
      'PUT',
      '/v1/key/import/zero',
      JSON.stringify({ key: Buffer.alloc(32).toString('base64'), cipher: 'AES256' }),
    );
    const ciphertext =
      'lbFBRVMyNTYtR0NNX1NIQTI1NtkgNjY2ODdhYWRmODYyYmQ3NzZjOGZjMThiOGU5ZjhlMjDEEExv7LAd4oz0SaHZrX5LBufEDEKME1ow1CDfUFrqv8QgJuy7Sw+jVqz99TK1HV851LT3K4mwwDv46TB2ngWkAJQ=';
    const opened = await ask('POST', '/v1/key/decrypt/zero', JSON.stringify({ ciphertext }));
    expect(JSON.parse(opened.text)).toEqual({ plaintext: Buffer.alloc(16).toString('base64') });
  });

  it('rotates a key: what an older version sealed stays readable', async () => {
    await ask('POST', '/v1/key/create/rotated');
    const sealed = async () =>
      JSON.parse((await ask('POST', '/v1/key/encrypt/rotated', '{"plaintext":"c2VjcmV0"}')).text) as {
        ciphertext: string;
        version: string;
      };
    const before = await sealed();
    const { version } = JSON.parse((await ask('POST', '/v1/key/rotate/rotated')).text) as { version: string };
    const after = await sealed();
    expect([after.version, before.version === version]).toEqual([version, false]);
    for (const { ciphertext } of [before, after]) {
      const opened = await ask('POST', '/v1/key/decrypt/rotated', JSON.stringify({ ciphertext }));
      expect(JSON.parse(opened.text)).toEqual({ plaintext: 'c2VjcmV0' });
    }
    const described = JSON.parse((await ask('GET', '/v1/key/describe/rotated')).text) as object;
    expect(described).toMatchObject({ id: version, versions: [before.version, version] });
    expect(message(await ask('POST', '/v1/key/rotate/none'))).toBe('key does not exist');
    expect((await ask('POST', `/v1/key/rotate/${'x'.repeat(76)}`)).status).toBe(400);
  });

  it('opens what a version sealed that another key server added meanwhile', async () => {
    await ask('POST', '/v1/key/create/elsewhere');
    await ask('GET', '/v1/key/describe/elsewhere');
    const { newest } = await addVersion(store, 'elsewhere', new Date(), undefined);
    const ciphertext = seal(newest, Buffer.from('secret'), Buffer.alloc(0)).toString('base64');
    const opened = await ask('POST', '/v1/key/decrypt/elsewhere', JSON.stringify({ ciphertext }));
    expect(JSON.parse(opened.text)).toEqual({ plaintext: 'c2VjcmV0' });
  });

  it.each([
    [{ bytes: 'AAAA', algorithm: 'AES256-GCM_SHA256' }, 400, 'invalid key size'],
    [{ key: 'AAAA', cipher: 'AES256' }, 406, "invalid key size for 'AES256'"],
    [{ key: 'AAAA', cipher: 'DES' }, 406, "algorithm 'DES' is not supported"],
    [{ key: 'AAAA', cipher: 'constructor' }, 406, "algorithm 'constructor' is not supported"],
  ])('refuses to import %j', async (body, status, text) => {
    const refused = await ask('POST', '/v1/key/import/refused', JSON.stringify(body));
    expect([refused.status, message(refused)]).toEqual([status, text]);
  });

  it('computes the same HMAC for the same message, by a key that the 2023 releases did not have', async () => {
    await ask('POST', '/v1/key/create/hmac');
    const hmac = async (text: string) =>
      JSON.parse(
        (await ask('PUT', '/v1/key/hmac/hmac', JSON.stringify({ message: Buffer.from(text).toString('base64') }))).text,
      ) as { hmac: string };
    expect(await hmac('a')).toEqual(await hmac('a'));
    expect(await hmac('a')).not.toEqual(await hmac('b'));
    expect(Buffer.from((await hmac('a')).hmac, 'base64')).toHaveLength(32);
    await store.create('old', Buffer.from(JSON.stringify({ bytes: Buffer.alloc(32).toString('base64') })));
    const refused = await ask('PUT', '/v1/key/hmac/old', '{"message":""}');
    expect([refused.status, message(refused)]).toEqual([409, 'key does not support HMAC']);
  });

  it('tells policies and identities of the configuration', async () => {
    const [rootIdentity, readerIdentity] = [identityOfCertificate(root.certPem), identityOfCertificate(reader.certPem)];
    const made = { created_at: expect.any(String), created_by: rootIdentity };
    const told = async (path: string) => JSON.parse((await ask('GET', path)).text) as unknown;
    expect(await told('/v1/policy/describe/reader')).toEqual({ name: 'reader', ...made });
    expect(await told('/v1/policy/read/reader')).toEqual({
      name: 'reader',
      allow: ['/v1/key/list/*'],
      deny: ['/v1/key/list/hidden*'],
      ...made,
    });
    expect(await told('/v1/policy/list/read*')).toEqual({ name: 'reader', ...made });
    expect((await ask('GET', '/v1/policy/list/none*')).text).toBe('');
    expect(await told(`/v1/identity/describe/${readerIdentity}`)).toEqual({ admin: false, policy: 'reader', ...made });
    expect(await told(`/v1/identity/describe/${rootIdentity}`)).toEqual({ admin: true, policy: '', ...made });
    const listed = (await ask('GET', '/v1/identity/list/*')).text.trim().split('\n');
    expect(listed.map((line) => (JSON.parse(line) as { identity: string }).identity)).toEqual(
      [rootIdentity, readerIdentity].sort(),
    );
    expect(message(await ask('GET', '/v1/policy/read/none'))).toBe('policy does not exist');
    expect(message(await ask('GET', `/v1/identity/describe/${'0'.repeat(64)}`))).toBe('identity does not exist');
  });

  it('is not changed by calls: what writes policies or identities is not implemented', async () => {
    for (const path of ['/v1/policy/write/x', '/v1/policy/assign/x', '/v1/secret/create/x', '/v1/enclave/create/x']) {
      expect((await ask('POST', path, '{}')).status).toBe(501);
    }
  });

  it('describes every call', async () => {
    const apis = JSON.parse((await ask('GET', '/v1/api')).text) as object[];
    expect(apis).toContainEqual({
      method: 'POST',
      path: '/v1/key/import/',
      max_body: 1024 * 1024,
      timeout: 15,
      verify_auth: true,
    });
    expect(apis).toContainEqual(expect.objectContaining({ path: '/v1/log/audit', timeout: 0 }));
    expect(apis).toContainEqual(expect.objectContaining({ path: '/v1/ready', timeout: 3, verify_auth: false }));
  });

  it('counts calls by their outcome, and not those that ask for the counts', async () => {
    await ask('GET', '/v1/key/describe/counted');
    const counts = async () => {
      const answered = await ask('GET', '/v1/metrics');
      expect(answered.headers['content-type']).toMatch(/^text\/plain/);
      return answered.text;
    };
    const before = await counts();
    expect(before).toMatch(/^kes_http_request_error\{code="404"\} [1-9]/m);
    for (const name of ['kes_http_request_active', 'kes_log_audit_events', 'kes_system_up_time', 'kes_system_num_cpu'])
      expect(before.match(new RegExp(`^${name} \\d`, 'gm'))).toHaveLength(1);
    expect(before).toMatch(/^kes_http_response_time_bucket\{le="0\.25"\} /m);
    expect(auditEvents(await counts())).toBe(auditEvents(before));
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
