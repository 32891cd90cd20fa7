import { FormatError } from '../../protocol/format-error.ts';
import type { IncomingHttpHeaders } from 'node:http';
import { cheapestAnswer, decryptPayload, encryptPayload } from '../../protocol/admin/admin-payload.ts';
import { percentEncode } from '../../protocol/uri/percent-encoding.ts';
import { ProgramError } from '../../platform/errors/program-error.ts';
import type { Context } from './context.ts';
import type { Query, S3Client, S3Request, S3Response } from '../s3/client.ts';
import type { Retries } from '../s3/retry.ts';
import { parseRemote } from '../config/target.ts';
import type { Readable } from 'node:stream';
import { ResponseError } from '../../protocol/response-error.ts';

export interface AdminRequest {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** The path below the prefix of the API, percent-encoded, for example `add-user`. */
  readonly call: string;
  /** `kms` is the API of keys; `coffer` has the calls that only Coffer supports. */
  readonly api?: 'kms' | 'coffer';
  readonly query?: Query;
  /** A text is sent as it is, any other value as JSON. */
  readonly body?: unknown;
  /** The client encrypts the body with the secret key of the alias. */
  readonly encrypted?: true;
  readonly retries?: Retries;
}

interface Refusal {
  readonly Code?: string;
  readonly Message?: string;
  readonly RequestId?: string;
}

const prefixes = { admin: '/minio/admin/v3/', kms: '/minio/kms/v1/', coffer: '/minio/admin/coffer/v1/' } as const;

/** A client of the admin API of one server, which is that of MinIO. A refused request is a `ResponseError`. */
export class AdminClient {
  readonly #client: S3Client;

  constructor(client: S3Client) {
    this.#client = client;
  }

  /** Sends a request and ignores the body of the answer. */
  async send(request: AdminRequest): Promise<IncomingHttpHeaders> {
    return (await this.bytes(request)).headers;
  }

  async json<T>(request: AdminRequest): Promise<T> {
    return parsed((await this.bytes(request)).bytes) as T;
  }

  /** Waits for an operation that takes long. The server sends the status 200 before it knows the result, so a failure is in the body. */
  async longRunning<T extends object>(request: AdminRequest): Promise<T> {
    const answer = await this.json<T & Refusal>(request);
    if (answer.Code === undefined || answer.RequestId === undefined) return answer;
    throw new ResponseError(answer.Code, answer.Message ?? '', { status: 500 });
  }

  /** Decrypts an answer that the server encrypted with the secret key of the alias. */
  async decryptedText(request: AdminRequest): Promise<string> {
    return (await this.#decrypt((await this.bytes(request)).bytes)).toString('utf8');
  }

  async decryptedJson<T>(request: AdminRequest): Promise<T> {
    return parsed(Buffer.from(await this.decryptedText(request))) as T;
  }

  async bytes(request: AdminRequest): Promise<{ readonly headers: IncomingHttpHeaders; readonly bytes: Buffer }> {
    return this.#client.bytes(await this.#toS3Request(request));
  }

  /** Returns the body as a stream that ends when the caller stops reading. */
  async stream(request: AdminRequest): Promise<S3Response> {
    return this.#client.send(await this.#toS3Request(request));
  }

  async #toS3Request({ method, call, api, query, body, encrypted, retries }: AdminRequest): Promise<S3Request> {
    const plain = body === undefined ? undefined : bytesOf(body);
    return {
      method,
      path: `${prefixes[api ?? 'admin']}${call}`,
      region: 'empty',
      query,
      body: plain !== undefined && encrypted ? await encryptPayload(this.#secret, plain) : plain,
      headers: {
        ...cheapestAnswer,
        ...(encrypted && { 'content-type': 'application/octet-stream' }),
      },
      retries,
    };
  }

  async #decrypt(bytes: Buffer): Promise<Buffer> {
    try {
      // Some servers answer a change with an empty body.
      return bytes.length === 0 ? bytes : await decryptPayload(this.#secret, bytes);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      throw new ProgramError('Failed', 'The answer cannot be read with the secret key of this alias', { cause: error });
    }
  }

  get #secret(): string {
    return this.#client.alias.secretKey;
  }
}

/** Opens a client for the server with this alias. */
export async function adminOf(context: Context, argument: string): Promise<AdminClient> {
  const { alias, aliasName, bucket } = parseRemote(argument.replace(/\/+$/, ''), await context.aliases());
  if (bucket !== '')
    throw new ProgramError('BadArgument', `Invalid alias \`${argument}\`: name a server, without a bucket`);
  if (alias.accessKey === '' && alias.webIdentity === undefined) {
    throw new ProgramError(
      'BadAlias',
      `The alias \`${aliasName}\` has no keys, and anonymous callers cannot administer: ` +
        `\`coffer alias set ${aliasName} ${alias.url}\` asks for those of an administrator`,
    );
  }
  return new AdminClient(await context.client(alias));
}

/** Encodes a name as a segment of a path. */
export function pathPart(name: string): string {
  return percentEncode(name);
}

function bytesOf(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.length === 0 ? '{}' : bytes.toString('utf8'));
  } catch (error) {
    throw new ProgramError(
      'Failed',
      'The server answered with something other than JSON; is it one of Coffer or MinIO?',
      {
        cause: error,
      },
    );
  }
}

/** Bytes. One line holds a request or a log message. */
const maxLineBytes = 1024 * 1024;

/** Parses a stream of JSON lines. The generator skips the empty lines that keep the connection alive, and an incomplete last line. */
export async function* jsonLines<T>(stream: Readable): AsyncGenerator<T, void, undefined> {
  let rest = '';
  stream.setEncoding('utf8');
  for await (const chunk of stream as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield parsedLine(line) as T;
    if (rest.length > maxLineBytes)
      throw new ProgramError('Failed', `The server sent a line of more than ${maxLineBytes} bytes`);
  }
}

function parsedLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new ProgramError('Failed', 'The server sent a line that is no JSON', { cause: error });
  }
}
