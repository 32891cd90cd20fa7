import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { operationNames, operationOf } from './operation-names.ts';

/** The calls that the routers of this folder register, from their sources. */
async function registeredCalls(): Promise<readonly string[]> {
  const files = await readdir(import.meta.dirname, { recursive: true });
  const sources = await Promise.all(
    files
      .filter((file) => /(?<!\.test)\.ts$/.test(file))
      .map((file) => readFile(`${import.meta.dirname}/${file}`, 'utf8')),
  );
  return sources
    .flatMap((source) => [...source.matchAll(/router\.(get|post|put|delete|patch|all)\(\s*'(\/[^'{]*)'/g)])
    .map(([, method = '', path = '']) => {
      const below = path.startsWith('/api/') || path === '/oauth_callback' ? path : `/api${path}`;
      return `${method === 'all' ? '*' : method.toUpperCase()} ${below}`;
    });
}

describe('the names of the calls of the console', () => {
  it('has each call of the routers, and no other one', async () => {
    expect([...operationNames.keys()].toSorted()).toEqual([...(await registeredCalls())].toSorted());
  });

  it('has each name once', () => {
    const names = [...operationNames.values()];
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  it.each([
    ['GET', '/api/session', { name: 'ConsoleGetSession' }],
    ['HEAD', '/api/session', { name: 'ConsoleGetSession' }],
    ['GET', '/api/session/', { name: 'ConsoleGetSession' }],
    ['GET', '/api/buckets', { name: 'ConsoleListBuckets' }],
    ['GET', '/api/buckets/photos', { name: 'ConsoleGetBucket', bucket: 'photos' }],
    ['GET', '/api/buckets/rights', { name: 'ConsoleGetBucket', bucket: 'rights' }],
    ['GET', '/api/buckets/photos/rights', { name: 'ConsoleGetBucketRights', bucket: 'photos' }],
    ['GET', '/api/buckets/%zz/rights', { name: 'ConsoleGetBucketRights' }],
    ['PATCH', '/api/s3/photos', { name: 'ConsoleCallS3', bucket: 'photos' }],
    ['GET', '/api/sign-in/DEMO', { name: 'ConsoleStartSignInByProvider' }],
    ['POST', '/api/policy/attach', { name: 'ConsoleAttachPolicy' }],
    ['GET', '/api/admin/coffer/kms/key/rotate', { name: 'ConsoleCallAdmin' }],
    ['GET', '/API/Buckets/Photos/Rights', { name: 'ConsoleGetBucketRights', bucket: 'Photos' }],
    ['GET', '/oauth_callback', { name: 'ConsoleReturnFromProvider' }],
    ['PATCH', '/api/session', { name: 'ConsoleUnknownCall' }],
    ['GET', '/api/no/such/call', { name: 'ConsoleUnknownCall' }],
  ])('names %s %s', (method, path, operation) => {
    expect(operationOf(method, path)).toEqual(operation);
  });
});
