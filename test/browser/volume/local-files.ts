import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Readable } from 'node:stream';
import type { Page } from 'playwright-core';

const MiB = 2 ** 20;

/** Writes small files, a hundred in each folder. Returns the MD5 of each by its path, which begins with the name of the top folder. */
export async function makeFiles(top: string, count: number): Promise<ReadonlyMap<string, string>> {
  const digests = new Map<string, string>();
  for (let index = 0; index < count; index += 1) {
    const name = `part ${Math.floor(index / 100)}/file ${index} é.txt`;
    const content = `${index}\n`.repeat(1 + (index % 200));
    const path = join(top, name);
    if (index % 100 === 0) await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    digests.set(`${basename(top)}/${name}`, createHash('md5').update(content).digest('hex'));
  }
  return digests;
}

/** Drops a file or a folder of the machine into the middle of the page, as a user does with the mouse. */
export async function drop(page: Page, path: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const event = { x: 640, y: 400, data: { items: [], files: [path], dragOperationsMask: 1 } };
  await session.send('Input.dispatchDragEvent', { ...event, type: 'dragEnter' });
  await page.getByText('Drop to upload').waitFor();
  await session.send('Input.dispatchDragEvent', { ...event, type: 'dragOver' });
  await session.send('Input.dispatchDragEvent', { ...event, type: 'drop' });
  await session.detach();
}

/** Writes a file that takes no room on the disk but for a mark in each MiB, so that no two of them are equal. */
export async function makeSparseFile(path: string, mib: number): Promise<void> {
  const file = await open(path, 'w');
  try {
    await file.truncate(mib * MiB);
    for (let at = 0; at < mib; at += 1) await file.write(`this is MiB ${at}`, at * MiB + 4_096);
  } finally {
    await file.close();
  }
}

/** The SHA-256 of all bytes. */
export async function sha256Of(stream: Readable): Promise<string> {
  const hash: Hash = createHash('sha256');
  await pipeline(stream, hash);
  return hash.digest('hex');
}

export const sha256OfFile = (path: string) => sha256Of(createReadStream(path, { highWaterMark: MiB }));
