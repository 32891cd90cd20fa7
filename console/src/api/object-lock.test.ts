import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readLock, writeLegalHold, writeRetention } from './object-lock.ts';

const shown = { bucket: 'docs', key: 'a.txt', versionId: 'shown' };

/** The locks of two versions. Somebody stored the newer one after the page showed the other. */
let locks: Map<string, Map<string, string>>;

/** Answers as S3 does: without a version the request is for the current one, which is `newer`. */
function answer(url: string, { method, body = '' }: { readonly method: string; readonly body?: string }): Response {
  const query = new URL(url, 'http://localhost').searchParams;
  const lock = locks.get(query.get('versionId') ?? 'newer');
  if (lock === undefined) return Response.json({ code: 'NoSuchVersion', message: '' }, { status: 404 });
  const name = ['retention', 'legal-hold'].find((each) => query.has(each)) ?? '';
  if (method === 'PUT') lock.set(name, body);
  const stored = lock.get(name);
  if (stored !== undefined) return new Response(stored);
  return Response.json({ code: 'NoSuchObjectLockConfiguration', message: '' }, { status: 404 });
}

beforeEach(() => {
  locks = new Map([
    ['shown', new Map()],
    ['newer', new Map()],
  ]);
  vi.stubGlobal('fetch', async (...sent: Parameters<typeof answer>) => answer(...sent));
  vi.stubGlobal('document', { querySelector: () => null });
});
afterEach(() => vi.unstubAllGlobals());

describe('a lock that is set after another version was stored', () => {
  const until = '2099-01-01T00:00:00.000Z';

  it('is one of the version that was shown', async () => {
    await writeRetention(shown, { mode: 'COMPLIANCE', until, bypass: false });
    await writeLegalHold(shown, true);
    expect(await readLock(shown)).toEqual({ mode: 'COMPLIANCE', until, legalHold: true });
    expect(await readLock({ ...shown, versionId: 'newer' })).toEqual({ legalHold: false });
  });

  it('is set nowhere when the version that was shown is gone', async () => {
    locks.delete('shown');
    const retention = { mode: 'COMPLIANCE', until, bypass: false } as const;
    await expect(writeRetention(shown, retention)).rejects.toMatchObject({ code: 'NoSuchVersion' });
    await expect(writeLegalHold(shown, true)).rejects.toMatchObject({ code: 'NoSuchVersion' });
    await expect(readLock(shown)).rejects.toMatchObject({ code: 'NoSuchVersion' });
    expect(locks.get('newer')?.size).toBe(0);
  });
});
