import 'reflect-metadata';
import { webcrypto, X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { distrustOf } from './client-certificate.ts';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const now = Date.UTC(2026, 0, 1);
const [day, anyUsage] = [86_400_000, '2.5.29.37.0'];
const { serverAuth, clientAuth } = x509.ExtendedKeyUsage;

interface Holder {
  readonly name: string;
  readonly keys: webcrypto.CryptoKeyPair;
}

interface Issued {
  readonly to: Holder;
  readonly by: Holder;
  readonly isAuthority?: boolean;
  readonly pathLength?: number;
  readonly uses?: readonly string[];
  readonly keyUses?: x509.KeyUsageFlags;
  readonly critical?: string;
  /** Days from now. */
  readonly from?: number;
  readonly until?: number;
}

async function holder(name: string): Promise<Holder> {
  return { name, keys: await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']) };
}

async function issue(issued: Issued): Promise<X509Certificate> {
  const { to, by, isAuthority = false, pathLength, uses, keyUses, critical, from = -1, until = 1 } = issued;
  const made = await x509.X509CertificateGenerator.create({
    subject: `CN=${to.name}`,
    issuer: `CN=${by.name}`,
    serialNumber: '42',
    notBefore: new Date(now + from * day),
    notAfter: new Date(now + until * day),
    signingAlgorithm: algorithm,
    publicKey: to.keys.publicKey,
    signingKey: by.keys.privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(isAuthority, pathLength, true),
      ...(keyUses === undefined ? [] : [new x509.KeyUsagesExtension(keyUses, true)]),
      ...(uses === undefined ? [] : [new x509.ExtendedKeyUsageExtension([...uses])]),
      ...(critical === undefined ? [] : [new x509.Extension(critical, true, Buffer.from([5, 0]))]),
    ],
  });
  return new X509Certificate(Buffer.from(made.rawData));
}

describe('the certificate of a client', () => {
  let [root, middle, client]: Holder[] = [];
  let authority: X509Certificate;
  beforeAll(async () => {
    x509.cryptoProvider.set(webcrypto);
    [root, middle, client] = await Promise.all([holder('root'), holder('middle'), holder('client')]);
    authority = await issue({ to: root, by: root, isAuthority: true });
  });

  const byRoot = (more: Partial<Issued> = {}) => issue({ to: client!, by: root!, uses: [clientAuth], ...more });
  const byMiddle = () => issue({ to: client!, by: middle!, uses: [anyUsage] });
  const between = (more: Partial<Issued> = {}) => issue({ to: middle!, by: root!, isAuthority: true, ...more });
  const distrust = async (sent: Promise<X509Certificate>[], authorities = [authority]) => {
    const [leaf, ...others] = await Promise.all(sent);
    return distrustOf(leaf!, [leaf!, ...others], authorities, now);
  };

  it('is verified in bounded work where the client sends authorities that issued each other', async () => {
    const stranger = await holder('stranger');
    const others = Array.from({ length: 15 }, async () => issue({ to: stranger, by: stranger, isAuthority: true }));
    const verify = vi.spyOn(X509Certificate.prototype, 'verify');
    try {
      const sent = [issue({ to: client!, by: stranger, uses: [anyUsage] }), ...others];
      expect(await distrust(sent)).toBe('no trusted authority issued it');
      expect(verify.mock.calls.length).toBeLessThanOrEqual(16 * 16);
    } finally {
      verify.mockRestore();
    }
  });

  it.each<[string, Partial<Issued>]>([
    ['for clients', {}],
    ['for every usage', { uses: [anyUsage] }],
    ['without usages', { uses: undefined }],
    ['with a key that signs', { keyUses: x509.KeyUsageFlags.digitalSignature }],
    ['with a key that agrees on another', { keyUses: x509.KeyUsageFlags.keyAgreement }],
  ])('is trusted: %s', async (_, more) => {
    expect(await distrust([byRoot(more)])).toBeUndefined();
  });

  it.each<[string, Partial<Issued>, RegExp]>([
    ['for servers', { uses: [serverAuth] }, /not for clients/],
    [
      'with a key that only encrypts',
      { uses: [anyUsage], keyUses: x509.KeyUsageFlags.keyEncipherment },
      /not for clients/,
    ],
    ['with an unknown critical extension', { uses: [anyUsage], critical: '1.3.6.1.4.1.99999.1' }, /critical extension/],
    ['that has ended', { until: -0.5 }, /has expired/],
    ['that begins later', { from: 0.5 }, /not valid yet/],
  ])('is not trusted: %s', async (_, more, reason) => {
    expect(await distrust([byRoot(more)])).toMatch(reason);
  });

  it('is trusted by an authority that the client sends, and that a trusted one issued', async () => {
    expect(await distrust([byMiddle(), between()])).toBeUndefined();
    expect(await distrust([byMiddle(), between({ uses: [clientAuth] })])).toBeUndefined();
    expect(await distrust([byMiddle()])).toMatch(/no trusted authority/);
  });

  it.each<[string, Partial<Issued>, RegExp]>([
    ['that issues for servers alone', { uses: [serverAuth] }, /not for clients/],
    ['that is none', { isAuthority: false }, /no trusted authority/],
    ['with an unknown critical extension', { critical: '1.3.6.1.4.1.99999.1' }, /critical extension/],
    ['that has ended', { until: -0.5 }, /has expired/],
  ])('is not trusted by an authority between %s', async (_, more, reason) => {
    expect(await distrust([byMiddle(), between(more)])).toMatch(reason);
  });

  it('is not trusted by an authority between where the trusted one may have none below it', async () => {
    const strict = await issue({ to: root!, by: root!, isAuthority: true, pathLength: 0 });
    expect(await distrust([byMiddle(), between()], [strict])).toMatch(/allows 0 authorities below it/);
    expect(await distrust([byRoot()], [strict])).toBeUndefined();
  });

  it.each<[string, Partial<Issued>]>([
    ['has ended', { until: -0.5 }],
    ['begins later', { from: 0.5 }],
    ['issues for servers alone', { uses: [serverAuth] }],
  ])('is not trusted by an authority that %s, and is by one of the same key that does not', async (_, more) => {
    const former = await issue({ to: root!, by: root!, isAuthority: true, ...more });
    expect(await distrust([byRoot()], [former])).toBeDefined();
    expect(await distrust([byRoot()], [former, authority])).toBeUndefined();
  });
});
