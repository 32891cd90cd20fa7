import { describe, expect, it } from 'vitest';
import { put, testLayer } from '../../test/support/objects/test-layer.ts';
import { inspectObjects } from './inspect-objects.ts';

async function inspection() {
  const test = testLayer();
  await test.layer.createBucket('photos', { location: '' });
  const headers = { contentType: 'image/png', metadata: { owner: 'secret-value' } };
  await test.layer.putObject({ ...put('photos', 'a/cat.jpg', 'secret-body'), headers, tags: { kind: 'secret-tag' } });
  await test.layer.putObject(put('photos', 'a/../dog.jpg', 'wow'));
  await test.layer.putObject({ ...put('photos', 'a/sealed', 'secret-body'), encryption: { scheme: 'SSE-S3' } });
  const inspect = (pattern: string, bucket = 'photos') => inspectObjects(test.layer, test.records, { bucket, pattern });
  const shown = async (pattern: string) => {
    const [entry] = await inspect(pattern);
    return JSON.parse(entry?.content.toString() ?? '{}') as Record<string, unknown>;
  };
  return { ...test, inspect, shown };
}

describe('an inspection of objects', () => {
  it.each([
    ['a/cat.jpg', ['photos/a/cat.jpg/null.json']],
    ['a/cat.jpg/xl.meta', ['photos/a/cat.jpg/null.json']],
    ['a/c*/xl.meta', ['photos/a/cat.jpg/null.json']],
    ['**', ['photos/a/%../dog.jpg/null.json', 'photos/a/cat.jpg/null.json', 'photos/a/sealed/null.json']],
  ])('finds %s', async (pattern, names) => {
    const { inspect } = await inspection();
    expect((await inspect(pattern)).map(({ name }) => name)).toEqual(names);
  });

  it('describes a version without its bytes and values', async () => {
    const { inspect, shown } = await inspection();
    expect(await shown('a/cat.jpg')).toMatchObject({
      key: 'a/cat.jpg',
      size: 11,
      headers: { contentType: 'image/png' },
      metadataNames: ['owner'],
      tagNames: ['kind'],
      body: { kind: 'inline' },
    });
    const all = Buffer.concat((await inspect('*')).map(({ content }) => content)).toString();
    expect(all).not.toContain('secret');
  });

  it('has neither keys nor digests of encrypted content', async () => {
    const { shown, layer } = await inspection();
    const { etag } = await layer.headObject('photos', 'a/sealed');
    const text = JSON.stringify(await shown('a/sealed'));
    expect(await shown('a/sealed')).toMatchObject({
      encryption: { scheme: 'SSE-S3', keyName: expect.any(String) as string },
    });
    expect(text).not.toContain(etag);
    expect(text).not.toMatch(/dataKey|objectKey|salt/);
  });

  it('refuses a pattern that matches nothing, and a bucket that is not there', async () => {
    const { inspect } = await inspection();
    await expect(inspect('b*')).rejects.toMatchObject({ code: 'NoSuchKey' });
    await expect(inspect('*', 'absent')).rejects.toMatchObject({ code: 'NoSuchBucket' });
  });
});
