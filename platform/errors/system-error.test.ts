import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { errorText, fileErrorReason, systemErrorCode } from './system-error.ts';

const failure = (path: string) =>
  readFile(path).then(
    () => undefined,
    (error: unknown) => error,
  );

describe('the code of an error of the system', () => {
  it('is its name', async () => {
    expect(systemErrorCode(await failure('/none'))).toBe('ENOENT');
    expect(systemErrorCode(await failure('/proc/version/x'))).toBe('ENOTDIR');
  });

  it.each([
    ['EDQUOT', 'Unknown system error -122', -122],
    ['ESTALE', 'Unknown system error -116', -116],
    // As writeSync reports them.
    ['EDQUOT', 'UNKNOWN', -122],
    ['ESTALE', 'UNKNOWN', -116],
    ['EFBIG', 'EFBIG', -27],
    ['EAGAIN', undefined, -11],
  ])('is %s where Node says %j', (name, code, errno) => {
    expect(systemErrorCode(Object.assign(new Error('failed'), { code, errno, syscall: 'write' }))).toBe(name);
  });

  it('is that of the number that LMDB gives', () => {
    expect(systemErrorCode(Object.assign(new Error('No space left on device'), { code: 28 }))).toBe('ENOSPC');
    expect(systemErrorCode(Object.assign(new Error('MDB_MAP_FULL'), { code: -30_792 }))).toBeUndefined();
  });

  it('is none for other errors', () => {
    expect(systemErrorCode(new Error('x'))).toBeUndefined();
    expect(systemErrorCode('ENOENT')).toBeUndefined();
  });
});

describe('an error of the system', () => {
  it('is told by its path and in words', async () => {
    expect(errorText(await failure('/none'))).toBe('/none: no such file or folder');
    expect(errorText(await failure('/proc/version/x'))).toBe('/proc/version/x: a part of the path is no folder');
  });

  it('is told in words where the message names the file', async () => {
    expect(fileErrorReason(await failure('/none'))).toBe('no such file or folder');
    expect(fileErrorReason(await failure('/'))).toBe('it is a folder');
  });

  it.each([
    [
      'of a connection',
      Object.assign(new Error('connect EACCES'), { syscall: 'connect', code: 'EACCES', address: 'x' }),
    ],
    ['without a code', new Error('connect EACCES')],
    [
      'of a library of TLS',
      new Error('C0F6557F:error:0A00010B:SSL routines:tls_validate_record_header:connect EACCES:../deps/x.c:78:'),
    ],
    ['of a host with one address', new AggregateError([new Error('connect EACCES')])],
  ])('%s keeps its message', (_what, error) => {
    expect(errorText(error)).toBe('connect EACCES');
  });

  it('may be no error', () => {
    expect(errorText('nonsense')).toBe('nonsense');
  });
});
