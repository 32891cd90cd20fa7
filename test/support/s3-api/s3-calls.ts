import type { Answer, IncomingRequest, RequestHandler } from '../../../server/http/contract/request.ts';
import type { AccessRequest, Decision } from '../../../server/auth/principal.ts';
import type { Chunks } from '../../../server/streams/chunks.ts';
import { testLayer, type TestLayer } from '../objects/test-layer.ts';
import type { Replications } from '../../../server/s3/operation.ts';
import { createS3Api, type S3Services } from '../../../server/s3/s3-api.ts';
import { CrossOrigin } from '../../../server/s3/cross-origin.ts';
import { bodyFrom } from '../../../server/objects/contract/body-source.ts';
import { answerError } from '../../../server/http/contract/error-answer.ts';
import { createHostStyleFinder } from '../../../server/http/contract/host-style.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The code of a refusal; undefined otherwise. */
  readonly code: string | undefined;
  /** The XML of a refusal; '' otherwise. */
  readonly refusal: string;
  /** How much of the request's body was taken. */
  readonly bytesRead: number;
}

export interface TestCalls extends TestLayer {
  /** The handler behind `call`. */
  readonly api: RequestHandler;
  readonly call: (method: string, target: string, more?: CallOptions) => Promise<Reply>;
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | readonly Buffer[];
  /** Over TLS, unless it says otherwise. */
  readonly secure?: boolean;
  /** Reports if the client has closed the connection. */
  readonly senderGone?: () => boolean;
}

/** Replication without targets: a configuration goes to the object layer of the call as it is, and no other server has anything. */
export const uncheckedReplications: Replications = {
  put: (bucket, configuration, objects) => objects.putBucketReplication(bucket, configuration),
  remove: (bucket, objects) => objects.putBucketReplication(bucket, undefined),
  waitFor: () => Promise.resolve(),
  readElsewhere: () => Promise.resolve(undefined),
  readTagsElsewhere: () => Promise.resolve(undefined),
  metrics: noTarget,
  startResync: noTarget,
  resyncs: noTarget,
  cancelResync: noTarget,
};

function noTarget(): Promise<never> {
  return Promise.reject(new Error('there is no target'));
}

/** The S3 API over an object layer in memory, with the bucket `bucket`, with a caller who may do what `authorize` allows. */
export async function testCalls(
  options: Partial<
    Pick<
      S3Services,
      | 'authenticate'
      | 'authenticateForm'
      | 'customerKeysWithoutTls'
      | 'cannedAcls'
      | 'hasRegion'
      | 'servedNames'
      | 'notificationTargets'
      | 'replications'
    >
  > & {
    /** The origins that the setting allows; none by default. */
    readonly origins?: readonly string[];
    readonly authorize?: (request: AccessRequest) => boolean | Promise<boolean>;
    /** Decides in place of `authorize`. */
    readonly decide?: (request: AccessRequest) => Promise<Decision>;
    readonly layer?: Parameters<typeof testLayer>[0];
    /** As SVC_DOMAIN. */
    readonly domains?: readonly string[];
  } = {},
): Promise<TestCalls> {
  const test = testLayer(options.layer);
  const handle = createS3Api({
    objects: test.layer,
    region: 'us-east-1',
    clock: () => new Date(),
    authenticate:
      options.authenticate ??
      ((request) =>
        Promise.resolve({
          principal: { kind: 'root', accessKey: 'someone' },
          body: request.body,
          size: Number(request.headers['content-length'] ?? 0),
        })),
    authenticateForm: options.authenticateForm ?? (() => Promise.resolve(undefined)),
    access: {
      credentials: () => Promise.resolve(undefined),
      authorize: async (request) =>
        (await options.decide?.(request)) ?? {
          kind: (await options.authorize?.(request)) === false ? 'deny' : 'allow',
          reason: 'the test says so',
        },
    },
    crossOrigin: new CrossOrigin(test.layer, options.origins ?? []),
    ...(options.servedNames && { servedNames: options.servedNames }),
    ...(options.notificationTargets && { notificationTargets: options.notificationTargets }),
    ...(options.replications && { replications: options.replications }),
    ...(options.hasRegion && { hasRegion: true }),
    ...(options.cannedAcls && { cannedAcls: options.cannedAcls }),
    ...(options.customerKeysWithoutTls && { customerKeysWithoutTls: true }),
  });
  await test.layer.createBucket('bucket', { location: '' });
  const findHostStyle = createHostStyleFinder(options.domains ?? []);
  const call = async (method: string, target: string, more: CallOptions = {}): Promise<Reply> => {
    const [rawPath = ''] = target.split('?');
    let bytesRead = 0;
    const hostStyle = findHostStyle(more.headers?.['host']);
    const sent = incomingRequest(method, target, more, (bytes) => {
      bytesRead += bytes;
    });
    const request = hostStyle === undefined ? sent : { ...sent, hostStyle };
    try {
      const answer = await handle(request);
      const final = answer.body.kind === 'slow' ? await answer.body.result : answer;
      const text = (await bytesOf(final)).toString();
      return { status: final.status, headers: final.headers, body: text, code: codeIn(text), refusal: '', bytesRead };
    } catch (error) {
      const { wireCode, status, message } = error as { wireCode?: string; status?: number; message: string };
      if (wireCode === undefined || status === undefined) throw error;
      const { body: refusal, headers } = answerError(error, { method: 'GET', rawPath, requestId: 'R', hostStyle });
      const xml = refusal.kind === 'bytes' ? refusal.bytes.toString() : '';
      return { status, headers, body: message, code: wireCode, refusal: xml, bytesRead };
    }
  };
  return { ...test, api: handle, call };
}

/** A request as the listener makes it. `onRead` gets the size of each chunk that is read. */
export function incomingRequest(
  method: string,
  target: string,
  more: CallOptions = {},
  onRead: (bytes: number) => void = () => undefined,
): IncomingRequest {
  const [rawPath = '', rawQuery = ''] = target.split('?');
  const { body: given = '' } = more;
  const chunks = typeof given === 'string' || Buffer.isBuffer(given) ? [Buffer.from(given)] : given;
  const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return {
    requestId: 'R',
    method,
    rawPath,
    rawQuery,
    headers: { host: 'test', 'content-length': String(size), ...more.headers },
    body: {
      ...bodyFrom(
        (async function* () {
          for (const chunk of chunks) {
            onRead(chunk.length);
            yield chunk;
          }
        })(),
      ),
      ...(more.senderGone && { senderGone: more.senderGone }),
    },
    secure: more.secure ?? true,
    remoteAddress: '10.0.0.1',
  };
}

function codeIn(text: string): string | undefined {
  return /<Error>.*<Code>(.*)<\/Code>/s.exec(text)?.[1];
}

async function bytesOf({ body }: Answer): Promise<Buffer> {
  if (body.kind === 'bytes') return body.bytes;
  return body.kind === 'chunks' ? readPieces(body.chunks) : Buffer.alloc(0);
}

async function readPieces(chunks: Chunks): Promise<Buffer> {
  const read: Buffer[] = [];
  for (let chunk = await chunks.next(); chunk !== undefined; chunk = await chunks.next()) read.push(Buffer.from(chunk));
  return Buffer.concat(read);
}
