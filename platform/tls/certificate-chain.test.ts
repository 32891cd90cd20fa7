import { webcrypto } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { chainWarning } from './certificate-chain.ts';
import { readTlsFiles } from './tls-files.ts';

interface Made {
  readonly pem: string;
  readonly name: string;
  readonly keys: Awaited<ReturnType<typeof makeKeys>>;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const makeKeys = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

/** Issues a certificate as public authorities do: with the place of the issuer's, unless it has a private one. */
async function issue(
  name: string,
  issuer: Made | undefined,
  options: { ca?: boolean; place?: boolean } = {},
): Promise<Made> {
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const keys = await makeKeys();
  const certificate = await x509.X509CertificateGenerator.create(
    {
      subject: `CN=${name}`,
      issuer: `CN=${issuer?.name ?? name}`,
      signingAlgorithm: algorithm,
      publicKey: keys.publicKey,
      signingKey: (issuer ?? { keys }).keys.privateKey,
      extensions: [
        new x509.BasicConstraintsExtension(options.ca === true, undefined, true),
        ...(options.place === false
          ? []
          : [new x509.AuthorityInfoAccessExtension({ caIssuers: 'http://ca.test/ca.crt' })]),
      ],
    },
    webcrypto,
  );
  return { pem: certificate.toString('pem'), name, keys };
}

let root: Made;
let upper: Made;
let lower: Made;
let server: Made;
let other: Made;

beforeAll(async () => {
  root = await issue('Root', undefined, { ca: true });
  upper = await issue('Upper', root, { ca: true });
  lower = await issue('Lower', upper, { ca: true });
  server = await issue('server.test', lower);
  other = await issue('Other', root, { ca: true });
});

const warningOf = (...chain: readonly Made[]) => chainWarning(Buffer.from(chain.map(({ pem }) => pem).join('\n')));

describe('the chain of a certificate', () => {
  it('is complete with the root, and without it if the issuer is private', async () => {
    expect(warningOf(server, lower, upper, root)).toBeUndefined();
    expect(warningOf(await issue('private', root, { place: false }))).toBeUndefined();
    expect(warningOf(root)).toBeUndefined();
  });

  it('lacks an intermediate certificate', () => {
    expect(warningOf(server)).toMatch(/^lacks the certificate of its issuer "Lower": .*after that of "server\.test"/);
    expect(warningOf(server, lower)).toMatch(/^lacks the certificate of its issuer "Upper": /);
  });

  it('has the wrong order', () => {
    expect(warningOf(server, upper, lower)).toMatch(
      /^has its certificates in the wrong order: that of "Lower" must come right after that of "server\.test"/,
    );
  });

  it('has a certificate of another chain', () => {
    expect(warningOf(server, other)).toMatch(/"Other" did not issue "server\.test"$/);
  });

  it('that begins with the issuer is refused as that, and not for its key', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'chain-'));
    try {
      const [certFile, keyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
      const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', server.keys.privateKey)).toString('base64');
      await writeFile(keyFile, `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`);
      await writeFile(certFile, `${lower.pem}\n${server.pem}\n`);
      await expect(readTlsFiles({ certFile, keyFile })).rejects.toThrow(
        `the certificates in ${certFile} are in the wrong order: that of the key in ${keyFile} must be the first one`,
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
