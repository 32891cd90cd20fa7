import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { array, assert, asyncProperty, integer } from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuditSearch, searchAuditFile } from './search-audit-file.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'audit-search-'));
});

afterAll(() => rm(folder, { recursive: true }));

const entry = (id: number, more: object = {}) => ({
  time: new Date(id * 1_000).toISOString(),
  requestID: String(id),
  api: { name: 'GetObject', bucket: 'photos', statusCode: 200 },
  ...more,
});

const decisions = (effect: string) => [{ action: 's3:PutObject', resource: 'a', effect, reason: '' }];

let files = 0;

async function fileOf(...lines: readonly unknown[]): Promise<string> {
  files += 1;
  const path = join(folder, `${files}.log`);
  await writeFile(path, lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  return path;
}

async function found(path: string, search: AuditSearch = {}): Promise<string[]> {
  return (await searchAuditFile(path, search)).entries.map(({ requestID }) => requestID);
}

describe('the search of the audit file', () => {
  it('returns the newest entries first', async () => {
    expect(await found(await fileOf(entry(1), entry(2), entry(3)))).toEqual(['3', '2', '1']);
  });

  it('finds by person, bucket, operation, decision and outcome', async () => {
    const path = await fileOf(
      entry(1, { identity: { kind: 'user', name: 'Ada' } }),
      entry(2, { accessKey: 'ADA-KEY', decisions: decisions('allow') }),
      entry(3, { api: { name: 'PutObject', bucket: 'docs', statusCode: 403 }, decisions: decisions('deny') }),
    );
    expect(await found(path, { who: 'ada' })).toEqual(['2', '1']);
    expect(await found(path, { bucket: 'docs' })).toEqual(['3']);
    expect(await found(path, { operation: 'putobject' })).toEqual(['3', '2']);
    expect(await found(path, { decision: 'deny' })).toEqual(['3']);
    expect(await found(path, { outcome: 'failed' })).toEqual(['3']);
    expect(await found(path, { outcome: 'succeeded', who: 'ada-key' })).toEqual(['2']);
  });

  it('leaves out refreshes of open pages, and counts them', async () => {
    const refresh = { tags: { refresh: true } };
    const path = await fileOf(
      entry(1, refresh),
      entry(2),
      entry(3, { ...refresh, api: { name: 'ServerInfo', statusCode: 403 } }),
      entry(4, { ...refresh, decisions: decisions('deny') }),
      entry(5, { ...refresh, accessKey: 'ADA' }),
    );
    expect(await found(path)).toEqual(['5', '4', '3', '2', '1']);
    expect(await found(path, { refreshes: 'left-out' })).toEqual(['4', '3', '2']);
    expect(await searchAuditFile(path, { refreshes: 'left-out', who: 'ada' })).toMatchObject({
      entries: [],
      leftOut: 1,
    });
  });

  it('leaves out lines that are no entries, and an unfinished last line', async () => {
    const path = await fileOf(entry(1), '{"torn', 'null', '[]', '', entry(2));
    await appendFile(path, '{"time":"2026');
    expect(await found(path)).toEqual(['2', '1']);
  });

  it('reads a bounded number of bytes, and goes on from there without a gap or a repetition', async () => {
    await assert(
      asyncProperty(
        array(integer({ min: 0, max: 300 }), { maxLength: 40 }),
        integer({ min: 20, max: 400 }),
        async (lengths, chunk) => {
          const path = await fileOf(...lengths.map((length, id) => entry(id, { userAgent: 'x'.repeat(length) })));
          const seen: string[] = [];
          let before: number | undefined;
          for (let call = 0; call < 2_000; call += 1) {
            const { entries, next } = await searchAuditFile(path, { before }, { bytes: 500, chunk });
            seen.push(...entries.map(({ requestID }) => requestID));
            if (next === undefined) break;
            expect(next).toBeLessThan(before ?? Infinity);
            before = next;
          }
          expect(seen).toEqual(lengths.map((_, id) => String(id)).reverse());
        },
      ),
      { numRuns: 30 },
    );
  });

  it('returns at most a hundred entries and the place of the next ones', async () => {
    const path = await fileOf(...Array.from({ length: 150 }, (_, id) => entry(id)));
    const first = await searchAuditFile(path, {});
    expect(first.entries).toHaveLength(100);
    expect((await searchAuditFile(path, { before: first.next })).entries).toHaveLength(50);
  });
});
