import { createPrivateKey, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import { issueCertificate, makeCa } from './issue-certificate.ts';

const hour = 3_600_000;

describe.each(['ecdsa-p256', 'ed25519'] as const)('certificates with %s', (algorithm) => {
  it('are issued by an authority for names and addresses', async () => {
    const ca = await makeCa({ commonName: 'test ca', validForMs: 24 * hour, algorithm });
    const leaf = await issueCertificate({
      commonName: 'server',
      dnsNames: ['localhost', 'svc.example'],
      ipAddresses: ['127.0.0.1', '::1'],
      validForMs: hour,
      issuer: ca,
      algorithm,
    });
    const authority = new X509Certificate(ca.certPem);
    const certificate = new X509Certificate(leaf.certPem);
    expect(authority.ca).toBe(true);
    expect(certificate.ca).toBe(false);
    expect(certificate.checkIssued(authority) && certificate.verify(authority.publicKey)).toBe(true);
    expect(certificate.checkHost('svc.example')).toBe('svc.example');
    expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(certificate.checkIP('::1')).toBe('::1');
    expect(certificate.checkPrivateKey(createPrivateKey(leaf.keyPem))).toBe(true);
    expect(leaf.keyPem).toMatch(/^-----BEGIN PRIVATE KEY-----/);
  });

  it('keep their identity when renewed with the same key, and have another with another', async () => {
    const request = { commonName: 'client', validForMs: hour, algorithm };
    const first = await issueCertificate(request);
    const renewed = await issueCertificate({ ...request, keyPem: first.keyPem });
    const other = await issueCertificate(request);
    expect(renewed.certPem).not.toBe(first.certPem);
    expect(identityOfCertificate(renewed.certPem)).toBe(identityOfCertificate(first.certPem));
    expect(identityOfCertificate(other.certPem)).not.toBe(identityOfCertificate(first.certPem));
  });
});

describe('the validity of a certificate', () => {
  const now = new Date('2030-01-01T00:00:00Z');

  it('begins before now, for clocks that differ', async () => {
    const { certPem } = await issueCertificate({ commonName: 'x', validForMs: hour, now });
    const { validFromDate, validToDate } = new X509Certificate(certPem);
    expect(validFromDate).toEqual(new Date('2029-12-31T23:55:00Z'));
    expect(validToDate).toEqual(new Date('2030-01-01T01:00:00Z'));
  });

  it('ends with its issuer at the latest', async () => {
    const issuer = await makeCa({ commonName: 'ca', validForMs: hour, now });
    const { certPem } = await issueCertificate({ commonName: 'x', validForMs: 48 * hour, issuer, now });
    expect(new X509Certificate(certPem).validToDate).toEqual(new Date('2030-01-01T01:00:00Z'));
  });

  it('differs between certificates in its serial number', async () => {
    const serials = await Promise.all(
      [1, 2].map(
        async () => new X509Certificate((await issueCertificate({ commonName: 'x', validForMs: hour })).certPem),
      ),
    );
    expect(serials[0]?.serialNumber).not.toBe(serials[1]?.serialNumber);
  });
});
