import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ListObjects } from '../contract/object-layer.ts';
import { put, testLayer } from '../../../test/support/objects/test-layer.ts';

function bytewise(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** What a listing is, without any cleverness: everything, grouped, after the cursor. */
function model(keys: readonly string[], { prefix, delimiter, after, limit }: Omit<ListObjects, 'bucket'>) {
  const items = new Map<string, 'object' | 'prefix'>();
  for (const key of keys) {
    if (!key.startsWith(prefix)) continue;
    const at = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
    if (at < 0) items.set(key, 'object');
    else items.set(key.slice(0, at + delimiter.length), 'prefix');
  }
  const rest = [...items.keys()].sort(bytewise).filter((name) => bytewise(name, after) > 0);
  const page = rest.slice(0, limit);
  const next = limit > 0 && rest.length > limit ? page[page.length - 1] : undefined;
  return {
    objects: page.filter((name) => items.get(name) === 'object'),
    commonPrefixes: page.filter((name) => items.get(name) === 'prefix'),
    ...(next !== undefined && { next }),
  };
}

async function filled(keys: readonly string[]) {
  const { layer } = testLayer();
  await layer.createBucket('bucket', { location: '' });
  await layer.createBucket('bucket2', { location: '' });
  await layer.putObject(put('bucket2', 'not this one', 'x'));
  for (const key of keys) await layer.putObject(put('bucket', key, 'x'));
  return async (request: Omit<ListObjects, 'bucket'>) => {
    const { objects, ...rest } = await layer.listObjects({ bucket: 'bucket', ...request });
    return { objects: objects.map(({ key }) => key), ...rest };
  };
}

/** Few letters, so that prefixes, groups and cursors meet; some that sort and escape in odd ways. */
const text = (maxLength: number, minLength = 0) =>
  fc.string({ unit: fc.constantFrom('a', 'b', '/', '!', '\0', '\u{1f600}', 'é', '\uffff'), minLength, maxLength });

describe('listObjects', () => {
  it('is what the model says, for any keys and any request', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(text(5, 1), { maxLength: 15 }),
        fc.array(
          fc.record({
            prefix: text(2),
            delimiter: fc.oneof(fc.constantFrom('/', '', 'a/', '\0', '\u0001', 'þ'), text(2)),
            after: text(4),
            limit: fc.integer({ min: 0, max: 6 }),
          }),
          { minLength: 20, maxLength: 20 },
        ),
        async (keys, requests) => {
          const list = await filled(keys);
          for (const request of requests) expect(await list(request)).toEqual(model(keys, request));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('sees everything once when paged through', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(text(5, 1), { maxLength: 20 }),
        fc.integer({ min: 1, max: 5 }),
        async (keys, limit) => {
          const list = await filled(keys);
          const seen: string[] = [];
          let after: string | undefined = '';
          while (after !== undefined) {
            const page = await list({ prefix: '', delimiter: '/', after, limit });
            seen.push(...page.objects, ...page.commonPrefixes);
            after = page.next;
          }
          const all = model(keys, { prefix: '', delimiter: '/', after: '', limit: 1000 });
          expect(seen.sort()).toEqual([...all.objects, ...all.commonPrefixes].sort());
        },
      ),
      { numRuns: 30 },
    );
  });

  it('skips a group when the cursor is inside it', async () => {
    const list = await filled(['dir/a', 'dir/b', 'z']);
    expect(await list({ prefix: '', delimiter: '/', after: 'dir/a', limit: 10 })).toEqual({
      objects: ['z'],
      commonPrefixes: [],
    });
  });

  it('shows size, ETag and encryption of each object', async () => {
    const { layer } = testLayer();
    await layer.createBucket('bucket', { location: '' });
    const info = await layer.putObject(put('bucket', 'a', 'hello', { encryption: { scheme: 'SSE-S3' } }));
    const listing = await layer.listObjects({ bucket: 'bucket', prefix: '', delimiter: '', after: '', limit: 10 });
    expect(listing.objects.map((listed) => ({ ...listed }))).toEqual([
      {
        key: 'a',
        size: 5,
        etag: info.etag,
        modified: info.lastModified.getTime(),
        encrypted: true,
        checksum: undefined,
        storageClass: undefined,
        damage: undefined,
      },
    ]);
  });

  it('refuses a bucket that does not exist', async () => {
    const { layer } = testLayer();
    const answer = layer.listObjects({ bucket: 'none', prefix: '', delimiter: '', after: '', limit: 10 });
    await expect(answer).rejects.toMatchObject({ code: 'NoSuchBucket' });
  });
});
