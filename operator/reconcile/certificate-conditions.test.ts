import { describe, expect, it } from 'vitest';
import { issueCertificate, makeCa } from '../../platform/tls/issue-certificate.ts';
import type { Secret } from '../contract/secret.ts';
import type { CertificateNeed } from '../contract/workload.ts';
import { certificatesOf, recheckMs, tlsCondition } from './certificate-conditions.ts';

const day = 86_400_000;
const now = new Date('2026-01-01T00:00:00Z');
const need: CertificateNeed = {
  name: 'demo-server-tls',
  owner: { kind: 'Tenant', name: 'demo' },
  commonName: 'demo',
  authority: 'demo',
  usages: ['server'],
  validFor: [],
  alsoValidFor: [],
};
const issued = (days: number) =>
  new Map([[need.name, { identity: 'i', notAfter: new Date(now.getTime() + days * day) }]]);

async function brought(days: number) {
  const { certPem } = await makeCa({ commonName: 'demo', validForMs: days * day, now });
  return { name: 'own', data: { 'tls.crt': certPem } };
}

const conditionOf = (secret: Secret) => tlsCondition([], certificatesOf([], new Map(), [secret]), now, [secret]);

describe('certificates', () => {
  it('that are valid make TLSReady', () => {
    expect(tlsCondition([need], certificatesOf([need], issued(30), []), now)).toMatchObject({ status: 'True' });
  });
  it('that are not made yet leave it Unknown', () => {
    expect(tlsCondition([need], certificatesOf([need], new Map(), []), now)).toMatchObject({
      status: 'Unknown',
      reason: 'CertificateMissing',
    });
  });
  it('that expired make it False', () => {
    expect(tlsCondition([need], certificatesOf([need], issued(-1), []), now)).toMatchObject({
      status: 'False',
      reason: 'CertificateExpired',
    });
  });
  it('of a person are told of two weeks before they expire, by their date', async () => {
    const certificates = certificatesOf([], new Map(), [await brought(13)]);
    expect(tlsCondition([], certificates, now)).toMatchObject({ status: 'True', reason: 'CertificateExpiresSoon' });
    expect(tlsCondition([], certificates, now)?.message).toContain(certificates[0]?.notAfter);
  });
  it('of a person without their key make it False, and are told before anything of their dates', async () => {
    const [one, other] = await Promise.all(
      ['one', 'other'].map((commonName) => issueCertificate({ commonName, validForMs: day, now })),
    );
    const good = { name: 'own', data: { 'tls.crt': one?.certPem, 'tls.key': one?.keyPem } };
    const bad = { name: 'own', data: { 'tls.crt': one?.certPem, 'tls.key': other?.keyPem } };
    expect(conditionOf(good as unknown as Secret)).toMatchObject({ status: 'True' });
    expect(conditionOf(bad as unknown as Secret)).toMatchObject({
      status: 'False',
      reason: 'CertificateUnusable',
      message: expect.stringContaining('tls.key of the Secret own') as string,
    });
  });
  it('that the operator renews are not', () => {
    expect(tlsCondition([need], certificatesOf([need], issued(13), []), now)).toMatchObject({ reason: 'Ready' });
  });
  it('are no condition where there are none', () => {
    expect(tlsCondition([], [], now)).toBeUndefined();
  });
  it('that cannot be read are left out: the renderer tells', () => {
    expect(certificatesOf([], new Map(), [{ name: 'own', data: { 'tls.crt': 'nonsense' } }, undefined])).toEqual([]);
  });
  it.each([
    [30, day / 2],
    [1, day / 6],
    [-1, 30_000],
  ])('with %d days left are looked at again after %d ms', (days, expected) => {
    expect(recheckMs(certificatesOf([need], issued(days), []), now)).toBe(expected);
  });
  it('of a person are looked at again when there is something to tell, and not when they have expired', async () => {
    const left = (days: number) => new Date(now.getTime() - days * day);
    const own = certificatesOf([], new Map(), [await brought(15)]);
    expect(recheckMs(own, now)).toBe(day / 2);
    expect(recheckMs(own, left(-0.75))).toBe(day / 4);
    expect(recheckMs(own, left(-16))).toBeUndefined();
  });
});
