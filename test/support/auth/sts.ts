import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { signRequest } from '../../../protocol/sigv4/sign-request.ts';
import type { Credentials } from '../../../protocol/sigv4/credentials.ts';
import { createAccess } from '../../../server/auth/access.ts';
import type { Answer, IncomingRequest } from '../../../server/http/contract/request.ts';
import { testIdentities } from './identities.ts';
import { createStsHandler } from '../../../server/sts/sts-handler.ts';
import type { StsAction } from '../../../server/sts/sts-request.ts';
import { bodyFrom } from '../../../server/objects/contract/body-source.ts';

export const rootKeys = { accessKey: 'root', secretKey: 'root-password' };

/** Access over records in memory. */
export async function testAccess(clock: () => Date = () => new Date()) {
  const { records, identities } = await testIdentities({ clock });
  const root = { user: rootKeys.accessKey, password: rootKeys.secretKey };
  return createAccess({
    records,
    root,
    identities,
    bucketAccess: () => Promise.resolve(undefined),
    objectTags: () => Promise.resolve(undefined),
    objectAcl: () => Promise.resolve(undefined),
    clock,
  });
}

export type Parameters = Readonly<Record<string, string | undefined>>;

/** The form of an SDK; `undefined` takes a parameter out. */
export function form(parameters: Parameters): string {
  const all = { Version: '2011-06-15', ...parameters };
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new URLSearchParams(given).toString();
}

export function formRequest(body: string, changes: Partial<IncomingRequest> = {}): IncomingRequest {
  return {
    requestId: 'REQUEST',
    method: 'POST',
    rawPath: '/',
    rawQuery: '',
    headers: { host: 'sts.test', 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
    body: bodyFrom(Readable.from([Buffer.from(body)])),
    secure: true,
    remoteAddress: '127.0.0.1',
    ...changes,
  };
}

/** Signed for the service `sts`. */
export function signedForm(body: string, credentials: Credentials, now: Date = new Date()): IncomingRequest {
  const unsigned = formRequest(body);
  const added = signRequest(
    { method: 'POST', rawPath: '/', rawQuery: '', headers: { host: 'sts.test' } },
    credentials,
    {
      region: 'us-east-1',
      service: 'sts',
      now,
      payloadHash: createHash('sha256').update(body).digest('hex'),
    },
  );
  return { ...unsigned, headers: { ...unsigned.headers, ...added } };
}

export interface Told {
  readonly status: number;
  readonly xml: string;
  readonly code: string;
  readonly message: string;
  readonly accessKey: string;
  readonly credentials: Credentials & { readonly sessionToken: string };
}

/** What a client reads of the answer. */
export function told(answer: Answer): Told {
  const xml = answer.body.kind === 'bytes' ? answer.body.bytes.toString() : '';
  const accessKey = text(xml, 'AccessKeyId');
  return {
    status: answer.status,
    xml,
    code: text(xml, 'Code'),
    message: text(xml, 'Message'),
    accessKey,
    credentials: {
      accessKey,
      secretKey: text(xml, 'SecretAccessKey'),
      sessionToken: text(xml, 'SessionToken'),
    },
  };
}

export function text(xml: string, name: string): string {
  return (new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? '').replaceAll('&quot;', '"');
}

const silence = () => undefined;
export const silent = { debug: silence, info: silence, warn: silence, error: silence };

export function serving(...actions: readonly StsAction[]) {
  const handle = createStsHandler({ actions, log: silent });
  return async (request: IncomingRequest) => told(await handle(request));
}
