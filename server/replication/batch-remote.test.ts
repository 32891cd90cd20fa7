import { describe, expect, it } from 'vitest';
import { ownVersionId } from './batch-remote.ts';
import { readVersionListing } from './remote-listing.ts';

describe('the id of a fetched version', () => {
  const modified = Date.parse('2026-01-01T00:00:00.123Z');
  const time = modified.toString(16).padStart(12, '0');

  it('is that of a Coffer', () => {
    const id = time + 'ab'.repeat(10);
    expect(ownVersionId({ versionId: id, modified })).toBe(id);
    const uuid = id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    expect(ownVersionId({ versionId: uuid, modified })).toBe(id);
  });

  it('of another server is of its time, the same each time, and another one for each id', () => {
    const one = ownVersionId({ versionId: '0d3b5f9c-1111-4222-8333-444455556666', modified });
    expect(one).toMatch(new RegExp(`^${time}[0-9a-f]{20}$`));
    expect(ownVersionId({ versionId: '0d3b5f9c-1111-4222-8333-444455556666', modified })).toBe(one);
    expect(ownVersionId({ versionId: '0d3b5f9c-1111-4222-8333-444455556667', modified })).not.toBe(one);
  });
});

const version = (key: string, more = '') =>
  `<Version><Key>${key}</Key>${more}<IsLatest>true</IsLatest><LastModified>2026-01-01T00:00:00.123Z</LastModified><ETag>&quot;e&quot;</ETag><Size>5</Size></Version>`;

describe('a listing of another server', () => {
  it('has versions and delete markers in its order', () => {
    const marker =
      '<DeleteMarker><Key>b</Key><VersionId>v</VersionId><IsLatest>false</IsLatest><LastModified>2026-01-01T00:00:00Z</LastModified></DeleteMarker>';
    const text = `<ListVersionsResult>${version('a%20+%C3%BC')}${marker}<IsTruncated>true</IsTruncated><NextKeyMarker>b%2B</NextKeyMarker><NextVersionIdMarker>v</NextVersionIdMarker></ListVersionsResult>`;
    expect(readVersionListing(text)).toEqual({
      versions: [
        {
          key: 'a  ü',
          versionId: 'null',
          isLatest: true,
          deleteMarker: false,
          size: 5,
          modified: Date.parse('2026-01-01T00:00:00.123Z'),
          etag: 'e',
        },
        {
          key: 'b',
          versionId: 'v',
          isLatest: false,
          deleteMarker: true,
          size: 0,
          modified: Date.parse('2026-01-01T00:00:00Z'),
          etag: '',
        },
      ],
      next: { key: 'b+', versionId: 'v' },
    });
  });

  it.each([
    '',
    '<html/>',
    '<ListVersionsResult><Version/></ListVersionsResult>',
    `<ListVersionsResult>${version('%zz')}</ListVersionsResult>`,
  ])('is refused where it is malformed: %s', (text) => {
    expect(() => readVersionListing(text)).toThrow(expect.objectContaining({ code: 'unavailable' }) as Error);
  });
});
