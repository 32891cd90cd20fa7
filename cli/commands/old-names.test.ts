import { describe, expect, it } from 'vitest';
import { presentWords } from './old-names.ts';

const present = (line: string): string =>
  presentWords(line.split(' '), (word) => !word.startsWith('-')).words.join(' ');

describe('the words of older releases', () => {
  it.each([
    ['policy set public mine/photos', 'anonymous set public mine/photos'],
    ['policy download mine/photos', 'anonymous set download mine/photos'],
    ['--json policy list mine', '--json anonymous list mine'],
    ['config host add mine http://h k s --api S3v4 --lookup dns', 'alias set mine http://h k s --api S3v4 --path off'],
    ['config host add mine http://h k s --lookup=path', 'alias set mine http://h k s --path on'],
    ['config host ls', 'alias list'],
    ['config host rm mine', 'alias remove mine'],
    ['ilm add --expiry-days 3 mine/logs', 'ilm rule add --expiry-days 3 mine/logs'],
    ['ilm ls mine/logs', 'ilm rule list mine/logs'],
    ['admin policy add mine readers p.json', 'admin policy create mine readers p.json'],
    ['admin policy set mine readers,writers user=ann', 'admin policy attach mine readers writers --user ann'],
    ['admin policy set mine readers group=staff', 'admin policy attach mine readers --group staff'],
    ['admin policy unset mine readers user=ann', 'admin policy detach mine readers --user ann'],
    ['admin bucket quota mine/photos --hard 10GiB', 'quota set mine/photos --size 10GiB'],
    ['admin bucket quota --clear mine/photos', 'quota clear mine/photos'],
    ['admin bucket quota mine/photos', 'quota info mine/photos'],
    ['admin bucket info mine/photos', 'stat mine/photos'],
    ['admin speedtest mine', 'support perf mine'],
    ['admin --json inspect mine/b/o', 'support inspect --json mine/b/o'],
  ])('%s is %s', (was, now) => {
    expect(present(was)).toBe(now);
  });

  it.each([
    'cp policy mine/b',
    'ilm rule add mine/b',
    'anonymous set public mine/b',
    'ls list',
    'help policy',
    'admin policy attach mine a --user u',
    '',
  ])('leaves %s alone', (line) => {
    expect(presentWords(line.split(' '), () => true)).toEqual({ words: line.split(' ') });
  });

  it.each([
    ['admin heal mine', 'no drives'],
    ['admin --json decommission start mine', 'no drives'],
    ['admin update mine', 'image'],
    ['admin profile start mine', 'coffer support profile'],
    ['support callhome enable mine', 'sends nothing anywhere'],
    ['config', 'coffer alias'],
    ['copy a mine/b', 'coffer cp'],
  ])('says why there is no command %s', (line, reason) => {
    expect(() => present(line)).toThrow(reason);
  });
});
