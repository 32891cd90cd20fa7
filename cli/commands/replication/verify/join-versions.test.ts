import { expect, it } from 'vitest';
import type { VersionEntry } from '../../../../protocol/s3/responses.ts';
import { joinVersions, plainId } from './join-versions.ts';

function version(key: string, versionId: string, time: number): VersionEntry {
  const lastModified = new Date(time);
  return { key, versionId, lastModified, latest: false, deleteMarker: false, size: 1, etag: 'e', storageClass: '' };
}

async function joined(source: readonly VersionEntry[][], target: readonly VersionEntry[][]): Promise<string[]> {
  const found: string[] = [];
  for await (const pair of joinVersions(ReadableStream.from(source), ReadableStream.from(target))) {
    const { key, versionId } = pair.source ?? pair.target ?? version('', '', 0);
    found.push(`${key} ${versionId} ${pair.source ? '<' : ''}${pair.target ? '>' : ''}`);
  }
  return found;
}

it('joins versions by key, then from the newest, across pages', async () => {
  const source = [[version('a', '3', 30), version('a', '1', 10)], [version('b', '1', 5)], [version('ä', '9', 1)]];
  const target = [[version('a', '2', 20)], [version('a', '1', 10), version('c', '1', 5), version('ä', '9', 1)]];
  expect(await joined(source, target)).toEqual(['a 3 <', 'a 2 >', 'a 1 <>', 'b 1 <', 'c 1 >', 'ä 9 <>']);
});

it('takes a UUID for the same 32 digits', async () => {
  const id = '0123456789abcdef0123456789abcdef';
  expect(plainId('01234567-89ab-cdef-0123-456789abcdef')).toBe(id);
  expect(plainId('null')).toBe('null');
  const there = version('a', '01234567-89ab-cdef-0123-456789abcdef', 1);
  expect(await joined([[version('a', id, 1)]], [[there]])).toEqual([`a ${id} <>`]);
});
