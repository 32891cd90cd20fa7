import { describe, expect, it } from 'vitest';
import { LdapError, type LdapErrorCode } from '../federation/ldap/ldap-user.ts';
import { directoryState } from './info.ts';

describe('directoryState', () => {
  it('is disabled without a directory', async () => {
    expect(await directoryState(undefined)).toBe('disabled');
  });

  it('is online where the directory answers that there is no entry', async () => {
    expect(await directoryState({ find: () => Promise.resolve(undefined) })).toBe('online');
  });

  it.each<[LdapErrorCode, string]>([
    ['not-configured', 'disabled'],
    ['unavailable', 'offline'],
    ['ambiguous', 'online'],
  ])('takes a directory that is %s for %s', async (code, state) => {
    expect(await directoryState({ find: () => Promise.reject(new LdapError(code, 'a test')) })).toBe(state);
  });

  it('is offline where no answer comes', async () => {
    expect(await directoryState({ find: () => new Promise(() => undefined) }, 5)).toBe('offline');
  });
});
