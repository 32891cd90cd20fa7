import { describe, expect, it } from 'vitest';
import { type DirectoryErrorCode, IdentityError } from '../auth/identity-error.ts';
import { directoryState } from './info.ts';

describe('directoryState', () => {
  it('is disabled without a directory', async () => {
    expect(await directoryState(undefined)).toBe('disabled');
  });

  it('is online where the directory answers that there is no entry', async () => {
    expect(await directoryState({ find: () => Promise.resolve(undefined) })).toBe('online');
  });

  it.each<[DirectoryErrorCode, string]>([
    ['no-directory', 'disabled'],
    ['directory-unavailable', 'offline'],
    ['ambiguous-user', 'online'],
  ])('takes a directory that is %s for %s', async (code, state) => {
    expect(await directoryState({ find: () => Promise.reject(new IdentityError(code, 'a test')) })).toBe(state);
  });

  it('is offline where no answer comes', async () => {
    expect(await directoryState({ find: () => new Promise(() => undefined) }, 5)).toBe('offline');
  });
});
