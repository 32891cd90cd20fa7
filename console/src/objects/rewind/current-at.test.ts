import { describe, expect, it } from 'vitest';
import type { VersionRow } from '../../api/versions.ts';
import { currentAt, momentOf } from './current-at.ts';

const version = (key: string, minute: number, kind: VersionRow['kind'] = 'version'): VersionRow => ({
  kind,
  key,
  versionId: `${key}-${minute}`,
  isLatest: false,
  lastModified: `2026-01-01T00:0${minute}:00.000Z`,
  size: 1,
  etag: '',
});
const at = (minute: number) => Date.parse(`2026-01-01T00:0${minute}:00.000Z`);
const ids = (versions: readonly VersionRow[]) => versions.map(({ versionId }) => versionId);

describe('the versions that were current at a moment', () => {
  it('are the newest of each key that were not newer', () => {
    const page = [version('a', 5), version('a', 3), version('a', 1), version('b', 4), version('c', 2)];
    expect(ids(currentAt(page, at(3)).versions)).toEqual(['a-3', 'c-2']);
  });

  it('have no key that was deleted then', () => {
    const page = [version('a', 5), version('a', 3, 'marker'), version('a', 1), version('b', 1)];
    expect(ids(currentAt(page, at(4)).versions)).toEqual(['b-1']);
    expect(ids(currentAt(page, at(2)).versions)).toEqual(['a-1', 'b-1']);
  });

  it('are found once where the versions of a key fill several pages', () => {
    const first = currentAt([version('a', 5), version('a', 4)], at(4));
    expect(ids(first.versions)).toEqual(['a-4']);
    expect(ids(currentAt([version('a', 3), version('b', 1)], at(4), first.decided).versions)).toEqual(['b-1']);
    const none = currentAt([version('a', 5)], at(4));
    expect(ids(currentAt([version('a', 3)], at(4), none.decided).versions)).toEqual(['a-3']);
  });
});

it.each([null, '', 'yesterday'])('takes %j for no moment', (text) => expect(momentOf(text)).toBeUndefined());
