import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { report } from '../../support/report.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { s3Client } from '../../support/server/s3-client.ts';
import { sharedServer, type SharedAccess } from '../../support/server/shared-server.ts';
import type { Visitor } from '../open-browser.ts';
import { signIn } from '../sign-in.ts';
import { drop, makeFiles, makeSparseFile, sha256Of, sha256OfFile } from './local-files.ts';
import { MainThread } from './main-thread.ts';
import { makeObjects } from './make-objects.ts';
import { visitEachTest } from '../visit-each-test.ts';
import { seed } from '../../support/seed.ts';

/** `.ci/soak console-volume` names the sizes, and asks for the bounds of times and memory, for which a gate is too busy. */
const bounded = process.env['COFFER_VOLUME_OBJECTS'] !== undefined;
const objectCount = Number(process.env['COFFER_VOLUME_OBJECTS'] ?? 2_000);
const fileCount = Number(process.env['COFFER_VOLUME_FILES'] ?? 50);
const mib = Number(process.env['COFFER_VOLUME_MIB'] ?? 40);

/** Milliseconds of the processor. */
const longestTask = 100;
/** Rows that a page keeps in memory. The heap with them is what later heaps are compared with. */
const keptRows = 20_000;
const heapGrowth = 8 * 2 ** 20;
/** Rows of a folder that the page sorts itself. */
const sortedCount = Math.min(objectCount, 5_000);
/** Bytes of a part of an upload. */
const partSize = 8 * 2 ** 20;

vi.setConfig({ testTimeout: bounded ? 4 * 3_600_000 : 240_000, hookTimeout: bounded ? 4 * 3_600_000 : 240_000 });
const patient = { timeout: bounded ? 3_600_000 : 120_000 };

let server: SharedAccess;
let visitor: Visitor;
let page: Page;
let s3: S3Client;
let folder: string;

const bucket = 'volume';
const nameOf = (index: number) => `row-${String(index).padStart(7, '0')}`;
/** Different sizes, in another order than the names. */
const sizeOf = (index: number) => 1 + ((index * 7_919) % 997);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-volume-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

visitEachTest({
  server: () => sharedServer('console'),
  async ready(found) {
    server = found;
    s3 = s3Client(found);
    await s3.send(new CreateBucketCommand({ Bucket: bucket }));
    const started = performance.now();
    await makeObjects(server, { bucket, count: objectCount, keyOf: (index) => `many/${nameOf(index)}`, sizeOf });
    await makeObjects(server, { bucket, count: sortedCount, keyOf: (index) => `sorted/${nameOf(index)}`, sizeOf });
    report(`${objectCount + sortedCount} objects put in ${Math.round((performance.now() - started) / 1000)} s`);
  },
  begin(one) {
    visitor = one;
    page = one.page;
  },
  visitor: { fresh: true },
});

/** Selectors of CSS alone: those by role and label compute the whole tree of accessibility, in tasks of the page. */
const rowAt = (index: number, name: string) =>
  page.locator(`[aria-rowindex="${index + 2}"] .row-name`).filter({ hasText: name });
const filter = () => page.locator('input[data-filter]');
const openFolder = (name: string) => page.locator('.row-name').filter({ hasText: name }).click();
const sortHead = (name: string) => page.locator('.sort-head').filter({ hasText: name });
const frame = () => page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
const rowCount = () =>
  page.evaluate<number>(`Number(document.querySelector('[role=table]')?.getAttribute('aria-rowcount') ?? 1) - 1`);
const untilRows = (count: number) => expect.poll(rowCount, { ...patient, interval: 20 }).toBe(count);

/** Moves the window as a drag of the scroll bar does. */
const scrollToRow = (index: number) =>
  page.evaluate(`{
    const list = document.querySelector('[role=rowgroup]:not(.grid-head)');
    scrollTo(0, list.getBoundingClientRect().top + scrollY + ${index} * 32 - 100);
  }`);

async function choose(button: string, path: string): Promise<void> {
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: button, exact: true }).click();
  if (button === 'Upload') await page.getByRole('menuitem', { name: 'Files…' }).click();
  await (await chooser).setFiles(path);
}

const uploaded = (count: number) =>
  page
    .locator('.tray [role=status]')
    .filter({ hasText: `${count.toLocaleString('en-GB')} uploaded` })
    .waitFor(patient);

describe(`a folder of ${objectCount} objects`, () => {
  it('is browsed to its end, at any place, and by names', async () => {
    await signIn(page, server);
    const thread = await MainThread.watch(page);
    await page.goto(`${server.console}/buckets`);
    await page.locator('.row-name').filter({ hasText: bucket }).waitFor();

    await thread.during('the bucket and the folder are opened', async () => {
      await openFolder(bucket);
      await openFolder('many/');
      await rowAt(0, nameOf(0)).waitFor();
      // A short folder is loaded to its end.
      await expect.poll(rowCount, patient).toBeGreaterThanOrEqual(sortedCount);
    });
    await thread.during('the wheel turns', async () => {
      await page.mouse.move(640, 500);
      for (let turned = 0; turned < Math.min(objectCount / 50, 200); turned += 1) {
        await page.mouse.wheel(0, 1_600);
        await frame();
      }
    });
    let heapOfKept = 0;
    const step = Math.max(keptRows, Math.ceil(objectCount / 10));
    for (let until = Math.min(keptRows, objectCount); ; until = Math.min(until + step, objectCount)) {
      await thread.during(`the key End, until ${until} rows are loaded`, () => loadTo(until));
      if (heapOfKept === 0) heapOfKept = thread.phases.at(-1)?.heap ?? 0;
      if (until === objectCount) break;
    }
    await scrollToRow(objectCount - 1);
    await rowAt(objectCount - 1, nameOf(objectCount - 1)).waitFor();
    const random = new SeededRandom(seed);
    await thread.during('30 places by the scroll bar', async () => {
      for (let place = 0; place < 30; place += 1) {
        const index = random.between(0, objectCount - 1);
        await scrollToRow(index);
        await rowAt(index, nameOf(index)).waitFor();
      }
    });
    await thread.during('all rows in memory are marked', markAll);
    await scrollToRow(0);
    await rowAt(0, nameOf(0)).waitFor();
    if (objectCount > sortedCount) {
      await thread.during('a jump into the middle and to the end', async () => {
        await jumpTo(Math.floor(objectCount / 2));
        await jumpTo(objectCount - 300);
        await page.keyboard.press('End');
        await rowAt(299, nameOf(objectCount - 1)).waitFor();
        await page.locator('button').filter({ hasText: 'From the beginning' }).click();
        await rowAt(0, nameOf(0)).waitFor();
      });
    }
    await thread.during('a search as it is typed', async () => {
      const text = objectCount > sortedCount ? 'row-00012' : '0012';
      await filter().pressSequentially(text);
      const found = Array.from({ length: objectCount }, (_, index) => nameOf(index)).filter((name) =>
        objectCount > sortedCount ? name.startsWith(text) : name.includes(text),
      );
      await untilRows(found.length);
      await rowAt(0, found[0] ?? '').waitFor();
    });

    await page.locator('nav a').filter({ hasText: bucket }).click();
    await openFolder('sorted/');
    await thread.during(`${sortedCount} rows are loaded`, () => untilRows(sortedCount));
    const bySize = Array.from({ length: sortedCount }, (_, index) => index).sort(
      (a, b) => sizeOf(b) - sizeOf(a) || b - a,
    );
    await thread.during('rows are sorted', async () => {
      await sortHead('Size').waitFor();
      for (const [by, first] of [
        ['Size', undefined],
        ['Size', bySize[0]],
        ['Modified', undefined],
        ['Modified', undefined],
        ['Name', 0],
        ['Name', sortedCount - 1],
        ['Size', undefined],
        ['Size', bySize[0]],
      ] as const) {
        await sortHead(by).click();
        await frame();
        if (first !== undefined) await rowAt(0, nameOf(first)).waitFor();
      }
      for (const [at, index] of bySize.slice(0, 10).entries()) await rowAt(at, nameOf(index)).waitFor();
    });
    await thread.during('rows are filtered as a text is typed', async () => {
      const found = bySize.filter((index) => nameOf(index).includes('0012'));
      await filter().pressSequentially('0012');
      await untilRows(found.length);
      await rowAt(0, nameOf(found[0] ?? 0)).waitFor();
      await filter().press('Control+A');
      await filter().press('Delete');
      await untilRows(sortedCount);
    });
    await thread.during('all rows are marked', markAll);

    if (!bounded) return;
    const longest = Math.max(...thread.phases.map((phase) => phase.longest));
    const worst = Math.max(...thread.phases.map(({ processor }) => processor));
    const grown = Math.max(...thread.phases.map(({ heap }) => heap)) - heapOfKept;
    report(
      `while browsing: longest task ${longest} ms, at most ${worst} ms of the processor in one task; the bound is ${longestTask} ms of the ` +
        'processor, because other programs of the machine may stop a task',
    );
    report(
      `the largest heap has ${(grown / 2 ** 20).toFixed(1)} MiB more than that with the first ${keptRows} rows; ` +
        `it is flat up to ${heapGrowth / 2 ** 20} MiB`,
    );
    expect.soft(worst, 'milliseconds of the processor in one task').toBeLessThanOrEqual(longestTask);
    expect.soft(grown, 'growth of the heap in bytes').toBeLessThanOrEqual(heapGrowth);
  });
});

/** Presses End until `count` rows are loaded, each time after more rows came. */
async function loadTo(count: number): Promise<void> {
  // A folder of up to 5,000 rows is loaded to its end by itself.
  for (;;) {
    const before = await rowCount();
    if (before >= count) return;
    await page.keyboard.press('End');
    await expect.poll(rowCount, { ...patient, interval: 20 }).toBeGreaterThan(before);
  }
}

/** Marks the rows, and takes the marks away. */
async function markAll(): Promise<void> {
  const toolbar = page.locator('[role=toolbar]');
  await page.locator('.grid-head input[type=checkbox]').click();
  await toolbar.waitFor();
  await toolbar.locator('button').filter({ hasText: 'Clear' }).click();
  await toolbar.waitFor({ state: 'detached' });
}

async function jumpTo(index: number): Promise<void> {
  const field = page.locator('input[aria-label="Jump to a name"]');
  await field.fill(nameOf(index));
  await field.press('Enter');
  await rowAt(0, nameOf(index)).waitFor();
  await field.blur();
}

describe('uploads', () => {
  it('leave the window of their folder where it is', async () => {
    const path = join(folder, 'zz.txt');
    await writeFile(path, 'new');
    await signIn(page, server);
    await page.goto(`${server.console}/buckets/${bucket}?prefix=sorted%2F`);
    await untilRows(sortedCount);
    const index = sortedCount - 100;
    await scrollToRow(index);
    await rowAt(index, nameOf(index)).waitFor();
    await frame();
    await page.evaluate(`globalThis.moved = 0; addEventListener('scroll', () => { moved += 1; })`);
    await drop(page, path);
    await uploaded(1);
    await untilRows(sortedCount + 1);
    await rowAt(index, nameOf(index)).waitFor();
    expect(await page.evaluate('moved')).toBe(0);
    await s3.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'sorted/zz.txt' }));
  });

  it(`take a dropped folder of ${fileCount} files`, async () => {
    const top = join(folder, 'dropped');
    await mkdir(top);
    const expected = await makeFiles(top, fileCount);
    const thread = await MainThread.watch(page);
    await signIn(page, server);
    await page.goto(`${server.console}/buckets/${bucket}?prefix=files%2F`);
    await page.getByText('Nothing in here').waitFor();
    const started = performance.now();
    await thread.during(`${fileCount} files uploaded`, async () => {
      await drop(page, top);
      await uploaded(fileCount);
    });
    const seconds = (performance.now() - started) / 1000;
    report(`${fileCount} files in ${Math.round(seconds)} s`);
    const stored = new Map<string, string>();
    for (let token: string | undefined, more = true; more;) {
      const { Contents, NextContinuationToken }: Listing = await s3.send(
        new ListObjectsV2Command({ Bucket: bucket, Prefix: 'files/', ContinuationToken: token }),
      );
      for (const { Key = '', ETag = '' } of Contents ?? []) stored.set(Key.slice(6), ETag.replaceAll('"', ''));
      token = NextContinuationToken;
      more = token !== undefined;
    }
    expect(stored).toEqual(expected);
    await rm(top, { recursive: true });
  });

  it(`take a file of ${mib} MiB with a reload of the page in the middle`, async () => {
    const path = join(folder, 'large.bin');
    await makeSparseFile(path, mib);
    const parts = Math.ceil((mib * 2 ** 20) / partSize);
    await signIn(page, server);
    await page.goto(`${server.console}/buckets/${bucket}?prefix=large%2F`);
    await page.getByText('Nothing in here').waitFor();
    const session = await visitor.context.newCDPSession(page);
    await session.send('Network.enable');
    // A small file would be there before the reload.
    const limit = (uploadThroughput: number) =>
      session.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput: bounded ? -1 : uploadThroughput,
      });
    await limit(partSize);
    const started = performance.now();
    await choose('Upload', path);
    await expect
      .poll(async () => (await storedParts()).length, { ...patient, interval: 50 })
      .toBeGreaterThanOrEqual(Math.min(Math.floor(parts / 2), 1_000));
    page.once('dialog', (dialog) => void dialog.accept());
    await page.reload();
    await limit(-1);
    await page.getByText('Interrupted uploads').waitFor();
    const before = await storedParts();
    expect(before.length).toBeLessThan(parts);
    const sent = new Set<number>();
    page.on('request', (request) => {
      const number = new URL(request.url()).searchParams.get('partNumber');
      if (request.method() === 'PUT' && number !== null) sent.add(Number(number));
    });
    await choose('Pick the file to go on', path);
    await uploaded(1);
    const seconds = Math.round((performance.now() - started) / 1000);
    report(
      `a file of ${mib} MiB uploaded in ${seconds} s, with a reload after ${before.length} of ${parts} parts; ` +
        `${sent.size} parts were sent after it`,
    );
    expect(before.filter((number) => sent.has(number))).toEqual([]);
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: 'large/large.bin' }));
    if (!(Body instanceof Readable)) throw new Error('the body of the answer is no stream');
    expect(await sha256Of(Body)).toBe(await sha256OfFile(path));
    expect((await s3.send(new ListMultipartUploadsCommand({ Bucket: bucket }))).Uploads ?? []).toEqual([]);
    await rm(path);
  });
});

interface Listing {
  readonly Contents?: readonly { readonly Key?: string; readonly ETag?: string }[] | undefined;
  readonly NextContinuationToken?: string | undefined;
}

/** The numbers of the parts of the only upload in parts, at most 1,000 of them; none while it has not begun. */
async function storedParts(): Promise<readonly number[]> {
  const [upload] = (await s3.send(new ListMultipartUploadsCommand({ Bucket: bucket }))).Uploads ?? [];
  if (upload === undefined) return [];
  const { Parts } = await s3.send(new ListPartsCommand({ Bucket: bucket, Key: upload.Key, UploadId: upload.UploadId }));
  return (Parts ?? []).map(({ PartNumber = 0 }) => PartNumber);
}
