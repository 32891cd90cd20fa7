import { describe, expect, it } from 'vitest';
import type { TargetAnswer, TargetRequest } from '../target-client.ts';
import { currentCopy, findInHistory } from './find-copy.ts';

const mark = '0'.repeat(31) + '1';

/** A target that answers by the method, and by the version that is asked for. */
function target(answers: Readonly<Record<string, Partial<TargetAnswer>>>) {
  const asked: string[] = [];
  const send = ({ method, key, query = {} }: TargetRequest) => {
    const name = [method, key, query['versionId']].filter((part) => part !== undefined).join(' ');
    asked.push(name);
    const answer = { status: 404, text: '', ...answers[name] };
    return Promise.resolve({ ...answer, headers: answer.headers ?? { 'x-amz-request-id': '1' } });
  };
  return { asked, send };
}

const refusalOf = (status: number, code: string) => ({ status, text: `<Error><Code>${code}</Code></Error>` });

const version = (key: string, id: string, name = 'Version') =>
  `<${name}><Key>${key}</Key><VersionId>${id}</VersionId><IsLatest>false</IsLatest><LastModified>2026-01-01T00:00:00Z</LastModified>${name === 'Version' ? '<ETag>"e"</ETag><Size>1</Size>' : ''}</${name}>`;
const listing = (...versions: readonly string[]) => ({
  status: 200,
  text: `<ListVersionsResult><IsTruncated>false</IsTruncated>${versions.join('')}</ListVersionsResult>`,
});

describe('the current version at the target', () => {
  it.each<[string, Partial<TargetAnswer>, object]>([
    ['a copy', { status: 200, headers: { 'x-amz-version-id': 'V', 'x-amz-meta-coffer-version-id': mark } }, { mark }],
    ['an object of others', { status: 200, headers: { 'x-amz-version-id': 'V' } }, { mark: undefined }],
    ['a delete marker', { headers: { 'x-amz-delete-marker': 'true' } }, { kind: 'marker' }],
    ['nothing', {}, { kind: 'none' }],
  ])('is %s', async (_what, head, found) => {
    expect(await currentCopy(target({ 'HEAD key': head }), 'key')).toMatchObject(found);
  });

  it.each([
    ['InvalidAccessKeyId', 'unavailable'],
    ['AuthorizationHeaderMalformed', 'unavailable'],
    ['AccessDenied', 'rejected'],
  ])('is not told with %s: the failure is %s', async (code, failure) => {
    const client = target({ 'HEAD key': { status: 403 }, 'GET key': refusalOf(403, code) });
    await expect(currentCopy(client, 'key')).rejects.toMatchObject({
      code: failure,
      message: expect.stringContaining(code),
    });
  });

  it.each([
    [404, {}],
    [404, { 'content-type': 'text/html' }],
    [302, { location: 'https://login.example' }],
  ])('is not told by a proxy: %i %j', async (status, headers) => {
    const proxied = { status, headers, text: '<html></html>' };
    const client = target({ 'HEAD key': proxied, 'GET key': proxied });
    await expect(currentCopy(client, 'key')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is not told by a redirect', async () => {
    const client = target({ 'HEAD key': { status: 301 }, 'GET key': { status: 301 } });
    await expect(currentCopy(client, 'key')).rejects.toMatchObject({ code: 'rejected' });
  });
});

describe('the history of a key at the target', () => {
  it('has a copy below other versions and delete markers', async () => {
    const client = target({
      GET: listing(version('key', 'M', 'DeleteMarker'), version('key', 'A'), version('key', 'B')),
      'HEAD key A': { status: 200 },
      'HEAD key B': { status: 200, headers: { 'x-amz-meta-coffer-version-id': mark } },
    });
    const { copy, hasDeleteMarker } = await findInHistory(client, 'key', { mark });
    expect(copy?.versionId).toBe('B');
    expect(hasDeleteMarker).toBe(true);
  });

  it('ends before another key that begins with the same text', async () => {
    const client = target({ GET: listing(version('key', 'A'), version('key2', 'B')), 'HEAD key A': { status: 200 } });
    expect(await findInHistory(client, 'key', { mark })).toEqual({
      copy: undefined,
      isAmbiguous: false,
      hasDeleteMarker: false,
    });
    expect(client.asked).toEqual(['GET', 'HEAD key A']);
  });

  it.each([
    [['a'], { versionId: 'A', isAmbiguous: false }],
    [['a', 'a'], { versionId: 'A', isAmbiguous: true }],
    [['b', 'a'], { versionId: 'B', isAmbiguous: false }],
    [['b'], { versionId: undefined, isAmbiguous: false }],
  ])('has the copies of a version that takes no mark, by what they are: %j', async (metadata, found) => {
    const ids = ['A', 'B'].slice(0, metadata.length);
    const client = target({
      GET: listing(...ids.map((id) => version('key', id))),
      ...Object.fromEntries(
        ids.map((id, at) => [`HEAD key ${id}`, { status: 200, headers: { 'x-amz-meta-x': metadata[at] } }]),
      ),
    });
    const sought = { mark, isUnmarkedCopy: (headers: TargetAnswer['headers']) => headers['x-amz-meta-x'] === 'a' };
    const { copy, isAmbiguous } = await findInHistory(client, 'key', sought);
    expect({ versionId: copy?.versionId, isAmbiguous }).toEqual(found);
  });
});
