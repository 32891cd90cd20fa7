import { EventEmitter } from 'node:events';
import type { Request, Response } from 'express';
import { describe, expect, it, vi } from 'vitest';
import { BodyMemory, sharedBodyMemory } from '../../streams/body-memory.ts';
import { limitBodyMemory } from './limit-body-memory.ts';

/** A console that may hold so many bytes; each request ends when its response closes. */
function consoleWith(max: { readonly known: number; readonly stranger: number }) {
  const memory = new BodyMemory(sharedBodyMemory(), max);
  const hold = limitBodyMemory(memory);
  const send = (path: string, headers: Record<string, string>) => {
    const response = new EventEmitter();
    const next = vi.fn();
    void hold({ path, headers } as unknown as Request, response as unknown as Response, next);
    expect(next).toHaveBeenCalledOnce();
    return { end: () => response.emit('close') };
  };
  return { memory, send };
}

describe('JSON bodies of the console', () => {
  it('count until they are answered, and are refused beyond the total', () => {
    const { memory, send } = consoleWith({ known: 100, stranger: 0 });
    const first = send('/users', { 'content-length': '60' });
    expect(() => send('/users', { 'content-length': '60' })).toThrow('Try again later');
    first.end();
    expect(memory.held('known')).toBe(0);
    send('/users', { 'content-length': '60' }).end();
  });

  it('of a sign-in count as anonymous', () => {
    const { memory, send } = consoleWith({ known: 0, stranger: 50 });
    const one = send('/sign-in', { 'content-length': '40' });
    expect(memory.held('stranger')).toBe(40);
    expect(() => send('/sign-in-by-directory', { 'content-length': '40' })).toThrow('Try again later');
    one.end();
  });

  it.each([
    ['without a body', {}, 0],
    ['of unknown length', { 'transfer-encoding': 'chunked' }, 256 * 1024],
    ['that stream', { 'content-length': '1000000000' }, 0],
  ])('%s count as they should', (_what, headers, held) => {
    const { memory, send } = consoleWith({ known: 1024 * 1024, stranger: 0 });
    const sent = send('/s3/b', headers);
    expect(memory.held('known')).toBe(held);
    sent.end();
  });
});
