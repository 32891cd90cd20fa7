import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { importPrivateKey, type CertificateAndKey } from '../../platform/tls/certificate-and-key.ts';
import { issueCertificate, makeCa } from '../../platform/tls/issue-certificate.ts';
import { createLogger } from '../../platform/output/logger.ts';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import type { AuditEvent } from '../calls/event-logs.ts';
import {
  messageOf,
  ask,
  issueBy,
  startTestKeyService,
  type TestKeyService,
} from '../../test/support/keysvc/test-key-service.ts';

const hour = 3_600_000;
let keys: TestKeyService;
let root: CertificateAndKey;
let lines: Record<string, unknown>[] = [];
let events: AuditEvent[] = [];

beforeAll(async () => {
  const stream = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  keys = await startTestKeyService(
    async (ca) => {
      root = await issueBy(ca, 'root');
      return `root: ${identityOfCertificate(root.certPem)}`;
    },
    { tls: 'auth: on', log: createLogger({ name: 'test', stream }) },
  );
  keys.service.audit.on('event', (event) => events.push(event));
});
beforeEach(() => {
  lines = [];
  events = [];
});
afterAll(() => keys.stop());

const refusals: readonly [string, RegExp, () => Promise<CertificateAndKey>][] = [
  [
    'that has expired',
    /^not authorized: the client certificate has expired: it was valid until 20/,
    () =>
      issueCertificate({ commonName: 'app', issuer: keys.ca, validForMs: hour, now: new Date(Date.now() - 2 * hour) }),
  ],
  [
    'that is for servers',
    /is not for clients: its extended key usage lacks client authentication/,
    () => issueCertificate({ commonName: 'app', issuer: keys.ca, validForMs: hour, usages: ['server'] }),
  ],
  [
    'of another authority',
    /no trusted authority issued the client certificate/,
    async () =>
      issueCertificate({
        commonName: 'app',
        issuer: await makeCa({ commonName: 'other', validForMs: hour }),
        validForMs: hour,
      }),
  ],
  [
    'that signed itself',
    /no trusted authority issued the client certificate: name its authority by tls.ca .*--auth=off/,
    () => issueCertificate({ commonName: 'app', validForMs: hour }),
  ],
  [
    'with a critical extension that OpenSSL does not know',
    /has a critical extension that OpenSSL does not know/,
    () => issueWithUnknownExtension(keys.ca),
  ],
];

/** A certificate with a critical extension that nobody knows. */
async function issueWithUnknownExtension(issuer: CertificateAndKey): Promise<CertificateAndKey> {
  const { keyPem } = await issueCertificate({ commonName: 'app', issuer, validForMs: hour });
  const [own, authority] = [importPrivateKey(keyPem), importPrivateKey(issuer.keyPem)];
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [{ CN: ['app'] }],
    issuer: new x509.X509Certificate(issuer.certPem).subject,
    serialNumber: '42',
    notBefore: new Date(Date.now() - hour),
    notAfter: new Date(Date.now() + hour),
    signingAlgorithm: authority.signingAlgorithm,
    publicKey: own.keys.publicKey,
    signingKey: authority.keys.privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
      new x509.Extension('1.3.6.1.4.1.99999.1', true, Buffer.from([5, 0])),
    ],
  });
  return { certPem: certificate.toString('pem'), keyPem };
}

describe('a certificate without a subject', () => {
  const forms: readonly [string, () => Promise<CertificateAndKey>][] = [
    [
      'that has expired',
      () =>
        issueCertificate({ commonName: '', issuer: keys.ca, validForMs: hour, now: new Date(Date.now() - 2 * hour) }),
    ],
    ['that signed itself', () => issueCertificate({ commonName: '', validForMs: hour })],
    [
      'with a name of a workload',
      async () =>
        issueCertificate({
          commonName: '',
          dnsNames: ['app.internal'],
          issuer: await makeCa({ commonName: 'other', validForMs: hour }),
          validForMs: hour,
        }),
    ],
  ];

  it.each(forms)('%s is refused with an answer, a log line and an audit line', async (_, issue) => {
    const who = await issue();
    const identity = identityOfCertificate(who.certPem);
    const rejected = await ask(keys.service, 'GET', '/v1/status', { who });
    expect([rejected.status, messageOf(rejected)]).toEqual([403, expect.stringMatching(/^not authorized: /)]);
    expect(lines).toMatchObject([
      { identity, subject: expect.stringMatching(/^(DNS:app.internal|no subject)/) as string },
    ]);
    expect(events).toMatchObject([{ request: { path: '/v1/status', identity }, response: { code: 403 } }]);
  });

  it('that is trusted is known by its key', async () => {
    const who = await issueCertificate({ commonName: '', issuer: keys.ca, validForMs: hour });
    expect(messageOf(await ask(keys.service, 'GET', '/v1/status', { who }))).toBe(
      'not authorized: insufficient permissions',
    );
  });
});

const asked = async (request: Partial<Parameters<typeof issueCertificate>[0]>) =>
  messageOf(
    await ask(keys.service, 'GET', '/v1/status', {
      who: await issueCertificate({
        commonName: 'app',
        issuer: keys.ca,
        validForMs: hour,
        usages: ['any'],
        ...request,
      }),
    }),
  );

describe('a certificate for any usage', () => {
  const permissions = 'not authorized: insufficient permissions';
  it('is one for clients', async () => {
    expect(await asked({})).toBe(permissions);
  });

  it('is refused as any other one', async () => {
    expect(await asked({ now: new Date(Date.now() - 2 * hour) })).toMatch(/has expired/);
    expect(await asked({ issuer: await makeCa({ commonName: 'test ca', validForMs: hour }) })).toMatch(
      /no trusted|wrong/,
    );
  });
});

describe('the certificate of another client behind that of an authority', () => {
  it.each(['on', 'off'])('proves nothing, since the client has the key of the first alone: auth %s', async (auth) => {
    let victim: CertificateAndKey | undefined;
    const service = await startTestKeyService(
      async (ca) => {
        victim = await issueBy(ca, 'root');
        return `root: ${identityOfCertificate(victim.certPem)}`;
      },
      { tls: `auth: ${auth}` },
    );
    try {
      const own = await makeCa({ commonName: 'attacker', validForMs: hour });
      const forged = { keyPem: own.keyPem, certPem: `${own.certPem}${victim?.certPem ?? ''}` };
      const rejected = await ask(service.service, 'GET', '/v1/status', { who: forged });
      expect([rejected.status, messageOf(rejected)]).toEqual([
        400,
        'insecure connection: no client certificate is present',
      ]);
    } finally {
      await service.stop();
    }
  });
});

describe('with auth on', () => {
  it.each(refusals)('a certificate %s is told to its client, the log and the audit', async (_, message, issue) => {
    const who = await issue();
    const identity = identityOfCertificate(who.certPem);
    const rejected = await ask(keys.service, 'GET', '/v1/status', { who });
    expect(rejected.status).toBe(403);
    expect(rejected.headers.connection).toBe('close');
    expect(messageOf(rejected)).toMatch(message);
    expect(lines).toMatchObject([
      {
        level: 'warn',
        ip: '127.0.0.1',
        subject: 'CN=app',
        identity,
        validUntil: expect.stringMatching(/^20.*Z$/) as string,
        msg: expect.stringMatching(/^client certificate refused: /) as string,
      },
    ]);
    expect(events).toMatchObject([{ request: { path: '/v1/status', identity }, response: { code: 403 } }]);
  });

  it('no call is answered without a certificate, not even that for the version', async () => {
    const rejected = await ask(keys.service, 'GET', '/version');
    expect([rejected.status, messageOf(rejected)]).toEqual([
      400,
      'insecure connection: no client certificate is present',
    ]);
    expect(events).toHaveLength(1);
    expect((await ask(keys.service, 'GET', '/version', { who: root })).status).toBe(200);
  });
});
