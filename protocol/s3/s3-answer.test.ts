import { describe, expect, it } from 'vitest';
import { isMarkedAsS3, saysAbsent } from './s3-answer.ts';

const html = { 'content-type': 'text/html', server: 'nginx' };

describe('an answer', () => {
  it.each([
    [{ 'x-amz-request-id': '1' }, true],
    [{ 'x-minio-error-code': 'NoSuchKey' }, true],
    [{ 'content-type': 'application/xml; charset=utf-8' }, true],
    [{}, false],
    [html, false],
    [{ 'content-type': 'text/plain; charset=utf-8' }, false],
  ])('with %j is that of an S3: %s', (headers, expected) => {
    expect(isMarkedAsS3(headers)).toBe(expected);
  });

  it.each([
    [404, 'NoSuchKey', {}, true],
    [404, 'NoSuchVersion', {}, true],
    [404, 'NoSuchBucket', { 'x-amz-request-id': '1' }, false],
    [404, undefined, { 'x-amz-request-id': '1' }, true],
    [404, undefined, html, false],
    [404, undefined, {}, false],
    [403, undefined, { 'x-amz-request-id': '1' }, false],
  ])('of %i %s with %j says that there is no object: %s', (status, code, headers, expected) => {
    expect(saysAbsent(status, code, headers)).toBe(expected);
  });
});
