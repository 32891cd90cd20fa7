import { describe, expect, it } from 'vitest';
import { splitQuery } from './s3-routes.ts';

describe('splitQuery', () => {
  it.each([
    ['/api/s3/docs', undefined, ''],
    ['/api/s3/docs?versions&prefix=a%2Fb', undefined, 'versions&prefix=a%2Fb'],
    ['/api/s3/docs?key=a%2F..%2Fb+c&tagging', 'a/../b c', 'tagging'],
    ['/api/s3/docs?tagging=&key=%25', '%', 'tagging='],
    ['/api/s3/docs?key-marker=x&versions', undefined, 'key-marker=x&versions'],
    ['/api/s3/docs?key=', undefined, ''],
  ])('splits %s', (target, key, rawQuery) => {
    expect(splitQuery(target)).toEqual({ key, rawQuery });
  });

  it('leaves out the parameters of the console', () => {
    expect(splitQuery('/x?key=a&view=1&versionId=v', ['view']).rawQuery).toBe('versionId=v');
  });

  it.each([
    '?key=a&X-Amz-Signature=1',
    '?x-amz-acl=public-read',
    '?AWSAccessKeyId=me',
    '?key=a&key=b',
    // S3 decodes the names.
    '?key=a&%58-Amz-Signature=1',
    '?X%2DAmz%2DDate=1',
    '?%41WSAccessKeyId=me',
    '?key=a&%6bey=b',
  ])('refuses %s', (query) => {
    expect(() => splitQuery(`/api/s3/docs${query}`)).toThrow();
  });

  it('takes the parameters of the console in any encoding', () => {
    expect(splitQuery('/x?%6bey=a%26b&vie%77=1&tagging', ['view'])).toEqual({ key: 'a&b', rawQuery: 'tagging' });
  });

  it('leaves a name that is no text to S3, which refuses it', () => {
    expect(splitQuery('/x?key=a&%ff=1').rawQuery).toBe('%ff=1');
  });
});
