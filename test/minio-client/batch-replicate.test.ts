import {
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { s3Client } from '../support/server/s3-client.ts';
import { startMinio } from '../support/server/start-minio.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { StockMc } from './stock-mc.ts';

let ours: RunningServer;
let theirs: Awaited<ReturnType<typeof startMinio>>;
let folder: string;
let mc: StockMc;
let clients: Readonly<Record<'c' | 'm', S3Client>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-mc-batch-replicate-'));
  [ours, theirs] = await Promise.all([startServer(), startMinio()]);
  await untilReady(ours);
  mc = new StockMc(folder);
  await mc.alias('c', ours.s3, ours.accessKey, ours.secretKey);
  await mc.alias('m', theirs.url, theirs.accessKey, theirs.secretKey);
  clients = { c: s3Client(ours), m: s3Client({ ...ours, s3: theirs.url, ...keysOf('m') }) };
  await writeFile(join(folder, 'large'), randomBytes(12 * 1024 * 1024));
}, 360_000);
afterAll(async () => {
  await Promise.all([ours?.stop(), theirs?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

function keysOf(alias: 'c' | 'm') {
  const { accessKey, secretKey } = alias === 'c' ? ours : theirs;
  return { accessKey, secretKey };
}

interface Side {
  readonly alias?: 'c' | 'm';
  readonly bucket: string;
  readonly prefix?: string;
  readonly type?: 's3';
  readonly snowball?: object;
}

/** A side with an alias is the other server. */
function sideOf({ alias, bucket, prefix = '', type, snowball }: Side) {
  const remote = alias && { endpoint: alias === 'c' ? ours.s3 : theirs.url, path: 'on', credentials: keysOf(alias) };
  return { type: type ?? 'minio', bucket, prefix, ...remote, ...(snowball && { snowball }) };
}

async function start(by: 'c' | 'm', source: Side, target: Side, flags: object = {}) {
  const job = { replicate: { apiVersion: 'v1', source: sideOf(source), target: sideOf(target), flags } };
  const file = join(folder, `${randomBytes(4).toString('hex')}.yaml`);
  // JSON is YAML.
  await writeFile(file, JSON.stringify(job));
  return mc.try('batch', 'start', by, file);
}

async function ended(by: string, id: string): Promise<Record<string, unknown>> {
  const metric = async () => {
    const { lines } = await mc.try('batch', 'status', by, id);
    return (lines.at(-1) as { readonly metric?: Record<string, unknown> } | undefined)?.metric ?? {};
  };
  await expect
    .poll(
      async () => {
        const { complete, failed } = await metric();
        return complete === true || failed === true;
      },
      { timeout: 180_000, interval: 500 },
    )
    .toBe(true);
  return metric();
}

async function run(...args: Parameters<typeof start>) {
  const { lines, text } = await start(...args);
  const { result } = lines[0] as { readonly result?: { readonly id: string } };
  if (result === undefined) throw new Error(text);
  const { failed, replicate } = await ended(args[0], result.id);
  // mc does not show why.
  expect(failed, ours.log.filter((line) => line.includes(result.id)).join('\n')).toBe(false);
  return replicate as Readonly<Record<'objects' | 'objectsFailed' | 'bytesTransferred', number>>;
}

function plain(id = ''): string {
  return id.replaceAll('-', '');
}

/** Lists the versions of a bucket, with ids in one form. */
async function versionsOf(alias: 'c' | 'm', bucket: string) {
  const listed = await clients[alias].send(new ListObjectVersionsCommand({ Bucket: bucket }));
  return {
    versions: (listed.Versions ?? []).map(({ Key, VersionId, ETag, Size, IsLatest }) => ({
      Key,
      ETag,
      Size,
      IsLatest,
      id: plain(VersionId),
    })),
    markers: (listed.DeleteMarkers ?? []).map(({ Key, VersionId }) => [Key, plain(VersionId)]),
  };
}

async function fill(alias: 'c' | 'm', bucket: string): Promise<void> {
  await mc.run('mb', `${alias}/${bucket}`);
  await mc.run('version', 'enable', `${alias}/${bucket}`);
  for (const [at, key] of ['a/one', 'a/one', 'a/two', 'b c/+&ü.txt'].entries()) {
    const file = join(folder, 'small');
    await writeFile(file, `content ${at}`);
    await mc.run(
      'cp',
      '--attr',
      `Colour=red${at};Cache-Control=no-cache`,
      '--tags',
      `kind=${at}`,
      file,
      `${alias}/${bucket}/${key}`,
    );
  }
  await mc.run('cp', '--disable-multipart', join(folder, 'large'), `${alias}/${bucket}/large`);
  await mc.run('rm', `${alias}/${bucket}/a/two`);
}

describe('batch jobs that replicate', { timeout: 720_000 }, () => {
  it.each([
    ['sends to a MinIO', 'c', 'm'],
    ['fetches from a MinIO', 'm', 'c'],
  ] as const)('%s with ids, order, tags, metadata and delete markers', async (what, from, to) => {
    const [source, target] = [`src-${from}${to}`, `dst-${from}${to}`];
    await fill(from, source);
    await mc.run('mb', `${to}/${target}`);
    await mc.run('version', 'enable', `${to}/${target}`);
    const sides: readonly [Side, Side] =
      from === 'c'
        ? [{ bucket: source }, { alias: to, bucket: target }]
        : [{ alias: from, bucket: source }, { bucket: target }];
    expect(await run('c', ...sides)).toMatchObject({ objects: 5, objectsFailed: 0 });
    // An id of Coffer begins with its time, so that those of a MinIO have others here.
    const shown = async (alias: 'c' | 'm', bucket: string) => {
      const { versions, markers } = await versionsOf(alias, bucket);
      if (to === 'm') return { versions, markers };
      return { versions: versions.map(({ id: _id, ...version }) => version), markers: markers.map(([key]) => key) };
    };
    expect(await shown(to, target), what).toEqual(await shown(from, source));
    const first = await versionsOf(to, target);
    const place = { Bucket: target, Key: 'a/one' };
    const head = await clients[to].send(new HeadObjectCommand(place));
    expect(head).toMatchObject({ Metadata: { colour: 'red1' }, CacheControl: 'no-cache' });
    const { TagSet } = await clients[to].send(new GetObjectTaggingCommand(place));
    expect(TagSet).toEqual([{ Key: 'kind', Value: '1' }]);
    // A repetition finds all of it.
    expect(await run('c', ...sides)).toMatchObject({ objects: 0, objectsFailed: 0 });
    expect(await versionsOf(to, target)).toEqual(first);
  });

  it.each([
    ['sends', 'c', 'm'],
    ['fetches', 'm', 'c'],
  ] as const)('%s below a prefix what filters select, and nothing twice, without versions', async (what, from, to) => {
    const [source, target] = [`plain-src-${from}`, `plain-dst-${to}`];
    await Promise.all([mc.run('mb', `${from}/${source}`), mc.run('mb', `${to}/${target}`)]);
    const file = join(folder, `plain-${what}`);
    await writeFile(file, 'x');
    await mc.run('cp', '--tags', 'go=yes', file, `${from}/${source}/in/tagged`);
    await mc.run('cp', '--attr', 'go=yes', file, `${from}/${source}/in/attributed`);
    await mc.run('cp', '--tags', 'go=no', file, `${from}/${source}/in/not`);
    await mc.run('cp', '--tags', 'go=yes', file, `${from}/${source}/out/tagged`);
    const sides: readonly [Side, Side] =
      from === 'c'
        ? [
            { bucket: source, prefix: 'in/' },
            { alias: to, bucket: target, prefix: 'copy', type: 's3' },
          ]
        : [
            { alias: from, bucket: source, prefix: 'in/', type: 's3' },
            { bucket: target, prefix: 'copy' },
          ];
    const keys = async () => (await versionsOf(to, target)).versions.map(({ Key }) => Key);
    const tagged = { filter: { tags: [{ key: 'go', value: 'y*' }] } };
    expect(await run('c', ...sides, tagged)).toMatchObject({ objects: 1, bytesTransferred: 1 });
    expect(await keys()).toEqual(['copy/in/tagged']);
    const attributed = { filter: { metadata: [{ key: 'x-amz-meta-go', value: 'yes' }] } };
    expect(await run('c', ...sides, attributed)).toMatchObject({ objects: 1 });
    expect(await run('c', ...sides, { filter: { olderThan: '1d' } })).toMatchObject({ objects: 0 });
    expect(await run('c', ...sides)).toMatchObject({ objects: 1 });
    expect(await keys()).toEqual(['copy/in/attributed', 'copy/in/not', 'copy/in/tagged']);
  });

  it('shows no secret, and refuses what cannot go', async () => {
    await mc.run('mb', 'c/refused');
    const there = { alias: 'm', bucket: 'refused-there' } as const;
    const absent = await start('c', { bucket: 'refused' }, there);
    expect([absent.code, absent.text]).toEqual([1, expect.stringContaining('refused-there')]);
    await mc.run('mb', 'm/refused-there');
    await mc.run('version', 'enable', 'c/refused');
    const unversioned = await start('c', { bucket: 'refused' }, there);
    expect([unversioned.code, unversioned.text]).toEqual([1, expect.stringContaining('enable versioning')]);
    const { lines, text } = await start('c', { bucket: 'refused' }, { ...there, type: 's3' });
    const { result } = lines[0] as { readonly result: { readonly id: string } };
    const described = await mc.try('batch', 'describe', 'c', result.id);
    expect(text + described.text).not.toContain(theirs.secretKey);
  });

  it('has the status of a MinIO', async () => {
    await mc.run('mb', 'm/of-minio');
    await mc.run('mb', 'c/of-minio');
    await mc.run('cp', join(folder, 'small'), 'm/of-minio/key');
    const replicate = await run(
      'm',
      { bucket: 'of-minio', snowball: { disable: true } },
      { alias: 'c', bucket: 'of-minio' },
    );
    expect(replicate).toMatchObject({ objects: 1 });
    await mc.run('mb', 'm/of-coffer');
    const own = await run('c', { bucket: 'of-minio' }, { alias: 'm', bucket: 'of-coffer' });
    expect(Object.keys(own).toSorted()).toEqual(Object.keys(replicate).toSorted());
  });
});
