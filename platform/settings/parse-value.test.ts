import { describe, expect, it } from 'vitest';
import { parseValue } from './parse-value.ts';
import type { SettingType } from '../../protocol/settings/setting.ts';

const url: SettingType = { kind: 'url' };
const urls: SettingType = { kind: 'url', list: true };
const duration: SettingType = { kind: 'duration' };
const size: SettingType = { kind: 'size' };
const share: SettingType = { kind: 'size', percent: true };

describe('parseValue', () => {
  it.each([
    ['https://a:1/', url, 'https://a:1'],
    ['https://a, https://b', urls, ['https://a', 'https://b']],
    ['https://kes{1...3}:7373', urls, ['https://kes1:7373', 'https://kes2:7373', 'https://kes3:7373']],
    ['ON', { kind: 'on-off' }, true],
    ['disabled', { kind: 'on-off' }, false],
    [' a,,b ', { kind: 'list' }, ['a', 'b']],
    ['1h30m', duration, 5_400_000],
    ['90', duration, 90_000],
    ['7d', duration, 604_800_000],
    ['24d', duration, 24 * 86_400_000],
    ['10GiB', size, { kind: 'bytes', bytes: 10 * 2 ** 30 }],
    ['1.5 MB', size, { kind: 'bytes', bytes: 1_500_000 }],
    ['2.5%', share, { kind: 'percent', percent: 2.5 }],
  ] as [string, SettingType, unknown][])('reads %j', (text, type, expected) => {
    expect(parseValue(text, type)).toEqual(expected);
  });

  it.each([
    ['ftp://a', url, 'https://'],
    ['https://a{9...1}', urls, '1 to 64 hosts'],
    ['maybe', { kind: 'on-off' }, 'on or off'],
    [' , ', { kind: 'list' }, 'the list has no value'],
    ['1e3', { kind: 'integer', min: 1, max: 5_000 }, '1 to 5000'],
    ['6', { kind: 'integer', min: 1, max: 5 }, '1 to 5'],
    ['x', { kind: 'choice', of: ['a', 'b'] }, 'a, b'],
    ['5 parsecs', duration, '1h30m'],
    ['25d', duration, 'from 0s to 24d'],
    ['999999999d', duration, 'from 0s to 24d'],
    ['0s', { kind: 'duration', min: '1s' }, 'from 1s to 24d'],
    ['366d', { kind: 'duration', max: '365d' }, 'from 0s to 365d'],
    ['5%', size, '500MiB'],
    ['101%', share, '1%'],
  ] as [string, SettingType, string][])('refuses %j and says what it expects', (text, type, expected) => {
    expect(() => parseValue(text, type)).toThrow(expected);
  });
});
