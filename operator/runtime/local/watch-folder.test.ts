import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watchFolder } from './watch-folder.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coffer-watch-'));
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

describe('the watch of a folder', () => {
  it('reports a change that a poll finds, after a moment without changes', () => {
    const changed = vi.fn<() => void>();
    const watch = watchFolder(folder, changed);
    writeFileSync(join(folder, 'tenant.yaml'), 'kind: Tenant');
    vi.advanceTimersByTime(5_000);
    expect(changed).not.toHaveBeenCalled();
    vi.advanceTimersByTime(500);
    expect(changed).toHaveBeenCalledOnce();
    watch.close();
  });

  it('reports a change below a subfolder without a poll', async () => {
    vi.useRealTimers();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    mkdirSync(join(folder, 'team'));
    const { promise, resolve } = Promise.withResolvers<void>();
    const watch = watchFolder(folder, resolve);
    writeFileSync(join(folder, 'team', 'tenant.yaml'), 'kind: Tenant');
    await promise;
    watch.close();
  });

  it('reports nothing once it is closed, although a change was noticed', () => {
    const changed = vi.fn<() => void>();
    const watch = watchFolder(folder, changed);
    writeFileSync(join(folder, 'tenant.yaml'), 'kind: Tenant');
    vi.advanceTimersByTime(5_000);
    watch.close();
    vi.advanceTimersByTime(10_000);
    expect(changed).not.toHaveBeenCalled();
  });
});
