import { describe, expect, it } from 'vitest';
import { makeCa } from '../../platform/tls/issue-certificate.ts';
import type { CertificateNeed } from '../runtime/contract/workload.ts';
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
