import { describe, expect, it } from 'vitest';
import { foldersOf } from './folders.ts';

const windows = (env: NodeJS.ProcessEnv, option?: string) =>
  foldersOf(option, { platform: 'win32', env, home: String.raw`C:\wrong` });
const linux = (env: NodeJS.ProcessEnv, option?: string) =>
  foldersOf(option, { platform: 'linux', env, home: '/home/ann' });
const homeless = (env: NodeJS.ProcessEnv) => foldersOf(undefined, { platform: 'linux', env, home: undefined });

describe('the folders', () => {
  it('are those of the option, of the variables, or below the home', () => {
    const env = { COFFER_CONFIG_DIR: '/c', MC_CONFIG_DIR: '/m' };
    expect(linux(env, '/o')).toEqual({ config: '/o', certs: '/o/certs' });
    expect(linux(env).config).toBe('/c');
    expect(linux({ MC_CONFIG_DIR: '/m' }).config).toBe('/m');
    expect(linux({})).toEqual({ config: '/home/ann/.coffer', certs: '/home/ann/.coffer/certs' });
  });
});

describe('the folders of a user without a home', () => {
  it('are those of a variable', () => {
    expect(homeless({ MC_CONFIG_DIR: '/m' }).config).toBe('/m');
  });

  it('are an error without a variable', () => {
    expect(() => homeless({})).toThrow('set HOME or COFFER_CONFIG_DIR');
  });
});

describe('the folders on Windows', () => {
  const all = {
    HOME: String.raw`D:\home`,
    USERPROFILE: String.raw`C:\Users\ann`,
    HOMEDRIVE: 'E:',
    HOMEPATH: String.raw`\people\ann`,
  };

  it.each([
    [all, String.raw`D:\home`],
    [{ ...all, HOME: undefined }, String.raw`C:\Users\ann`],
    [{ ...all, HOME: '', USERPROFILE: '' }, String.raw`E:\people\ann`],
  ])('come from the first variable that is set: %j', (env, home) => {
    expect(windows(env)).toEqual({ config: `${home}\\.coffer`, certs: `${home}\\coffer\\certs` });
  });

  it.each([{}, { HOMEDRIVE: 'C:' }, { HOMEPATH: String.raw`\ann` }])('are an error with %j only', (env) => {
    expect(() => windows(env)).toThrow('HOME, USERPROFILE, and HOMEDRIVE with HOMEPATH');
  });

  it('are below the folder of the option', () => {
    expect(windows({}, String.raw`C:\x`)).toEqual({ config: String.raw`C:\x`, certs: String.raw`C:\x\certs` });
  });
});
