import { describe, expect, it } from 'vitest';
import type { ObjectInfo } from '../../objects/contract/object-layer.ts';
import { isUnmarkedCopy, markOf, markOfCopy, plainHeaders } from './plain-headers.ts';

const versionId = `${(1_000).toString(16).padStart(12, '0')}${'ab'.repeat(10)}`;

function infoOf(more: Partial<ObjectInfo> = {}): ObjectInfo {
  return { bucket: 'b', key: 'k', size: 1, etag: 'e', lastModified: new Date(1_000), metadata: {}, versionId, ...more };
}

describe('the mark of a copy', () => {
  it('is the id of the version', () => {
    expect(markOfCopy(plainHeaders(infoOf(), undefined))).toBe(versionId);
  });

  it('of the null version has its time, so that it sorts among the others', () => {
    const mark = markOf('null', new Date(999));
    expect(mark < versionId).toBe(true);
    expect(markOfCopy({ 'x-amz-meta-coffer-version-id': mark })).toBe(mark);
  });

  it('replaces one that the object has from elsewhere', () => {
    const headers = plainHeaders(infoOf({ metadata: { 'coffer-version-id': 'other' } }), undefined);
    expect(markOfCopy(headers)).toBe(versionId);
  });

  it('is left out where the metadata leaves no space for it', () => {
    const headers = plainHeaders(infoOf({ metadata: { long: 'x'.repeat(2_000) } }), undefined);
    expect(markOfCopy(headers)).toBeUndefined();
    expect(headers['x-amz-meta-coffer-version-id']).toBeUndefined();
  });
});

describe('a copy of a version that takes no mark', () => {
  const etag = 'a'.repeat(32);
  const info = infoOf({ metadata: { long: 'x'.repeat(2_000), b: 'y' }, size: 5, etag });
  const headers = {
    'content-length': '5',
    etag: `"${etag}"`,
    'x-amz-meta-long': 'x'.repeat(2_000),
    'x-amz-meta-b': 'y',
    'content-type': 'text/plain',
  };

  it('has its size, its metadata and its ETag', () => {
    expect(isUnmarkedCopy(info, headers)).toBe(true);
  });

  it.each([
    ['another size', { 'content-length': '6' }],
    ['another ETag', { etag: `"${'b'.repeat(32)}"` }],
    ['other metadata', { 'x-amz-meta-b': 'z' }],
    ['further metadata', { 'x-amz-meta-c': 'z' }],
  ])('is no object with %s', (_, other) => {
    expect(isUnmarkedCopy(info, { ...headers, ...other })).toBe(false);
  });

  it('is known without the ETag where that is no MD5', () => {
    expect(isUnmarkedCopy(info, { ...headers, etag: '"abc-2"' })).toBe(true);
    const ofKey = { etag: `"${'b'.repeat(32)}"`, 'x-amz-server-side-encryption': 'aws:kms' };
    expect(isUnmarkedCopy(info, { ...headers, ...ofKey })).toBe(true);
  });

  it('is none of a version that takes a mark', () => {
    expect(isUnmarkedCopy({ ...info, metadata: { b: 'y' } }, { 'content-length': '5', 'x-amz-meta-b': 'y' })).toBe(
      false,
    );
  });
});

it('sends nothing that only servers of MinIO know', () => {
  const names = Object.keys(plainHeaders(infoOf({ replication: { status: 'PENDING' }, tags: { k: 'v' } }), undefined));
  expect(names.filter((name) => name.startsWith('x-minio-') || name === 'x-amz-replication-status')).toEqual([]);
});

describe('the retention of a version', () => {
  const lock = { retention: { mode: 'GOVERNANCE', until: new Date(5_000) }, legalHold: true } as const;

  it('is sent while it holds', () => {
    expect(plainHeaders(infoOf({ lock }), undefined, 4_999)).toMatchObject({ 'x-amz-object-lock-mode': 'GOVERNANCE' });
  });

  it('is left out when it has ended, with which AWS would refuse the version', () => {
    const headers = plainHeaders(infoOf({ lock }), undefined, 5_000);
    expect(headers['x-amz-object-lock-mode']).toBeUndefined();
    expect(headers['x-amz-object-lock-legal-hold']).toBe('ON');
  });
});
