import { ProgramError } from '../../platform/errors/program-error.ts';
import { readSettingFile } from '../../platform/settings/read-setting-file.ts';
import { secretText } from '../../platform/settings/setting-text.ts';
import { fileErrorReason } from '../../platform/errors/system-error.ts';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { signRequest } from '../../protocol/sigv4/sign-request.ts';

/** The options that reach a running server: `--server` and its companions. */
export interface ServerOptions {
  readonly server: string;
  readonly accessKey?: string;
  readonly secretKeyFile?: string;
  readonly caFile?: string;
  readonly region?: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Calls a running server, without a timeout. Returns the document. Throws `ProgramError` with the message of the server. */
export async function callServer(
  options: ServerOptions,
  env: Env,
  call: { readonly method: 'GET' | 'POST'; readonly path: string; readonly query?: Readonly<Record<string, string>> },
  signal: AbortSignal,
): Promise<unknown> {
  const url = addressOf(options.server);
  const rawPath = `/minio/admin/coffer/v1/${call.path}`;
  const rawQuery = new URLSearchParams(call.query).toString();
  const headers = { host: url.host };
  const signed = signRequest({ method: call.method, rawPath, rawQuery, headers }, credentialsOf(options, env), {
    region: options.region ?? 'us-east-1',
    service: 's3',
    now: new Date(),
    payloadHash: createHash('sha256').digest('hex'),
  });
  const { status, text } = await send(
    url,
    options,
    { ...call, path: `${rawPath}?${rawQuery}` },
    { ...headers, ...signed },
    signal,
  );
  return answered(status, text, options.server);
}

function addressOf(server: string): URL {
  if (!URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol)) {
    throw new ProgramError(
      'usage',
      `--server is ${server}: expected the address of a server, such as https://coffer.example.net:9000`,
    );
  }
  const url = new URL(server);
  if (url.password !== '')
    throw new ProgramError('usage', '--server holds a password: give --access-key and --secret-key-file instead');
  return url;
}

function credentialsOf({ accessKey, secretKeyFile }: ServerOptions, env: Env) {
  const key = accessKey ?? env['COFFER_ACCESS_KEY'];
  const file = secretKeyFile ?? env['COFFER_SECRET_KEY_FILE'];
  const secret = file === undefined ? env['COFFER_SECRET_KEY'] : secretIn(file);
  if (key === undefined || secret === undefined || secret === '') {
    throw new ProgramError(
      'usage',
      'a call of a server needs credentials: give --access-key (or COFFER_ACCESS_KEY), and --secret-key-file (or COFFER_SECRET_KEY_FILE, COFFER_SECRET_KEY)',
    );
  }
  return { accessKey: key, secretKey: secret };
}

function secretIn(file: string): string {
  try {
    return secretText(readSettingFile(file));
  } catch (error) {
    throw new ProgramError('usage', `the file of the secret key ${file} cannot be used: ${fileErrorReason(error)}`, {
      cause: error,
    });
  }
}

function send(
  url: URL,
  { caFile }: ServerOptions,
  { method, path }: { readonly method: string; readonly path: string },
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const fail = (error: Error) => {
    reject(
      signal.aborted
        ? error
        : new ProgramError('failed', `${url.origin} cannot be reached: ${error.message}`, { cause: error }),
    );
  };
  const options = { host: url.hostname, port: url.port, method, path, headers, signal };
  const request =
    url.protocol === 'https:'
      ? httpsRequest({ ...options, ...(caFile !== undefined && { ca: readFileSync(caFile) }) })
      : httpRequest(options);
  request.on('error', fail);
  request.on('response', (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', fail);
    response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
  });
  request.end();
  return promise;
}

function answered(status: number, text: string, server: string): unknown {
  let document: unknown;
  try {
    document = text.trim() === '' ? {} : JSON.parse(text);
  } catch {
    throw new ProgramError(
      'failed',
      `${server} answered ${status} and no JSON: is it a Coffer server of this version?`,
    );
  }
  const { Code, Message } = document as { Code?: string; Message?: string };
  if (status === 200 && Code === undefined) return document;
  throw new ProgramError(
    'failed',
    `${server} answered ${Code ?? status}${Message === undefined ? '' : `: ${Message}`}`,
  );
}
