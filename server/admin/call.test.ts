import { describe, expect, it } from 'vitest';
import { adminTest } from '../../test/support/admin/admin.ts';
import { algorithmOf } from '../../protocol/admin/admin-payload.ts';
import { isSecondGeneration, listsNamesAlone } from './call.ts';

describe('the age of a client', () => {
  it.each([
    ['MinIO (linux; amd64) madmin-go/2.0.0 mc/RELEASE.2023-04-12T02-21-51Z', true, true],
    ['MinIO (linux; amd64) madmin-go/1.7.0 mc/RELEASE.2022-11-07T23-47-39Z', true, true],
    ['MinIO (linux; amd64) madmin-go/2.0.0 mc/RELEASE.2023-06-15T15-08-26Z', true, false],
    ['MinIO (linux; amd64) madmin-go/2.0.0', true, false],
    ['MinIO (linux; amd64) madmin-go/3.0.70 mc/RELEASE.2025-03-12T17-29-24Z', false, false],
    ['coffer', false, false],
    [undefined, false, false],
  ])('of %s is told by its user agent', (userAgent, second, names) => {
    expect([isSecondGeneration(userAgent), listsNamesAlone(userAgent)]).toEqual([second, names]);
  });
});

describe('an encrypted answer', () => {
  it.each(['argon2id-aes', 'argon2id-chacha', 'pbkdf2-aes'] as const)(
    'has the algorithm of the body (%s), whatever else the client says',
    async (algorithm) => {
      const test = await adminTest();
      const sent = { sealed: { name: 'made' }, algorithm, answerAlgorithm: 'argon2id-aes' };
      const { status, bytes } = await test.call('root', 'PUT', 'add-service-account', sent);
      expect([status, algorithmOf(bytes)]).toEqual([200, algorithm]);
    },
  );

  it.each([
    ['pbkdf2-aes', 'pbkdf2-aes'],
    ['of-tomorrow', 'argon2id-aes'],
    ['', 'argon2id-aes'],
  ])(
    'to a request without a body has the one that the client names (%j), or that every client reads',
    async (name, algorithm) => {
      const test = await adminTest();
      const { bytes } = await test.call('root', 'GET', 'list-users', { answerAlgorithm: name });
      expect(algorithmOf(bytes)).toBe(algorithm);
    },
  );
});

// A client would believe that it holds: with `expires` for `expiration`, an access key would never expire.
describe('a field that is not known', () => {
  it.each([
    ['PUT', 'add-user?accessKey=carl', 'sealed'],
    ['PUT', 'update-group-members', 'plain'],
    ['PUT', 'add-service-account', 'sealed'],
    ['POST', 'update-service-account?accessKey=carls-key', 'sealed'],
    ['POST', 'idp/builtin/policy/attach', 'sealed'],
    ['PUT', 'set-remote-target?bucket=b', 'sealed'],
    ['PUT', 'tier', 'sealed'],
    ['POST', 'tier/COLD', 'sealed'],
    ['PUT', 'site-replication/remove', 'plain'],
    ['POST', '/minio/admin/coffer/v1/explain', 'plain'],
  ])('is refused by %s %s', async (method, path, how) => {
    const test = await adminTest();
    const body = { misspelt: 1 };
    const { status, value } = await test.call(
      'root',
      method,
      path,
      how === 'sealed' ? { sealed: body } : { plain: JSON.stringify(body) },
    );
    expect(JSON.stringify(value)).toContain('Unrecognized key');
    expect(status).toBe(400);
  });
});
