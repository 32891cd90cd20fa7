import { describe, expect, it } from 'vitest';
import { certificateTimes, standardCertificateTimes } from './certificate-times.ts';

describe('lives of certificates', () => {
  it('are the standard ones', () => {
    expect(certificateTimes({})).toEqual(standardCertificateTimes);
  });
  it('come from the environment, in seconds', () => {
    expect(certificateTimes({ COFFER_OPERATOR_CERTIFICATE_LIFE_SECONDS: '3600' }).leafLifeMs).toBe(3_600_000);
  });
  it.each<[Record<string, string>, string]>([
    [{ COFFER_OPERATOR_CERTIFICATE_LIFE_SECONDS: 'soon' }, 'is no time in seconds'],
    [{ COFFER_OPERATOR_CERTIFICATE_LIFE_SECONDS: '600' }, 'a third of it must be longer'],
    [{ COFFER_OPERATOR_AUTHORITY_LIFE_SECONDS: '900' }, 'a third of it must be longer'],
  ])('are refused as %j', (environment, message) => {
    expect(() => certificateTimes(environment)).toThrow(message);
  });
});
