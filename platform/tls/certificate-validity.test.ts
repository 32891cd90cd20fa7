import { beforeAll, describe, expect, it } from 'vitest';
import { expiresAt, validityError, validityWarning } from './certificate-validity.ts';
import { makeCa } from './issue-certificate.ts';

const day = 86_400_000;
const start = Date.UTC(2026, 0, 1);
let year: Buffer;
let month: Buffer;

const lasting = async (days: number) =>
  Buffer.from((await makeCa({ commonName: 'x', now: new Date(start), validForMs: days * day })).certPem);

beforeAll(async () => {
  [year, month] = await Promise.all([lasting(365), lasting(30)]);
});

describe('the validity of a certificate', () => {
  it('has an end', () => {
    expect(expiresAt(month)).toBe(start + 30 * day);
  });

  it.each([
    [-1, 'is not valid before 2025-12-31T23:55:00.000Z'],
    [0, undefined],
    [364, undefined],
    [366, 'expired at 2027-01-01T00:00:00.000Z'],
  ])('is an error after %i days of a year: %s', (days, error) => {
    expect(validityError(year, start + days * day)).toBe(error);
  });

  it.each([
    [0, undefined],
    [350, undefined],
    [352, 'expires in 13 days, at 2027-01-01T00:00:00.000Z'],
    [364, 'expires in 1 day, at 2027-01-01T00:00:00.000Z'],
    [364.5, 'expires in less than a day, at 2027-01-01T00:00:00.000Z'],
    [366, 'expired at 2027-01-01T00:00:00.000Z'],
  ])('is warned of after %d days of a year: %s', (days, warning) => {
    expect(validityWarning(year, start + days * day)).toBe(warning);
  });

  it('is warned of in the last tenth of a short one', () => {
    expect(validityWarning(month, start + 26 * day)).toBeUndefined();
    expect(validityWarning(month, start + 28 * day)).toMatch(/^expires in 2 days/);
  });
});
