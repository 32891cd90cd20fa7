import { describe, expect, it } from 'vitest';
import { checkAnswer, checkStored, errorOf, isAbsentThere } from './target-client.ts';

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

describe('an answer of a proxy before the target', () => {
  const statuses = [302, 400, 401, 403, 404, 405, 408, 410, 412, 413, 421, 425, 429, 500, 502, 503, 504];
  it.each(statuses)('says nothing about a version: %i', (status) => {
    for (const text of ['<html><body>no</body></html>', '404 page not found', '']) {
      const answer = { status, headers: { 'content-type': 'text/html' }, text };
      expect(isAbsentThere(answer)).toBe(false);
      expect(() => checkAnswer(answer, 'put')).toThrow(expect.objectContaining({ code: 'unavailable' }));
    }
  });

  it('has stored nothing with a page of 200', () => {
    const page = { status: 200, headers: { 'content-type': 'text/html' }, text: '<html></html>' };
    expect(() => checkStored(page, 'put')).toThrow(expect.objectContaining({ code: 'unavailable' }));
    checkStored({ status: 200, headers: { etag: '"1"' }, text: '' }, 'put');
    checkStored({ status: 200, headers: {}, text: '<CopyObjectResult><ETag>"1"</ETag></CopyObjectResult>' }, 'put');
  });
});

it('says by its code or by a header that there is no version', () => {
  const text = '<Error><Code>NoSuchVersion</Code></Error>';
  expect(isAbsentThere({ status: 404, headers: {}, text })).toBe(true);
  expect(isAbsentThere({ status: 404, headers: { 'x-minio-error-code': 'NoSuchKey' }, text: '' })).toBe(true);
  expect(isAbsentThere({ status: 404, headers: { 'x-minio-error-code': 'NoSuchBucket' }, text: '' })).toBe(false);
  expect(isAbsentThere({ status: 404, headers: { 'x-amz-request-id': '1' }, text: '' })).toBe(true);
});
