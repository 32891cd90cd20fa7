import { describe, expect, it } from 'vitest';
import { createLogger } from './logger.ts';
import { formatForTerminal } from './terminal-log-format.ts';

function logTo(options: { isTTY?: boolean; level?: 'info' | 'debug' } = {}) {
  const lines: string[] = [];
  const stream = { write: (line: string) => void lines.push(line), isTTY: options.isTTY === true };
  return { lines, log: createLogger({ name: 'test', stream, level: options.level ?? 'info' }) };
}

describe('the log', () => {
  it('writes a JSON line with time, level and name', () => {
    const { lines, log } = logTo();
    log.info({ bucket: 'photos' }, 'created');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'info', name: 'test', bucket: 'photos', msg: 'created' });
    expect((JSON.parse(lines[0] ?? '') as { time: string }).time).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
  });

  it('writes nothing below its level', () => {
    const { lines, log } = logTo();
    log.debug('detail');
    expect(lines).toEqual([]);
  });

  it('hides secrets in fields, messages, errors and children', () => {
    const { lines, log } = logTo();
    log.info({ headers: { authorization: 'hunter2' } }, 'GET /?X-Amz-Signature=hunter2');
    log.error(Object.assign(new Error('https://u:hunter2@host/'), { token: 'hunter2' }));
    log.child({ secretKey: 'hunter2' }).warn('child');
    expect(lines).toHaveLength(3);
    expect(lines.join('')).not.toContain('hunter2');
  });

  it('writes short lines on a terminal', () => {
    const { lines, log } = logTo({ isTTY: true });
    log.warn({ port: 9000 }, 'busy');
    expect(lines[0]).toMatch(/busy/);
    expect(lines[0]).toMatch(/port=9000/);
    expect(() => void JSON.parse(lines[0] ?? '')).toThrow();
  });
});

describe('a line on a terminal', () => {
  it('holds time, level, name, message and fields', () => {
    const line = JSON.stringify({
      level: 'info',
      time: '2026-01-02T03:04:05.678Z',
      name: 'keysvc',
      msg: 'ready',
      port: 1,
    });
    expect(formatForTerminal(line, false)).toBe('03:04:05 info  keysvc  ready  port=1\n');
  });

  it('shows the cause of an error without its stack', () => {
    const err = { message: 'refused', code: 'ECONNREFUSED', stack: 'at x' };
    const line = JSON.stringify({ level: 'error', time: '2026-01-02T03:04:05.678Z', name: 'k', msg: 'failed', err });
    expect(formatForTerminal(line, false)).toBe('03:04:05 error k  failed\n    refused (ECONNREFUSED)\n');
  });

  it('passes on what is not JSON', () => {
    expect(formatForTerminal('hello\n', false)).toBe('hello\n');
  });

  // Callers without credentials choose parts of messages.
  it('gives no control of the terminal to what a caller sent, and looks like no other line', () => {
    const line = JSON.stringify({
      level: 'warn',
      time: '2026-01-02T03:04:05.678Z',
      name: 's\u001b[2J',
      msg: 'not "\u001b[2J\u009b1m\u202ex"\n03:04:06 info  fake',
      user: 'a\rb\u0007',
      err: { message: 'c\u001b]0;title\u0007\nd', code: 'E\u001b' },
    });
    expect(formatForTerminal(line, false)).toBe(
      String.raw`03:04:05 warn  s\x1b[2J  not "\x1b[2J\x9b1m\u202ex"` +
        '\n    03:04:06 info  fake' +
        String.raw`  user=a\x0db\x07` +
        '\n' +
        String.raw`    c\x1b]0;title\x07` +
        '\n    ' +
        String.raw`d (E\x1b)` +
        '\n',
    );
  });
});
