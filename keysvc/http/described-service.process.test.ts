import { describe, expect, it } from 'vitest';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import { makeCa } from '../../platform/tls/issue-certificate.ts';
import { messageOf, testKeyServer, issueBy } from '../../test/support/keysvc/test-key-service.ts';

const server = testKeyServer();

const auditEvents = (metrics: string) => /^kes_log_audit_events (\d+)/m.exec(metrics)?.[1];

describe('the key server', () => {
  it('tells policies and identities of the configuration', async () => {
    const [rootIdentity, readerIdentity] = [
      identityOfCertificate(server.root.certPem),
      identityOfCertificate(server.reader.certPem),
    ];
    const made = { created_at: expect.any(String), created_by: rootIdentity };
    const told = async (path: string) => JSON.parse((await server.ask('GET', path)).text) as unknown;
    expect(await told('/v1/policy/describe/reader')).toEqual({ name: 'reader', ...made });
    expect(await told('/v1/policy/read/reader')).toEqual({
      name: 'reader',
      allow: ['/v1/key/list/*'],
      deny: ['/v1/key/list/hidden*'],
      ...made,
    });
    expect(await told('/v1/policy/list/read*')).toEqual({ name: 'reader', ...made });
    expect((await server.ask('GET', '/v1/policy/list/none*')).text).toBe('');
    expect(await told(`/v1/identity/describe/${readerIdentity}`)).toEqual({ admin: false, policy: 'reader', ...made });
    expect(await told(`/v1/identity/describe/${rootIdentity}`)).toEqual({ admin: true, policy: '', ...made });
    const listed = (await server.ask('GET', '/v1/identity/list/*')).text.trim().split('\n');
    expect(listed.map((line) => (JSON.parse(line) as { identity: string }).identity)).toEqual(
      [rootIdentity, readerIdentity].sort(),
    );
    expect(messageOf(await server.ask('GET', '/v1/policy/read/none'))).toBe('policy does not exist');
    expect(messageOf(await server.ask('GET', `/v1/identity/describe/${'0'.repeat(64)}`))).toBe(
      'identity does not exist',
    );
  });

  it('sends no policy to a caller that has none, since the generations disagree on its type', async () => {
    const stranger = await issueBy(await makeCa({ commonName: 'ca', validForMs: 3_600_000 }), 'stranger');
    const self = async (who: typeof stranger) =>
      JSON.parse((await server.ask('GET', '/v1/identity/self/describe', undefined, who)).text) as unknown;
    const created_at: unknown = expect.any(String);
    expect(await self(stranger)).toEqual({ identity: identityOfCertificate(stranger.certPem), created_at });
    expect(await self(server.root)).toEqual({
      identity: identityOfCertificate(server.root.certPem),
      admin: true,
      created_at,
    });
    expect(await self(server.reader)).toMatchObject({ policy_name: 'reader', policy: { allow: ['/v1/key/list/*'] } });
  });

  it('is not changed by calls: what writes policies or identities is not implemented', async () => {
    for (const path of ['/v1/policy/write/x', '/v1/policy/assign/x', '/v1/secret/create/x', '/v1/enclave/create/x']) {
      expect((await server.ask('POST', path, '{}')).status).toBe(501);
    }
  });

  it('describes every call', async () => {
    const apis = JSON.parse((await server.ask('GET', '/v1/api')).text) as object[];
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
    await server.ask('GET', '/v1/key/describe/counted');
    const counts = async () => {
      const answered = await server.ask('GET', '/v1/metrics');
      expect(answered.headers['content-type']).toMatch(/^text\/plain/);
      return answered.text;
    };
    const before = await counts();
    expect(before).toMatch(/^kes_http_request_error\{code="404"\} [1-9]/m);
    for (const name of ['kes_http_request_active', 'kes_log_audit_events', 'kes_system_up_time', 'kes_system_num_cpu'])
      expect(before.match(new RegExp(`^${name} \\d`, 'gm'))).toHaveLength(1);
    expect(before).toMatch(/^keysvc_tls_certificate_expires_seconds \d{10}/m);
    expect(before).toMatch(/^kes_http_response_time_bucket\{le="0\.25"\} /m);
    expect(auditEvents(await counts())).toBe(auditEvents(before));
  });
});
