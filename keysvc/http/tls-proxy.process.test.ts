import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CertificateAndKey } from '../../platform/tls/certificate-and-key.ts';
import { issueCertificate, makeCa } from '../../platform/tls/issue-certificate.ts';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import type { AuditEvent } from '../calls/event-logs.ts';
import {
  ask,
  issueBy,
  startTestKeyService,
  type Answered,
  type TestKeyService,
} from '../../test/support/keysvc/test-key-service.ts';

let keys: TestKeyService;
let app: CertificateAndKey;
let proxy: CertificateAndKey;
const events: AuditEvent[] = [];

beforeAll(async () => {
  const tls: string[] = [];
  keys = await startTestKeyService(
    async (ca) => {
      app = await issueBy(ca, 'app');
      proxy = await issueBy(ca, 'proxy');
      tls.push(identityOfCertificate(proxy.certPem));
      return `
root: disabled
policy: { app: { allow: [/v1/key/create/*], identities: [${identityOfCertificate(app.certPem)}] } }`;
    },
    {
      get tls() {
        return `proxy: { identities: [${tls.join('')}] }`;
      },
    },
  );
  keys.service.audit.on('event', (event) => events.push(event));
});
afterAll(() => keys.stop());

const escaped = (...pairs: readonly CertificateAndKey[]) =>
  encodeURIComponent(pairs.map(({ certPem }) => certPem).join(''));

let created = 0;
const create = (who: CertificateAndKey, headers: Record<string, string> = {}): Promise<Answered> =>
  ask(keys.service, 'POST', `/v1/key/create/by-proxy-${created++}`, { who, headers });

describe('behind a trusted TLS proxy', () => {
  it('a client is known by the certificate that the proxy forwards', async () => {
    const forwarded = { 'x-tls-client-cert': escaped(app), 'x-forwarded-for': '203.0.113.9, 192.0.2.7' };
    expect((await create(proxy, forwarded)).status).toBe(200);
    expect(events.at(-1)?.request).toMatchObject({
      identity: identityOfCertificate(app.certPem),
      // The address that the client wrote into the header comes first and is ignored.
      ip: '192.0.2.7',
    });
  });

  it('a client whom no policy names is refused', async () => {
    const stranger = await issueBy(keys.ca, 'stranger');
    expect((await create(proxy, { 'x-tls-client-cert': escaped(stranger) })).status).toBe(403);
  });

  it.each([
    ['that has expired', /has expired/, () => ({ issuer: keys.ca, now: new Date(Date.now() - 7_200_000) })],
    ['of another authority', /no trusted authority/, () => ({})],
  ])('a certificate without a subject %s is refused with an answer and an audit line', async (_, message, more) => {
    const forwarded = await issueCertificate({
      commonName: '',
      validForMs: 3_600_000,
      ...more(),
    });
    const rejected = await create(proxy, { 'x-tls-client-cert': escaped(forwarded) });
    expect(rejected.status).toBe(403);
    expect(rejected.text).toMatch(message);
    expect(events.at(-1)?.request).toMatchObject({ identity: identityOfCertificate(forwarded.certPem) });
  });

  it('a certificate of another authority is refused, though the proxy forwards it', async () => {
    const otherCa = await makeCa({ commonName: 'test ca', validForMs: 3_600_000 });
    const forged = await issueCertificate({
      commonName: 'app',
      issuer: otherCa,
      validForMs: 3_600_000,
      keyPem: app.keyPem,
    });
    expect((await create(proxy, { 'x-tls-client-cert': escaped(forged) })).status).toBe(403);
    expect((await create(proxy, { 'x-tls-client-cert': escaped(forged, otherCa) })).status).toBe(403);
  });

  it.each([
    ['that has expired', { now: new Date(Date.now() - 7_200_000) }],
    ['for servers alone', { usages: ['server'] as const }],
  ])('a certificate %s is refused', async (_, more) => {
    const pair = await issueCertificate({
      commonName: 'app',
      issuer: keys.ca,
      validForMs: 3_600_000,
      keyPem: app.keyPem,
      ...more,
    });
    expect((await create(proxy, { 'x-tls-client-cert': escaped(pair) })).status).toBe(403);
  });

  it.each([
    ['none', {}],
    ['no certificate', { 'x-tls-client-cert': 'hello' }],
    ['a broken escape', { 'x-tls-client-cert': '%E0%A4%A' }],
  ])('a call with %s in the header is one without certificate', async (_, headers) => {
    const rejected = await create(proxy, headers);
    expect([rejected.status, rejected.text]).toEqual([
      400,
      '{"message":"insecure connection: no client certificate is present"}',
    ]);
  });

  it('two certificates are refused, since the proxy saw the proof of one', async () => {
    const rejected = await create(proxy, { 'x-tls-client-cert': escaped(app, proxy) });
    expect(rejected.text).toContain('too many client certificates are present');
  });

  it('a certificate behind that of an authority is refused, since the proxy saw the proof of the first', async () => {
    const rejected = await create(proxy, { 'x-tls-client-cert': escaped(keys.ca, app) });
    expect(rejected.text).toContain('no client certificate is present');
    expect((await create(proxy, { 'x-tls-client-cert': escaped(app, keys.ca) })).status).toBe(200);
  });
});

describe('a client that is no trusted proxy', () => {
  it('is itself, whatever certificate or address it forwards', async () => {
    const stranger = await issueBy(keys.ca, 'stranger');
    const forged = { 'x-tls-client-cert': escaped(app), 'x-forwarded-for': '192.0.2.7' };
    expect((await create(stranger, forged)).status).toBe(403);
    expect(events.at(-1)?.request).toMatchObject({
      identity: identityOfCertificate(stranger.certPem),
      ip: '127.0.0.1',
    });
  });
});
