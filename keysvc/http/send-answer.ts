import type { ServerResponse } from 'node:http';
import type { Answer } from '../calls/call.ts';
import type { EventStreams } from './event-streams.ts';
import type { Refused } from './refused.ts';

/** Sends what a call came to, with status 200. Errors with a `Refused` where there are too many streams. */
export function sendAnswer(response: ServerResponse, answer: Answer, streams: EventStreams): void {
  switch (answer.kind) {
    case 'empty':
      response.writeHead(200, { 'content-length': 0 }).end();
      return;
    case 'json':
      return sendText(response, 200, 'application/json', JSON.stringify(answer.body));
    case 'lines':
      return sendText(response, 200, 'application/x-ndjson', answer.text);
    case 'text':
      return sendText(response, 200, answer.contentType, answer.text);
    case 'events':
      return streams.begin(response, answer.source);
  }
}

/** The protocol's form of an error. */
export function sendRefusal(response: ServerResponse, refused: Refused): void {
  for (const [name, value] of Object.entries(refused.headers)) response.setHeader(name, value);
  response.setHeader('x-content-type-options', 'nosniff');
  sendText(response, refused.status, 'application/json', JSON.stringify({ message: refused.message }));
}

function sendText(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text);
}
