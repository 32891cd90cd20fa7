import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { startAfter } from './pipeline.ts';

function response() {
  const headers = new Map<string, string>();
  return Object.assign(new EventEmitter(), { headersSent: false, headers, setHeader: headers.set.bind(headers) });
}

/** A connection that is full: 100 requests wait, each for the response of the one before. */
function fullConnection() {
  const calls: string[] = [];
  const socket = { destroyed: false, pause: () => undefined, resume: () => calls.push('resume') } as unknown as Socket;
  const responses = Array.from({ length: 101 }, response);
  const send = (before: (typeof responses)[number] | undefined) =>
    startAfter(before as unknown as ServerResponse, { socket } as IncomingMessage, () => calls.push('start'));
  expect(responses.slice(0, 100).map(send)).not.toContain(false);
  return { responses, send, calls };
}

it('refuses the request after a hundred that wait, and has the connection closed after the last response', () => {
  const { responses, send } = fullConnection();
  const last = responses.at(-1);
  expect(send(last)).toBe(false);
  expect(last?.headers.get('connection')).toBe('close');
});

it('refuses every request after a refused one, though there is room again: they would be answered out of order', () => {
  const { responses, send, calls } = fullConnection();
  send(responses.at(-1));
  for (const response of responses.slice(0, 100)) response.emit('close');
  expect(calls).toEqual(Array.from({ length: 100 }, () => 'start'));
  expect(send(responses.at(-1))).toBe(false);
});
