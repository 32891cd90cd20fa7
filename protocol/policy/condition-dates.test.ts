import { describe, expect, it } from 'vitest';
import { both, holds, type Actual } from '../../test/support/policy/policy-cases.ts';

const now = '2026-11-21T20:40:00Z';

/** @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html#Conditions_Date */
describe('date operators', () => {
  it.each<[string, unknown, Actual, boolean]>([
    ['DateEquals', now, now, true],
    ['DateEquals', now, '2026-11-21T20:40:00.000Z', true],
    ['DateEquals', now, '2026-11-21T20:40:00.001Z', false],
    ['DateEquals', now, '2026-11-21T21:40:00+01:00', true],
    ['DateEquals', now, '2026-11-21T15:10:00-05:30', true],
    ['DateEquals', now, '2026-11-21T20:40Z', true],
    ['DateEquals', now, '20261121T204000Z', true],
    ['DateEquals', now, '1795293600', true],
    ['DateEquals', '1795293600', now, true],
    ['DateEquals', 1_795_293_600, now, true],
    ['DateEquals', '1795293600.5', '2026-11-21T20:40:00.5Z', true],
    ['DateEquals', [now, '2020-01-01T00:00:00Z'], '2020-01-01', true],
    ['DateEquals', now, undefined, false],
    // The forms of W3C: a year, a month, a day are their first moment.
    ['DateEquals', '2026', '2026-01-01T00:00:00Z', true],
    ['DateEquals', '2026-11', '2026-11-01T00:00:00Z', true],
    ['DateEquals', '2026-11-21', '2026-11-21T00:00:00Z', true],
    ['DateEquals', '2024-02-29', '2024-02-29T00:00:00Z', true],
    ['DateNotEquals', now, now, false],
    ['DateNotEquals', now, '2026-11-21T20:40:01Z', true],
    ['DateNotEquals', [now, '2020-01-01'], '2020-01-01T00:00:00Z', false],
    ['DateNotEquals', now, undefined, true],
    ['DateLessThan', now, '2026-11-21T20:39:59Z', true],
    ['DateLessThan', now, now, false],
    ['DateLessThan', now, '2026-11-21T20:39:59.999Z', true],
    ['DateLessThan', now, '0', true],
    ['DateLessThan', now, undefined, false],
    ['DateLessThanEquals', now, now, true],
    ['DateLessThanEquals', now, '2026-11-21T20:40:01Z', false],
    ['DateLessThanEquals', now, undefined, false],
    ['DateGreaterThan', now, '2026-11-22', true],
    ['DateGreaterThan', now, now, false],
    ['DateGreaterThan', '2020', '1795293600', true],
    ['DateGreaterThan', now, undefined, false],
    ['DateGreaterThanEquals', now, now, true],
    ['DateGreaterThanEquals', now, '2026-11-21', false],
    ['DateGreaterThanEquals', now, '9999-12-31T23:59:59Z', true],
    ['DateGreaterThanEquals', now, undefined, false],
  ])('%s %j on %j: %s', (operator, expected, actual, outcome) => {
    expect(holds(operator, expected, actual)).toEqual(both(outcome));
  });

  const noDates = [
    'tomorrow',
    '',
    '2026-13-01',
    '2026-02-30',
    '2025-02-29',
    '2026-11-21T25:00:00Z',
    '2026-11-21T20:60:00Z',
    '2026-11-21T20:40:00+15:00',
    '2026-11-21 20:40:00Z',
    '21.11.2026',
    '-1',
    '2026-*',
  ];

  it.each(noDates)('on "%s" of a request never allow, and deny', (actual) => {
    for (const operator of ['DateEquals', 'DateNotEquals', 'DateLessThan', 'DateGreaterThan']) {
      expect(holds(operator, now, actual)).toEqual({ allow: false, deny: true });
    }
  });

  it.each([...noDates, '${aws:CurrentTime}'])('refuse the value "%s"', (value) => {
    expect(() => holds('DateEquals', value, now)).toThrow(expect.objectContaining({ code: 'MalformedPolicy' }));
  });

  it('refuse a time of day without a zone, which could be anybody’s', () => {
    expect(() => holds('DateEquals', '2026-11-21T20:40:00', now)).toThrow(/must be a date/);
  });

  it('refuse milliseconds that were taken for seconds', () => {
    expect(() => holds('DateEquals', '1795293600000', now)).toThrow(/seconds of 1970/);
  });
});
