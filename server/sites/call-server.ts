import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { timeoutText } from '../../platform/message-text.ts';
import { ResponseError } from '../../protocol/response-error.ts';
import { percentEncode } from '../../protocol/sigv4/signature.ts';
import { signRequest } from '../../protocol/sigv4/sign-request.ts';
import type { CallableServer, ServerCall } from '../administration/other-servers.ts';
import type { PeerCredentials } from './peer-client.ts';

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

/** Makes another server of this deployment callable with its root credentials. The answer may have no end. */
export function callableServer({ endpoint, secure }: ServerAddress, credentials: PeerCredentials): CallableServer {
  return {
    endpoint,
    async call({ method, call, query }: ServerCall, signal) {
      const url = new URL(`${secure ? 'https' : 'http'}://${endpoint}`);
      const rawPath = `/minio/admin/v3/${call}`;
      const rawQuery = Object.entries(query)
        .map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`)
        .join('&');
      const unsigned = { host: url.host, 'content-length': '0' };
      const signed = signRequest({ method, rawPath, rawQuery, headers: unsigned }, credentials, {
        region: 'us-east-1',
        service: 's3',
        now: new Date(),
        payloadHash: createHash('sha256').digest('hex'),
      });
      const request = (secure ? httpsRequest : httpRequest)({
        // An answer without an end would occupy a place of a pool.
        agent: false,
        host: url.hostname.replaceAll(/[[\]]/g, ''),
        port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
        method,
        path: `${rawPath}?${rawQuery}`,
        headers: { ...unsigned, ...signed },
        signal,
      });
      try {
        const waitMs = method === 'POST' ? maxProfileMs : answerMs;
        request.setTimeout(waitMs, () => request.destroy(new Error(`it did not answer within ${timeoutText(waitMs)}`)));
        request.once('socket', (socket) => socket.setKeepAlive(true, keepAliveMs));
        const answered = once(request, 'response') as Promise<[IncomingMessage]>;
        request.end();
        const [answer] = await answered;
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
