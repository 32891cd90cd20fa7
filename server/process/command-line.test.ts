import { describe, expect, it } from 'vitest';
import { folderOf, parseArguments } from './command-line.ts';

describe('the command line of the server', () => {
  it('has a data folder, or none', () => {
    expect(folderOf(['/data'])).toBe('/data');
    expect(folderOf([])).toBeUndefined();
  });

  it('takes the command of MinIO', () => {
    expect(parseArguments(['server', '--console-address', ':9001', '/data'])).toEqual({
      folder: '/data',
      consoleAddress: ':9001',
    });
  });

  it('takes a folder that is called server', () => {
    expect(folderOf(['server'])).toBe('server');
    expect(folderOf(['server', 'server'])).toBe('server');
  });

  it.each([
    [['/disk1', '/disk2']],
    [['server', '/disk1', '/disk2']],
    [['/disk{1...4}']],
    [['server', 'http://h{1...4}/d']],
  ])('refuses the drives %j', (words) => {
    expect(() => folderOf(words)).toThrow('one data folder');
  });
});
