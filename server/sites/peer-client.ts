import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { z } from 'zod';
import { cheapestAnswer, decryptPayload, encryptPayload } from '../../protocol/admin/admin-payload.ts';
import { FormatError } from '../../protocol/format-error.ts';
import { ResponseError } from '../../protocol/response-error.ts';
import { answerTo, type PeerCredentials, signedRequest } from './signed-request.ts';

interface Peer {
  readonly name: string;
  readonly endpoint: string;
  /** Another server of this deployment. Absent for another site. */
  readonly kind?: 'server';
}

export interface PeerRequest<T> {
  readonly method: 'GET' | 'PUT';
  /** The path below `site-replication/peer/`. */
  readonly call: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Encrypted under the secret key of the caller: the body, the answer, or both. */
  readonly sealed?: 'body' | 'answer';
  readonly answer: z.ZodType<T>;
  /** Milliseconds without traffic, after which the site counts as away. */
  readonly idleMs?: number;
}

/**
 * Calls another site. Rejects with a `ResponseError`. Its code is `away` where the site does not answer, `refused`, or `no-coffer` for another
 * kind of server or an older Coffer.
 */
export type CallPeer = <T>(peer: Peer, credentials: PeerCredentials, request: PeerRequest<T>) => Promise<T>;

/** Milliseconds without traffic, after which a site counts as away. */
const usualIdleMs = 10_000;
const maxAnswerBytes = 64 * 1024 * 1024;
const keepMs = 4_000;
const prefix = 'site-replication/peer/';

const refusal = z.object({ Code: z.string(), Message: z.string().default('') });

/** Calls the admin API of other sites over connections that it keeps, until `close`. */
export function peerCaller(): { readonly call: CallPeer; close(): void } {
  const options = { keepAlive: true, timeout: keepMs, maxSockets: 8 };
  const agents = { http: new Agent(options), https: new HttpsAgent(options) };
  return {
    async call(peer, credentials, asked) {
      const plain = Buffer.from(asked.body === undefined ? '' : JSON.stringify(asked.body));
      const body = asked.sealed === 'body' ? await encryptPayload(credentials.secretKey, plain) : plain;
      const { status, bytes } = await exchange(peer, credentials, asked, body, agents).catch((error: unknown) => {
        throw new ResponseError('away', `${shown(peer)} cannot be reached: ${reasonOf(error)}`, { cause: error });
      });
      if (status !== 200) throw rejected(peer, status, bytes);
      return read(peer, asked, await opened(peer, credentials, asked, bytes));
    },
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

async function exchange(
  { endpoint }: Peer,
  credentials: PeerCredentials,
  { method, call, query = {}, idleMs = usualIdleMs }: Omit<PeerRequest<unknown>, 'answer'>,
  body: Buffer,
  agents: { readonly http: Agent; readonly https: HttpsAgent },
): Promise<{ readonly status: number; readonly bytes: Buffer }> {
  const request = signedRequest(endpoint, credentials, {
    method,
    call: `${prefix}${call}`,
    query,
    headers: cheapestAnswer,
    body,
    agents,
    idleMs,
  });
  const answered = answerTo(request);
  request.end(body);
  const answer = await answered;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxAnswerBytes) throw new Error(`the answer is longer than ${maxAnswerBytes} bytes`);
    chunks.push(chunk);
  }
  return { status: answer.statusCode ?? 0, bytes: Buffer.concat(chunks) };
}

/** Sends bytes for a while over a connection of its own. Rejects with a `ResponseError`, or the reason of the signal. */
export type UploadToPeer = (
  peer: Peer,
  credentials: PeerCredentials,
  options: { readonly durationMs: number; readonly signal: AbortSignal },
) => Promise<{ readonly bytes: number; readonly ms: number }>;

const uploadChunk = 256 * 1024;

export const uploadToPeer: UploadToPeer = async (peer, credentials, { durationMs, signal }) => {
  // A pool would make the uploads wait for each other.
  const request = signedRequest(peer.endpoint, credentials, {
    method: 'POST',
    call: `${prefix}devnull`,
    body: 'stream',
    idleMs: usualIdleMs,
    signal,
  });
  try {
    const answered = answerTo(request);
    // A refusal comes before the end, and so does an error of the connection.
    const early = new AbortController();
    const ends = answered.then(
      () => early.abort(),
      () => early.abort(),
    );
    const chunk = randomBytes(uploadChunk);
    const began = performance.now();
    let bytes = 0;
    // The first chunk goes out even if the machine was too busy to begin within the time.
    do {
      bytes += chunk.length;
      if (!request.write(chunk)) await Promise.race([once(request, 'drain'), ends]);
    } while (!early.signal.aborted && performance.now() - began < durationMs);
    request.end();
    const answer = await answered;
    // The site has read everything when it answers.
    const ms = performance.now() - began;
    answer.resume();
    if (answer.statusCode !== 200) throw rejected(peer, answer.statusCode ?? 0, Buffer.alloc(0));
    return { bytes, ms };
  } catch (error) {
    request.destroy();
    signal.throwIfAborted();
    if (error instanceof ResponseError) throw error;
    throw new ResponseError('away', `${shown(peer)} cannot be reached: ${reasonOf(error)}`, { cause: error });
  }
};

/** A server that is not a Coffer does not know the call. */
function rejected(peer: Peer, status: number, bytes: Buffer): ResponseError {
  const parsed = refusal.safeParse(jsonOf(bytes));
  const { Code, Message } = parsed.data ?? { Code: String(status), Message: '' };
  const code = Code.slice(0, 100);
  const isUnknownCall = status === 404 || status === 405 || status === 426 || status === 501;
  if (isUnknownCall && code !== 'NoSuchSite') {
    return new ResponseError(
      'no-coffer',
      `${shown(peer)} is no Coffer that can replicate sites (it answered ${status} ${code}): sites replicate between Coffer servers only`,
      { status },
    );
  }
  return new ResponseError('refused', `${shown(peer)} answered ${status} ${code}: ${Message.slice(0, 500)}`, {
    status,
  });
}

async function opened(
  peer: Peer,
  { secretKey }: PeerCredentials,
  { sealed }: Pick<PeerRequest<unknown>, 'sealed'>,
  bytes: Buffer,
): Promise<Buffer> {
  if (sealed !== 'answer') return bytes;
  try {
    return await decryptPayload(secretKey, bytes);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new ResponseError('refused', `the answer of ${shown(peer)} cannot be decrypted`, { cause: error });
  }
}

function read<T>(peer: Peer, { answer }: PeerRequest<T>, bytes: Buffer): T {
  const parsed = answer.safeParse(jsonOf(bytes));
  if (parsed.success) return parsed.data;
  throw new ResponseError(
    'no-coffer',
    `${shown(peer)} answered what a Coffer does not: sites replicate between Coffer servers only`,
  );
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return bytes.length === 0 ? {} : JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

function shown({ name, endpoint, kind }: Peer): string {
  if (kind === 'server') return `the server ${name}`;
  return `the site ${name} (${endpoint})`;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
