import { expect, it } from 'vitest';
import { errorOf } from './target-client.ts';

it('names the clocks of both sides where the target refuses the time of a request', () => {
  const text = '<Error><Code>RequestTimeTooSkewed</Code><Message>Too large.</Message></Error>';
  const headers = { date: 'Tue, 01 Dec 2026 10:00:00 GMT' };
  expect(errorOf({ status: 403, headers, text }).message).toMatch(
    /^Too large\. \(the clock there says 2026-12-01T10:00:00\.000Z, the clock here 20\S+Z\)$/,
  );
});

it('takes the time that the target names before that of its header', () => {
  const text = '<Error><Code>RequestTimeTooSkewed</Code><ServerTime>2026-12-01T11:00:00Z</ServerTime></Error>';
  const headers = { date: 'Tue, 01 Dec 2026 10:00:00 GMT' };
  expect(errorOf({ status: 403, headers, text }).message).toContain('the clock there says 2026-12-01T11:00:00.000Z');
});

it('has the message of the target alone where it refuses for another reason', () => {
  const text = '<Error><Code>AccessDenied</Code><Message>Not here.</Message></Error>';
  const headers = { date: 'Tue, 01 Dec 2026 10:00:00 GMT' };
  expect(errorOf({ status: 403, headers, text })).toEqual({ code: 'AccessDenied', message: 'Not here.' });
});
