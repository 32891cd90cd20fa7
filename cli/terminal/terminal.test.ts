import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { ProgramError } from '../../platform/errors/program-error.ts';
import { describeError, Output } from './output.ts';
import type { Io } from './io.ts';
import { formatDuration, formatSize, formatTime } from './format.ts';
import { printable } from '../../platform/text/printable.ts';
import { renderProgress } from './progress.ts';
import { ResponseError } from '../../protocol/response-error.ts';

describe('formats', () => {
  it.each([
    [0, '0B'],
    [1_023, '1023B'],
    [1_024, '1.0KiB'],
    [1_048_575, '1.0MiB'],
    [5 * 1_024 ** 3, '5.0GiB'],
  ])('%i bytes as %s', (bytes, text) => {
    expect(formatSize(bytes)).toBe(text);
  });

  it.each([
    [0.4, '0 seconds'],
    [61, '1 minute 1 second'],
    [90_061, '1 day 1 hour'],
  ])('%d s as %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });

  it('times with their zone', () => {
    expect(formatTime(new Date())).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d (UTC|[+-]\d\d(\d\d)?)$/);
  });

  it('names without what would command the terminal', () => {
    expect(printable('a\u001b[2Jb\r')).toBe('a\\x1b[2Jb\\x0d');
  });
});

describe('progress', () => {
  const state = { name: 'folder/file', done: 512 * 1_024, total: 1_024 * 1_024, speed: 1_024 };

  it('shows name, amounts, bar, percent, speed and time left', () => {
    expect(renderProgress(state, 120)).toBe(
      'folder/file 512.0KiB / 1.0MiB ┃▓▓▓▓▓▓▓▓▓▓▓▓░░░░░░░░░░░░┃ 50.0% 1.0KiB/s 08:32',
    );
  });

  it.each([1, 10, 40, 79, 80])('never takes more than a line of %i columns', (columns) => {
    const name = 'x'.repeat(200);
    expect(renderProgress({ ...state, name }, columns).length).toBeLessThan(Math.max(2, columns));
  });

  it('is empty before it starts', () => {
    expect(renderProgress({ name: '', done: 0, total: 0, speed: 0 }, 120)).toContain(' 0.0% 0B/s --:--');
  });
});

describe('errors', () => {
  it('say what was done, and what the server said', () => {
    const cause = new ResponseError('NoSuchBucket', 'The bucket does not exist.', {
      status: 404,
      fields: { BucketName: 'b' },
    });
    expect(describeError(new ProgramError('Failed', 'Unable to list `s/b`', { cause }))).toEqual({
      message: 'Unable to list `s/b`',
      cause: 'The bucket does not exist',
      details: { Code: 'NoSuchBucket', Message: 'The bucket does not exist.', BucketName: 'b' },
    });
  });

  it('have a code of the client where no server gave one', () => {
    expect(describeError(new ProgramError('BadArgument', 'Invalid --older-than `x`')).details).toEqual({
      Code: 'BadArgument',
    });
  });

  it('explain what the network says', () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED ::1:9'), { code: 'ECONNREFUSED' });
    expect(describeError(cause, 'Unable to copy').cause).toContain('no server listens there');
  });

  it('are one line without escape sequences', () => {
    const cause = new ResponseError('X', 'a\n\u001b[31mb.', { status: 500 });
    expect(describeError(cause).cause).toBe('a [31mb');
  });
});

it.each([{ json: false }, { json: true }])(
  'a warning with the text of a server is one line, without control characters: %j',
  (options) => {
    let written = '';
    const write = (text: string) => ((written += text), true);
    const stream = { write, writableNeedDrain: false } as unknown as Io['stdout'];
    const io: Io = {
      stdin: Readable.from([]),
      stdout: stream,
      stderr: stream,
      env: {},
      signal: new AbortController().signal,
    };
    new Output(io, options).warn('retry', 'the server says \u001b[31mred\nFAKE: line');
    expect(written).toContain('the server says  [31mred FAKE: line');
    expect(written.slice(0, -1)).not.toMatch(/\p{Cc}/u);
  },
);
