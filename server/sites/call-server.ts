import { buffer } from 'node:stream/consumers';
import { ResponseError } from '../../protocol/response-error.ts';
import type { CallableServer, ServerCall } from '../administration/other-servers.ts';
import { answerTo, type PeerCredentials, signedRequest } from './signed-request.ts';

interface ServerAddress {
  /** `HOST:PORT`. */
  readonly endpoint: string;
  readonly secure: boolean;
}

/** Milliseconds until the head of an answer. Profiles take their duration longer. */
const answerMs = 10_000;
const maxProfileMs = 11 * 60_000;
/** Milliseconds of silence after which the operating system asks whether the other side is still there. */
const keepAliveMs = 10_000;
const noBody = Buffer.alloc(0);

/** Makes another server of this deployment callable with its root credentials. The answer may have no end. */
export function callableServer({ endpoint, secure }: ServerAddress, credentials: PeerCredentials): CallableServer {
  return {
    endpoint,
    async call({ method, call, query }: ServerCall, signal) {
      // An answer without an end would occupy a place of a pool, so that the request has a connection of its own.
      const request = signedRequest(`${secure ? 'https' : 'http'}://${endpoint}`, credentials, {
        method,
        call,
        query,
        body: noBody,
        signal,
        idleMs: method === 'POST' ? maxProfileMs : answerMs,
      });
      try {
        request.once('socket', (socket) => socket.setKeepAlive(true, keepAliveMs));
        const answered = answerTo(request);
        request.end();
        const answer = await answered;
        request.setTimeout(0);
        if (answer.statusCode === 200) return answer as AsyncIterable<Buffer>;
        const text = (await buffer(answer)).toString('utf8', 0, 500);
        throw new Error(`it answered ${answer.statusCode}: ${messageOf(text)}`);
      } catch (error) {
        request.destroy();
        signal.throwIfAborted();
        const reason = error instanceof Error ? error.message : String(error);
        throw new ResponseError('away', `the server ${endpoint} cannot be asked: ${reason}`, { cause: error });
      }
    },
  };
}

/** Returns the message of an error document of the admin API. */
function messageOf(text: string): string {
  return /"Message":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text;
}
