import { Readable } from 'node:stream';
import {
  answerAlgorithmHeader,
  decryptPayload,
  encryptPayload,
  type PayloadAlgorithm,
} from '../../../protocol/admin/admin-payload.ts';
import { createAccess } from '../../../server/auth/access.ts';
import type { Answer } from '../../../server/http/contract/request.ts';
import { testIdentities } from '../auth/identities.ts';
import { createAdminHandler } from '../../../server/admin/admin-handler.ts';
import type { AdminServices } from '../../../server/administration/services.ts';
import { bodyFrom } from '../../../server/objects/contract/body-source.ts';

interface TestBody {
  readonly plain?: string | Buffer;
  /** Sent as JSON under the caller's secret key. */
  readonly sealed?: unknown;
  /** Sent as it is under the caller's secret key. */
  readonly sealedText?: string;
  readonly userAgent?: string;
  /** Of an encrypted body; by default that of Coffer's own clients. */
  readonly algorithm?: PayloadAlgorithm;
  /** What the client says of answers; by default that of Coffer's own clients, which takes the least time. */
  readonly answerAlgorithm?: string;
}

/** What a caller was answered: JSON decrypted where it came so, the code of a refusal, bytes where it is neither. */
interface TestReply {
  readonly status: number;
  readonly value: unknown;
  readonly bytes: Buffer;
  /** Of the body that was sent. */
  readonly bytesRead: number;
}

/** The admin API over records in memory, asked by anyone who has credentials there. */
export async function adminTest(
  options: {
    readonly buckets?: readonly string[];
    readonly now?: Date;
    readonly services?: Pick<
      AdminServices,
      | 'archivedUsers'
      | 'backgroundTasks'
      | 'batchJobs'
      | 'buckets'
      | 'directory'
      | 'given'
      | 'heldNotifications'
      | 'identityProviders'
      | 'keyLifecycle'
      | 'keys'
      | 'notifications'
      | 'others'
      | 'serverSpeeds'
      | 'sites'
      | 'diagnostics'
      | 'tiers'
      | 'usage'
    >;
  } = {},
) {
  const clock = () => options.now ?? new Date('2026-01-01T00:00:00Z');
  const { records, identities } = await testIdentities({ clock });
  const access = createAccess({
    records,
    identities,
    root: { user: 'root', password: 'root-password' },
    bucketAccess: () => Promise.resolve(undefined),
    objectTags: () => Promise.resolve(undefined),
    objectAcl: () => Promise.resolve(undefined),
    clock,
  });
  let caller = 'root';
  const handle = createAdminHandler({
    authenticate: async ({ body }) => {
      const found = await access.credentials(caller);
      return { principal: found?.principal ?? { kind: 'anonymous' }, body, size: undefined };
    },
    access,
    identities,
    temporary: access.temporary,
    root: { user: 'root' },
    objects: {
      listBuckets: () =>
        Promise.resolve((options.buckets ?? []).map((name) => ({ name, created: clock(), location: '' }))),
    },
    server: {
      deploymentId: 'D',
      version: '0.1.0',
      region: 'us-east-1',
      endpoint: '127.0.0.1:9000',
      dataFolder: '/data',
      startedAt: clock(),
    },
    space: () => Promise.resolve({ free: 30, total: 100 }),
    clock,
    ...options.services,
  });

  /** One call by whoever has that access key; a path without `/` is below `/minio/admin/v3/`. */
  async function call(by: string, method: string, target: string, sent: TestBody = {}): Promise<TestReply> {
    const secret = (await access.credentials(by))?.secretKey ?? '';
    const content =
      sent.sealed === undefined && sent.sealedText === undefined
        ? Buffer.from(sent.plain ?? '')
        : await encryptPayload(secret, Buffer.from(sent.sealedText ?? JSON.stringify(sent.sealed)), sent.algorithm);
    const [path = '', rawQuery = ''] = target.split('?');
    caller = by;
    let bytesRead = 0;
    function* sentIn() {
      if (content.length === 0) return;
      bytesRead += content.length;
      yield content;
    }
    const answered = await answerOf(() =>
      handle({
        requestId: 'R',
        method,
        rawPath: path.startsWith('/') ? path : `/minio/admin/v3/${path}`,
        rawQuery,
        headers: {
          [answerAlgorithmHeader]: sent.answerAlgorithm ?? 'pbkdf2-aes',
          ...(sent.userAgent !== undefined && { 'user-agent': sent.userAgent }),
        },
        body: bodyFrom(Readable.from(sentIn())),
        secure: false,
        remoteAddress: '127.0.0.1',
      }),
    );
    const bytes = answered.body.kind === 'bytes' ? answered.body.bytes : Buffer.alloc(0);
    const encrypted = answered.headers['content-type'] === 'application/octet-stream';
    return {
      status: answered.status,
      bytes,
      bytesRead,
      value: jsonOf(encrypted ? await decryptPayload(secret, bytes) : bytes),
    };
  }
  /** The answer as the handler makes it, for streams. */
  async function answer(by: string, method: string, target: string): Promise<Answer> {
    caller = by;
    const [path = '', rawQuery = ''] = target.split('?');
    return handle({
      requestId: 'R',
      method,
      rawPath: `/minio/admin/v3/${path}`,
      rawQuery,
      headers: {},
      body: bodyFrom(Readable.from([])),
      secure: false,
      remoteAddress: '127.0.0.1',
    });
  }
  return { access, identities, call, answer };
}

/** Refusals that `http` turns into an answer. */
async function answerOf(call: () => Promise<Answer>): Promise<Answer> {
  try {
    const answer = await call();
    return answer.body.kind === 'slow' ? await answer.body.result : answer;
  } catch (error) {
    const { code: Code, status, message: Message } = error as { code: string; status?: number; message: string };
    if (status === undefined) throw error;
    return {
      status,
      headers: { 'content-type': 'application/json' },
      body: { kind: 'bytes', bytes: Buffer.from(JSON.stringify({ Code, Message })) },
    };
  }
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
