import { describe, expect, it } from 'vitest';
import { findOperation, routes } from './routes.ts';
import { parseQuery } from './request.ts';
import { signedParameters } from '../../protocol/sigv2/verify-signature-v2.ts';
import { modelOperations } from '../../test/support/s3-api/s3-model.ts';

describe('findOperation', () => {
  it.each([
    ['GET', 'service', '', false, 'ListBuckets'],
    ['GET', 'bucket', 'prefix=a&marker=', false, 'ListObjects'],
    ['GET', 'bucket', 'list-type=2&prefix=', false, 'ListObjectsV2'],
    ['GET', 'object', 'versionId=null&x-id=GetObject', false, 'GetObject'],
    ['GET', 'object', 'partNumber=1', false, 'GetObject'],
    ['POST', 'bucket', '', false, 'PostObject'],
    ['PUT', 'object', '', true, 'CopyObject'],
    ['PUT', 'object', 'partNumber=1&uploadId=u', false, 'UploadPart'],
    ['PUT', 'object', 'partNumber=1&uploadId=u', true, 'UploadPartCopy'],
    ['GET', 'object', 'utm_source=mail', false, 'GetObject'],
    ['GET', 'object', '', true, 'GetObject'],
  ] as const)('%s of a %s with "%s" (copy: %s) is %s', (method, level, query, isCopy, name) => {
    expect(findOperation(method, level, parseQuery(query), isCopy).name).toBe(name);
  });

  it.each([
    ['GET', 'object', 'torrent', 'NotImplemented'],
    ['GET', 'object', 'unheard-of', 'NotImplemented'],
    ['GET', 'object', 'acl&tagging', 'NotImplemented'],
    ['DELETE', 'object', 'uploads', 'NotImplemented'],
    ['POST', 'object', '', 'MethodNotAllowed'],
    ['PATCH', 'object', '', 'MethodNotAllowed'],
  ] as const)('%s of a %s with "%s" is %s', (method, level, query, code) => {
    expect(() => findOperation(method, level, parseQuery(query), false)).toThrow(expect.objectContaining({ code }));
  });

  it('takes no subresource of the S3 model for a plain request, whatever its value', () => {
    const chosen = modelOperations().flatMap(({ query }) => query.split('&').map((part) => part.split('=')[0] ?? ''));
    for (const name of new Set(chosen.filter((one) => one !== '' && one !== 'select-type'))) {
      for (const query of [name, `${name}=x`]) {
        expect(findName('PUT', query)).not.toBe('PutObject');
        expect(findName('DELETE', query)).not.toBe('DeleteObject');
      }
    }
  });

  it.each(['bucket', 'object'] as const)('names each subresource of a %s that it refuses', (level) => {
    const names = modelOperations().flatMap(({ query }) => query.split('&').map((part) => part.split('=')[0] ?? ''));
    for (const name of new Set(names.filter((one) => one !== '' && one !== 'select-type' && one !== 'x-id'))) {
      for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'DELETE']) {
        if (routes.some(([one, of, flags]) => one === method && of === level && flags === name)) continue;
        expect(() => findOperation(method, level, parseQuery(name), false)).toThrow(
          expect.objectContaining({ code: 'NotImplemented', message: expect.stringContaining(name) }),
        );
      }
    }
  });

  it('has one row for each method, level and set of subresources, in alphabetical order', () => {
    const rows = routes.map(([method, level, flags]) => `${method} ${level} ${flags}`);
    expect(new Set(rows).size).toBe(rows.length);
    for (const [, , flags] of routes) expect(flags).toBe(flags.split(' ').sort().join(' '));
  });
});

function findName(method: string, query: string): string {
  try {
    return findOperation(method, 'object', parseQuery(query), false).name;
  } catch {
    return 'refused';
  }
}

it('is chosen by parameters that a signature of version 2 covers, so that a URL is good for one operation', () => {
  const flags = new Set(routes.flatMap(([, , names]) => names.split(' ')));
  // The operations of a configuration with an ID refuse version 2.
  for (const name of ['', 'copy', 'list-type', 'id']) flags.delete(name);
  expect([...flags].filter((name) => !signedParameters.has(name))).toEqual([]);
});
