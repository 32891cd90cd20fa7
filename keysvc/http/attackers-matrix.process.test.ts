import { request as httpsRequest } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CertificateAndKey } from '../../platform/tls/certificate-and-key.ts';
import { issueCertificate, makeCa } from '../../platform/tls/issue-certificate.ts';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import { routes, type Route } from '../../protocol/key-service/routes.ts';
import { fullForm } from '../../test/support/full-form.ts';
import { ask, issueBy, startTestKeyService, type TestKeyService } from '../../test/support/keysvc/test-key-service.ts';

const validForMs = 3_600_000;

/** Who asks; the configuration names those with a policy. */
interface Identity {
  readonly name: string;
  readonly make: (ca: CertificateAndKey) => Promise<CertificateAndKey | undefined>;
  /** The policy, of which `ID` is the identity. */
  readonly policy?: string;
}

const everyPath = '[/v1/*, /v1/key/create/*, /v1/key/import/*, /v1/key/generate/*, /v1/key/decrypt/*]';
const issued = (ca: CertificateAndKey) => issueBy(ca, 'app');

const identities: readonly Identity[] = [
  { name: 'no certificate', make: () => Promise.resolve(undefined) },
  { name: 'no policy', make: issued },
  { name: 'other key', make: issued, policy: 'allow: [/v1/key/*/other, /v1/policy/*/other, /v1/identity/*/other]' },
  {
    name: 'other prefix',
    make: issued,
    policy: 'allow: [/v1/key/*/mine-*, /v1/policy/*/mine-*, /v1/identity/*/mine-*]',
  },
  { name: 'a Deny in the policy', make: issued, policy: `allow: ${everyPath}, deny: ['/v1/*']` },
  {
    name: 'an expired certificate',
    make: (issuer) =>
      issueCertificate({ commonName: 'app', issuer, validForMs, now: new Date(Date.now() - 2 * validForMs) }),
    policy: `allow: ${everyPath}`,
  },
  {
    name: 'a certificate of a server',
    make: (issuer) => issueCertificate({ commonName: 'app', issuer, validForMs, usages: ['server'] }),
    policy: `allow: ${everyPath}`,
  },
  {
    name: 'a certificate of an authority',
    make: () => makeCa({ commonName: 'app', validForMs }),
    policy: `allow: ${everyPath}`,
  },
  {
    name: 'a certificate of another authority',
    make: async () =>
      issueCertificate({ commonName: 'app', issuer: await makeCa({ commonName: 'other', validForMs }), validForMs }),
    policy: `allow: ${everyPath}`,
  },
  {
    name: 'a certificate that signed itself',
    make: () => issueCertificate({ commonName: 'app', validForMs }),
    policy: `allow: ${everyPath}`,
  },
];

let keys: TestKeyService;
let root: CertificateAndKey;
const certificates = new Map<string, CertificateAndKey | undefined>();

beforeAll(async () => {
  keys = await startTestKeyService(
    async (ca) => {
      root = await issueBy(ca, 'root');
      const policies: string[] = [];
      for (const [at, { name, make, policy }] of identities.entries()) {
        const certificate = await make(ca);
        certificates.set(name, certificate);
        if (policy === undefined || certificate === undefined) continue;
        policies.push(`  p${at}: { ${policy}, identities: [${identityOfCertificate(certificate.certPem)}] }`);
      }
      const named = `  there: { allow: [/v1/key/list/x], identities: [${'7'.repeat(64)}] }`;
      return [`root: ${identityOfCertificate(root.certPem)}`, 'policy:', named, ...policies].join('\n');
    },
    { tls: 'auth: on' },
  );
  expect((await ask(keys.service, 'POST', '/v1/key/create/there', { who: root })).status).toBe(200);
});
afterAll(() => keys.stop());

/** Sends the head of a request, and none of its body: a service that waits for it gives no answer. */
function answerTo(who: CertificateAndKey | undefined, { maxBody }: Route, method: string, path: string) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const [host = '', port] = keys.service.address.split(':');
  const credentials = who === undefined ? {} : { cert: who.certPem, key: who.keyPem };
  const headers = maxBody > 0 ? { 'content-length': '1000' } : {};
  const options = { host, port, method, path, headers, rejectUnauthorized: false, agent: false, ...credentials };
  const request = httpsRequest(options, (response) => {
    let text = '';
    response.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    response.on('end', () => {
      request.destroy();
      resolve({ status: response.statusCode ?? 0, text });
    });
  });
  // A connection that the handshake refuses got no answer, and told nothing.
  request.on('error', (error: NodeJS.ErrnoException) => {
    if (/ECONNRESET|EPIPE|SSL|TLS/.test(`${error.code} ${error.message}`)) resolve({ status: 0, text: '' });
    else reject(error);
  });
  if (maxBody > 0) request.flushHeaders();
  else request.end();
  return promise;
}

/** Anyone with a connection may learn the version; anyone with a certificate, who it is. A new row that needs no policy fails until it is here. */
const openRows: Readonly<Record<string, Route['access']>> = {
  '/version': 'none',
  '/v1/identity/self/describe': 'certificate',
};

const isOpen = ({ path }: Route, who: CertificateAndKey | undefined) =>
  openRows[path] === 'none' || (openRows[path] === 'certificate' && who !== undefined);

const rows = routes.flatMap((route) => route.methods.map((method) => ({ route, method })));

describe('a caller without the right to a key', () => {
  it('may ask by rows of the table that are listed alone', () => {
    const open = routes.filter(({ access }) => access !== 'policy').map(({ path, access }) => [path, access]);
    expect(Object.fromEntries(open)).toEqual(openRows);
  });

  it.each(identities.map(({ name }, at) => [name, at] as const))(
    'does nothing and is told nothing: %s',
    async (name, at) => {
      const who = certificates.get(name);
      const before = await Array.fromAsync(keys.store.list());
      const found: string[] = [];
      // `npm test` tries a third of the rows with each identity, by turns.
      for (const { route, method } of rows.filter((_, index) => fullForm || (index + at) % 3 === 0)) {
        const pathOf = (key: string) => (route.argument === 'none' ? route.path : `${route.path}/${key}`);
        const there = await answerTo(who, route, method, pathOf('there'));
        const never = await answerTo(who, route, method, pathOf('never'));
        if (there.text.replaceAll('there', 'NAME') !== never.text.replaceAll('never', 'NAME')) {
          found.push(`${method} ${route.path}: told apart ${there.text} and ${never.text}`);
        }
        if (isOpen(route, who)) continue;
        const isRefused = ({ status, text }: typeof there) =>
          [0, 403].includes(status) || (status === 400 && text.includes('no client certificate'));
        if (!isRefused(there) || !isRefused(never)) {
          found.push(`${method} ${route.path}: ${there.status} ${there.text}, ${never.status} ${never.text}`);
        }
      }
      expect(found).toEqual([]);
      expect(await Array.fromAsync(keys.store.list())).toEqual(before);
    },
  );
});
