import { describe, expect, it } from 'vitest';
import { formatUntil } from './time.ts';

const now = Date.UTC(2026, 0, 1);

describe('formatUntil', () => {
  it.each([
    [-1, 'now'],
    [30_000, 'in less than a minute'],
    [60_000, 'in 1 minute'],
    [59 * 60_000, 'in 59 minutes'],
    [12 * 3_600_000 - 1, 'in 11 hours'],
    [49 * 3_600_000, 'in 2 days'],
  ])('says of %d ms ahead: %s', (ms, text) => {
    expect(formatUntil(new Date(now + ms).toISOString(), now)).toBe(text);
  });
});
