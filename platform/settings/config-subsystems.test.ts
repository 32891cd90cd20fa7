import { describe, expect, it } from 'vitest';
import { settings } from '../../protocol/settings/table.ts';
import { configSubsystems, targetSubsystems } from './config-subsystems.ts';

const keysOf = (name: string) => configSubsystems.find((one) => one.name === name)?.keys.map(({ key }) => key);

describe('configSubsystems', () => {
  it('has every setting of the server once, but those of providers', () => {
    const shown = configSubsystems.flatMap(({ keys }) => keys.map(({ row }) => row.name));
    const all = settings.filter(
      ({ scope, name }) => scope === 'server' && !/^SVC_IDENTITY_(?:LDAP|OPENID_(?!CHECK))/.test(name),
    );
    expect(shown.toSorted()).toEqual(all.map(({ name }) => name).toSorted());
  });

  it('calls them by what is left of their names', () => {
    expect(keysOf('site')).toEqual(['region']);
    expect(keysOf('browser')).toEqual(expect.arrayContaining(['enable', 'redirect_url', 'session_duration']));
    expect(keysOf('identity_check')).toEqual(['interval', 'unreachable']);
    expect(keysOf('storage')).toContain('storage_reserve');
  });
});

describe('every row of the table', () => {
  it('belongs to one subsystem: of the environment, of targets, or of the providers', () => {
    const owned = [...configSubsystems, ...targetSubsystems].flatMap(({ keys }) => keys.map(({ row }) => row.name));
    for (const { name } of settings) {
      const owners =
        owned.filter((one) => one === name).length + (/^SVC_IDENTITY_(?:LDAP|OPENID_(?!CHECK))/.test(name) ? 1 : 0);
      expect(owners, name).toBe(1);
    }
  });
});

describe('targetSubsystems', () => {
  it('have every setting of a target once, by the keys of MinIO', () => {
    const shown = targetSubsystems.flatMap(({ keys }) => keys.map(({ row }) => row.name));
    const all = settings.filter(({ scope }) => scope === 'per-target');
    expect(shown.toSorted()).toEqual(all.map(({ name }) => name).toSorted());
    expect(targetSubsystems[0]?.keys.map(({ key }) => key)).toEqual(
      expect.arrayContaining(['enable', 'endpoint', 'auth_token', 'client_cert', 'queue_dir']),
    );
  });
});
