import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Agent } from 'node:https';
import type { z } from 'zod';
import {
  decryptAnswer,
  describeKeyAnswer,
  describeSelfAnswer,
  encryptAnswer,
  errorAnswer,
  generateAnswer,
  parseKeyList,
  statusAnswer,
  versionAnswer,
} from '../protocol/key-service/payloads.ts';
import type {
  DescribeKeyAnswer,
  DescribeSelfAnswer,
  StatusAnswer,
  VersionAnswer,
} from '../protocol/key-service/payloads.ts';
import { codeOfAnswer } from '../protocol/key-service/errors.ts';
import type { Method } from '../protocol/key-service/routes.ts';
import { keyServiceLimits } from '../protocol/key-service/routes.ts';
import type { Logger } from './logger.ts';
import { EndpointRotation } from './key-service/endpoint-rotation.ts';
import { KeyServiceError } from './key-service/key-service-error.ts';
import { openAgent } from './key-service/reloading-agent.ts';
import type { ClientCredentials } from './key-service/reloading-agent.ts';

export { KeyServiceError } from './key-service/key-service-error.ts';

export interface KeyServiceClientOptions {
  /** `https://HOST:PORT`, one or several; the port is 7373 where none is written. */
  readonly endpoints: readonly string[];
  readonly credentials: ClientCredentials;
  /** File or folder of the authorities that the service's certificate is checked against; the system's by default. */
  readonly caFile?: string;
  /** Sent only when set. */
  readonly enclave?: string;
  /** Does not check the service's certificate: for tests alone. */
  readonly insecure?: boolean;
  readonly log: Logger;
  /** Milliseconds that one attempt may take; 15 s by default. */
  readonly timeoutMs?: number;
  readonly now?: () => number;
}

export interface GeneratedKey {
  /** 32 bytes. */
  readonly plaintext: Buffer;
  readonly ciphertext: Buffer;
  /** The key ID, where the service tells it. */
  readonly version?: string;
}

/** Calls of the key service. Every method errors with a `KeyServiceError`. */
export interface KeyServiceClient {
  /** Errors with `key-exists` where there is one of that name. */
  createKey(name: string): Promise<void>;
  describeKey(name: string): Promise<DescribeKeyAnswer>;
  /** Names that begin with the prefix, sorted. */
  listKeys(prefix?: string): Promise<string[]>;
  deleteKey(name: string): Promise<void>;
  /** A fresh data key, sealed under the named key and bound to the context. */
  generateKey(name: string, context: Buffer): Promise<GeneratedKey>;
  encryptKey(name: string, plaintext: Buffer, context: Buffer): Promise<{ ciphertext: Buffer; version?: string }>;
  /** Errors with `not-authentic` where key, ciphertext or context are not those it was sealed with. */
  decryptKey(name: string, ciphertext: Buffer, context: Buffer): Promise<Buffer>;
  status(): Promise<StatusAnswer>;
  version(): Promise<VersionAnswer>;
  /** Resolves when the service and its key store answer. */
  ready(): Promise<void>;
  /** Who this client is to the service, and what it may do. */
  describeSelf(): Promise<DescribeSelfAnswer>;
  /** Closes idle connections and stops watching certificate files. Calls under way finish. */
  close(): void;
}

const maxAnswerBytes = 4 * 1024 * 1024;
const setAsideMs = 30_000;

/**
 * Opens a client of the key service over mutual TLS. Connections are reused; certificates are read again when their files change;
 * of several endpoints, each call takes the next, and goes on to another where one cannot be reached or fails (5xx but 501).
 *
 * Errors with a `TlsFilesError` where the certificate files are wrong, and with an `Error` where an endpoint is no address.
 */
export async function openKeyServiceClient(options: KeyServiceClientOptions): Promise<KeyServiceClient> {
  const rotation = new EndpointRotation(options.endpoints, setAsideMs, options.now ?? Date.now);
  const agent = await openAgent(options);
  const timeoutMs = options.timeoutMs ?? keyServiceLimits.timeoutMs;

  async function call(method: Method, path: string, body?: object): Promise<string> {
    let failure: KeyServiceError | undefined;
    for (const endpoint of rotation.candidates()) {
      const url = new URL(path, endpoint);
      if (options.enclave !== undefined) url.searchParams.set('enclave', options.enclave);
      try {
        const answer = await send(url, method, body, agent.current(), timeoutMs);
        rotation.worked(endpoint);
        return answer;
      } catch (error) {
        failure = error instanceof KeyServiceError ? error : unreachable(endpoint, error);
        if (failure.code !== 'unavailable') throw failure;
        rotation.failed(endpoint);
        options.log.debug({ endpoint, err: failure }, 'key service endpoint failed');
      }
    }
    throw failure ?? new KeyServiceError('unavailable', undefined, 'no key service endpoint is configured');
  }
  const post = (api: string, name: string, body?: object) =>
    call('POST', `/v1/key/${api}/${encodeURIComponent(name)}`, body);

  return {
    async createKey(name) {
      await post('create', name);
    },
    async describeKey(name) {
      return read(describeKeyAnswer, await call('GET', `/v1/key/describe/${encodeURIComponent(name)}`));
    },
    async listKeys(prefix = '') {
      const list = readWith(parseKeyList, await call('GET', `/v1/key/list/${encodeURIComponent(prefix)}*`));
      if (list.continueAt !== undefined) {
        throw new KeyServiceError(
          'not-supported',
          200,
          'the key service sends its list in pages: ask for a longer prefix',
        );
      }
      return [...list.names].sort();
    },
    async deleteKey(name) {
      await call('DELETE', `/v1/key/delete/${encodeURIComponent(name)}`);
    },
    async generateKey(name, context) {
      const answer = read(generateAnswer, await post('generate', name, { context: context.toString('base64') }));
      if (answer.plaintext.length !== 32) {
        throw new KeyServiceError(
          'unavailable',
          200,
          `the key service made a data key of ${answer.plaintext.length} bytes, not 32`,
        );
      }
      return withVersion({ plaintext: answer.plaintext, ciphertext: answer.ciphertext }, answer.version);
    },
    async encryptKey(name, plaintext, context) {
      const body = { plaintext: plaintext.toString('base64'), context: context.toString('base64') };
      const answer = read(encryptAnswer, await post('encrypt', name, body));
      return withVersion({ ciphertext: answer.ciphertext }, answer.version);
    },
    async decryptKey(name, ciphertext, context) {
      const body = { ciphertext: ciphertext.toString('base64'), context: context.toString('base64') };
      return read(decryptAnswer, await post('decrypt', name, body)).plaintext;
    },
    async status() {
      return read(statusAnswer, await call('GET', '/v1/status'));
    },
    async version() {
      return read(versionAnswer, await call('GET', '/version'));
    },
    async ready() {
      await call('GET', '/v1/ready');
    },
    async describeSelf() {
      return read(describeSelfAnswer, await call('GET', '/v1/identity/self/describe'));
    },
    close: () => agent.close(),
  };
}

/** One attempt. Where the service closed a kept connection at the same moment, it is made once more on a fresh one. */
async function send(
  url: URL,
  method: Method,
  body: object | undefined,
  agent: Agent,
  timeoutMs: number,
): Promise<string> {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  try {
    return await exchange(url, method, payload, agent, timeoutMs);
  } catch (error) {
    if (!(error instanceof StaleConnection)) throw error;
    return exchange(url, method, payload, agent, timeoutMs);
  }
}

class StaleConnection extends Error {}

function exchange(
  url: URL,
  method: Method,
  payload: string | undefined,
  agent: Agent,
  timeoutMs: number,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const headers =
    payload === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) };
  const request = httpsRequest(url, { method, agent, headers, signal: AbortSignal.timeout(timeoutMs) });
  request.on('error', (error: NodeJS.ErrnoException) => {
    if (request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')) {
      reject(new StaleConnection('the connection was closed before an answer came', { cause: error }));
    } else if (error.name === 'TimeoutError' || error.name === 'AbortError') {
      reject(new Error(`no answer within ${timeoutMs} ms`));
    } else reject(error);
  });
  request.on('response', (response) => {
    readAnswer(response).then(resolve, reject);
  });
  request.end(payload);
  return promise;
}

async function readAnswer(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxAnswerBytes) {
      response.destroy();
      throw new KeyServiceError(
        'unavailable',
        response.statusCode,
        `the answer is larger than ${maxAnswerBytes} bytes`,
      );
    }
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  const status = response.statusCode ?? 0;
  if (status === 200) return text;
  const message = messageOf(text) ?? `status ${status}`;
  throw new KeyServiceError(codeOfAnswer(status, message), status, message);
}

function messageOf(text: string): string | undefined {
  try {
    const { message, error } = errorAnswer.parse(JSON.parse(text));
    return message ?? error;
  } catch {
    const line = text.trim().slice(0, 200);
    return line === '' ? undefined : line;
  }
}

function read<T>(schema: z.ZodType<T>, text: string): T {
  return readWith((text) => schema.parse(JSON.parse(text)), text);
}

function readWith<T>(parse: (text: string) => T, text: string): T {
  try {
    return parse(text);
  } catch (error) {
    // The answer may hold a data key: neither it nor a parser's quotation of it goes into the message.
    throw new KeyServiceError('unavailable', 200, 'the key service sent an answer that is not of its protocol', {
      cause: error instanceof SyntaxError ? undefined : error,
    });
  }
}

function withVersion<T extends object>(answer: T, version: string | undefined): T & { version?: string } {
  return version === undefined || version === '' ? answer : { ...answer, version };
}

function unreachable(endpoint: string, error: unknown): KeyServiceError {
  const reason = error instanceof Error ? error.message : String(error);
  return new KeyServiceError('unavailable', undefined, `the key service ${endpoint} cannot be reached: ${reason}`, {
    cause: error,
  });
}
