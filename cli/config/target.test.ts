import { describe, expect, it } from 'vitest';
import type { Alias } from './aliases.ts';
import { parseBucket, parseObject, parseRemote, parseTarget } from './target.ts';
import { addressOf } from '../s3/client.ts';

const alias: Alias = { url: 'http://h:9000', accessKey: '', secretKey: '', api: 'S3v4', path: 'auto' };
const aliases = new Map([['s', alias]]);

describe('an argument', () => {
  it.each([
    ['s', '', ''],
    ['s/', '', ''],
    ['s/bucket', 'bucket', ''],
    ['s/bucket/', 'bucket', ''],
    ['s/bucket/a/b', 'bucket', 'a/b'],
    ['s/bucket//a/', 'bucket', '/a/'],
    ['s///bucket//a/', 'bucket', '/a/'],
    ['s//', '', ''],
    ['s/bucket/../x', 'bucket', '../x'],
  ])('%s is on a server', (text, bucket, key) => {
    expect(parseTarget(text, aliases)).toMatchObject({ kind: 'remote', bucket, key });
  });

  it.each(['./s/bucket', '/s', 't/bucket', 's3', '.'])('%s is a path', (text) => {
    expect(parseTarget(text, aliases)).toEqual({ kind: 'local', path: text });
  });

  it.each([
    ['s/Bucket/x', 'Invalid bucket name `Bucket`'],
    ['t/bucket', 'No such alias `t`'],
  ])('%s is refused', (text, message) => {
    expect(() => parseRemote(text, aliases)).toThrow(message);
  });

  it.each([
    [String.raw`s\bucket\a\b`, { kind: 'remote', bucket: 'bucket', key: 'a/b' }],
    [String.raw`s/bucket/a\b`, { kind: 'remote', bucket: 'bucket', key: String.raw`a\b` }],
    [String.raw`C:\s\x`, { kind: 'local', path: 'C:/s/x' }],
    [String.raw`.\s\x`, { kind: 'local', path: './s/x' }],
  ])('%s is read by the rules of Windows', (text, expected) => {
    expect(parseTarget(text, aliases, 'win32')).toMatchObject(expected);
  });

  it('keeps back-slashes elsewhere', () => {
    expect(parseTarget(String.raw`s\bucket`, aliases, 'linux')).toEqual({ kind: 'local', path: String.raw`s\bucket` });
  });

  it('must be a bucket, or an object, where the command needs it', () => {
    expect(() => parseBucket('s', aliases)).toThrow('name a bucket');
    expect(() => parseBucket('s/bucket/key', aliases)).toThrow('without a key');
    expect(() => parseObject('s/bucket', aliases)).toThrow('name an object');
  });
});

describe('the address of a bucket', () => {
  it.each<[Partial<Alias>, string, string]>([
    [{}, 'h:9000', '/bucket/a%20b'],
    [{ path: 'off' }, 'bucket.h:9000', '/a%20b'],
    [{ url: 'https://s3.eu-west-1.amazonaws.com' }, 'bucket.s3.eu-west-1.amazonaws.com', '/a%20b'],
    [{ url: 'https://s3.amazonaws.com', path: 'on' }, 's3.amazonaws.com', '/bucket/a%20b'],
    [{ url: 'https://amazonaws.com.evil.example' }, 'amazonaws.com.evil.example', '/bucket/a%20b'],
  ])('%j', (changed, host, rawPath) => {
    expect(addressOf({ ...alias, ...changed }, 'bucket', 'a b', {})).toEqual({ host, rawPath, rawQuery: '' });
  });

  it('is in the path where a dot in the name would not fit the certificate', () => {
    expect(addressOf({ ...alias, url: 'https://s3.amazonaws.com' }, 'my.bucket', 'k', {}).host).toBe(
      's3.amazonaws.com',
    );
  });
});
