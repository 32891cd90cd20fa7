import { describe, expect, it } from 'vitest';
import { settings } from '../../protocol/settings/table.ts';
import { configSubsystems } from './config-subsystems.ts';

const keysOf = (name: string) => configSubsystems.find((one) => one.name === name)?.keys.map(({ key }) => key);

describe('configSubsystems', () => {
  it('has every setting of the server once, but root and the directories', () => {
    const shown = configSubsystems.flatMap(({ keys }) => keys.map(({ row }) => row.name));
    const all = settings.filter(
      ({ scope, name }) => scope === 'server' && !/^SVC_(ROOT_|IDENTITY_(?!OPENID_CHECK))/.test(name),
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
