import { createHash } from 'node:crypto';
import { readZip } from '../../server/administration/zip.ts';
import { signRequest } from '../../protocol/sigv4/sign-request.ts';
import type { Credentials } from '../../protocol/sigv4/credentials.ts';
import { adminCall } from '../support/server/admin-call.ts';
import type { RunningServer } from '../support/server/start-server.ts';
import { type Attack, type Presence, queryOf, type Row, send } from './attack.ts';

/** Who attacks. */
export interface Identity {
  readonly name: string;
  /** Undefined for an anonymous caller. */
  readonly keys: Credentials | undefined;
  /** Of the console; undefined where it signs nobody in. */
  readonly cookie: string | undefined;
  /** Whether the server knows the caller: it may do what every user may do by default. */
  readonly known: boolean;
}

type Statement = Readonly<Record<string, unknown>>;

const policy = (...Statement: readonly Statement[]) => ({ Version: '2012-10-17', Statement });
const allow = (Action: string | string[], Resource: string | string[]) => ({ Effect: 'Allow', Action, Resource });
const deny = (Action: string | string[], Resource: string | string[]) => ({ Effect: 'Deny', Action, Resource });
const arns = (...names: readonly string[]) => names.map((name) => `arn:aws:s3:::${name}`);
const all = ['s3:*', 'admin:*', 'kms:*'];
const attacked = arns('matrix-there', 'matrix-there/*', 'matrix-never', 'matrix-never/*');
const everything = policy(allow(all, arns('*')));
const other = policy(allow('s3:*', arns('matrix-other', 'matrix-other/*')));
/** All rights but those to what is attacked, to the account, and to the names of all buckets. */
const denied = policy(
  allow(all, arns('*')),
  deny('s3:*', attacked),
  deny(['admin:*', 'kms:*', 's3:ListAllMyBuckets', 's3:*Account*', 's3:ListenNotification'], arns('*')),
);

const secretOf = (user: string) => `${user}-password`;

const plain = (document: object) => Buffer.from(JSON.stringify(document));

/** What an attacker shall not learn: it is in everything that is stored. */
export const marker = 'marker-of-the-owner';

/** The names of the identities, in the order of the stage. */
export const identityNames = [
  'anonymous',
  'no policy',
  'other bucket',
  'other prefix',
  'Deny in the policy',
  'Deny in the bucket policy',
  'narrow service account',
  'narrow session',
  'session with a Deny',
  'removed',
  'disabled',
  'revoked',
  'session without its token',
  'wrong secret',
] as const;

/** A server with something of every kind, and the fourteen identities. */
export interface Stage {
  readonly identities: readonly Identity[];
  readonly uploads: Readonly<Record<Presence, string>>;
  /** The actions of STS, as the server names them. */
  readonly actions: readonly string[];
  /** All that is stored, as text. */
  snapshot(): Promise<string>;
}

export async function setStage(server: RunningServer): Promise<Stage> {
  const root: Credentials = { accessKey: server.accessKey, secretKey: server.secretKey };
  const s3 = (keys: Credentials | undefined, attack: Partial<Attack> & Pick<Attack, 'method' | 'path'>) => {
    const whole = { query: {}, headers: {}, body: '', ...attack };
    return send(server.s3, signed(server, whole, keys, 's3'), 'at once');
  };
  const stored = async (method: string, path: string, more: Partial<Attack> = {}) => {
    const answered = await s3(root, { method, path, ...more });
    if (answered.status >= 300) throw new Error(`${method} ${path}: ${answered.status} ${answered.text}`);
    return answered.text;
  };
  const admin = async (method: string, target: string, sent?: unknown) => {
    const answered = await adminCall(server.s3, root, method, target, sent);
    if (answered.status >= 300) throw new Error(`${method} ${target}: ${JSON.stringify(answered.value)}`);
  };
  const assumed = async (user: string, document?: object): Promise<Credentials> => {
    const query = {
      Action: 'AssumeRole',
      Version: '2011-06-15',
      ...(document !== undefined && { Policy: JSON.stringify(document) }),
    };
    const asked = { method: 'POST', path: '/', query, headers: {}, body: '' };
    const { text } = await send(
      server.s3,
      signed(server, asked, { accessKey: user, secretKey: secretOf(user) }, 'sts'),
      'at once',
    );
    const part = (name: string) => new RegExp(`<${name}>([^<]+)`).exec(text)?.[1] ?? '';
    return { accessKey: part('AccessKeyId'), secretKey: part('SecretAccessKey'), sessionToken: part('SessionToken') };
  };

  for (const bucket of ['matrix-there', 'matrix-other']) {
    await stored('PUT', `/${bucket}`, { headers: { 'x-amz-bucket-object-lock-enabled': 'true' } });
  }
  await stored('PUT', '/matrix-there/secret-there', {
    body: marker,
    headers: { 'x-amz-meta-note': marker, 'x-amz-tagging': `note=${marker}`, 'content-type': 'text/csv' },
  });
  const tags = `<Tagging><TagSet><Tag><Key>note</Key><Value>${marker}</Value></Tag></TagSet></Tagging>`;
  await stored('PUT', '/matrix-there', { query: { tagging: '' }, body: tags });
  const begun = await stored('POST', '/matrix-there/secret-there', { query: { uploads: '' } });
  const uploads = { there: /<UploadId>([^<]+)/.exec(begun)?.[1] ?? '', never: '0123456789abcdef0123456789abcdef' };

  await admin('PUT', 'add-canned-policy?name=everything', plain(everything));
  await admin('PUT', 'add-canned-policy?name=other', plain(other));
  await admin('PUT', 'add-canned-policy?name=denied', plain(denied));
  await admin(
    'PUT',
    'add-canned-policy?name=there',
    plain(policy(allow('s3:*', arns('matrix-there', 'matrix-there/*')))),
  );
  const prefix = policy(allow('s3:*', arns('matrix-there/mine/*', 'matrix-never/mine/*')));
  await admin('PUT', 'add-canned-policy?name=prefix', plain(prefix));
  await admin(
    'PUT',
    'add-canned-policy?name=policy-there',
    plain(policy({ ...allow('s3:*', arns(marker)), Sid: 'x' })),
  );
  const users = {
    'user-there': 'policy-there',
    'of-nothing': '',
    'of-other': 'other',
    'of-prefix': 'prefix',
    'of-denied': 'denied',
    'of-refused': 'there',
    'of-all': 'everything',
    'of-gone': 'everything',
    'of-disabled': 'everything',
    'of-revoked': 'everything',
  };
  for (const [user, name] of Object.entries(users)) {
    await admin('PUT', `add-user?accessKey=${user}`, { secretKey: secretOf(user) });
    if (name !== '') {
      await admin('PUT', `set-user-or-group-policy?policyName=${name}&userOrGroup=${user}&isGroup=false`);
    }
  }
  await admin('PUT', 'update-group-members', plain({ group: 'group-there', members: ['user-there'] }));
  const key = { targetUser: 'user-there', accessKey: 'key-there', secretKey: marker, description: marker };
  await admin('PUT', 'add-service-account', key);
  const narrow = { accessKey: 'of-all-narrow', secretKey: secretOf('of-all-narrow') };
  await admin('PUT', 'add-service-account', { targetUser: 'of-all', ...narrow, policy: other });
  const refused = {
    Effect: 'Deny',
    Principal: { AWS: ['arn:aws:iam:::user/of-refused'] },
    Action: 's3:*',
    Resource: arns('matrix-there', 'matrix-there/*'),
  };
  await stored('PUT', '/matrix-there', { query: { policy: '' }, body: JSON.stringify(policy(refused)) });

  const of = (user: string): Credentials => ({ accessKey: user, secretKey: secretOf(user) });
  const whole = await assumed('of-all');
  const revoked = await assumed('of-revoked');
  const { sessionToken: _, ...withoutToken } = whole;
  const candidates: readonly (readonly [name: string, keys: Credentials | undefined, known: boolean])[] = [
    ['anonymous', undefined, false],
    ['no policy', of('of-nothing'), true],
    ['other bucket', of('of-other'), true],
    ['other prefix', of('of-prefix'), true],
    ['Deny in the policy', of('of-denied'), true],
    ['Deny in the bucket policy', of('of-refused'), true],
    ['narrow service account', narrow, true],
    ['narrow session', await assumed('of-all', other), true],
    ['session with a Deny', await assumed('of-all', denied), true],
    ['removed', of('of-gone'), false],
    ['disabled', of('of-disabled'), false],
    ['revoked', revoked, false],
    ['session without its token', withoutToken, false],
    ['wrong secret', { accessKey: 'of-all', secretKey: 'not-the-password' }, false],
  ];
  const identities: Identity[] = [];
  for (const [name, keys, known] of candidates) {
    identities.push({ name, keys, known, cookie: keys && (await signedIn(server, keys)) });
  }
  await admin('DELETE', 'remove-user?accessKey=of-gone');
  await admin('PUT', 'set-user-status?accessKey=of-disabled&status=disabled');
  await admin('POST', 'revoke-tokens/builtin?user=of-revoked&fullRevoke=true');

  const unknown = { method: 'POST', path: '/', query: { Action: 'None' }, headers: {}, body: '' };
  const { text } = await send(server.s3, unknown, 'at once');
  const actions = /there are ([^<]+)\./.exec(text)?.[1]?.split(', ') ?? [];

  return {
    identities,
    uploads,
    actions,
    async snapshot() {
      const parts: string[] = [await stored('GET', '/')];
      for (const bucket of ['matrix-there', 'matrix-other']) {
        for (const list of ['versions', 'uploads', 'tagging', 'object-lock', 'versioning', 'policy']) {
          const { status, text } = await s3(root, { method: 'GET', path: `/${bucket}`, query: { [list]: '' } });
          parts.push(`${bucket} ${list}: ${status} ${text}`);
        }
      }
      for (const query of ['tagging', 'retention', 'legal-hold', 'acl']) {
        const asked = { method: 'GET', path: '/matrix-there/secret-there', query: { [query]: '' } };
        parts.push((await s3(root, asked)).text);
      }
      for (const path of ['export-iam', 'export-bucket-metadata']) {
        const asked = signed(server, request('GET', `/minio/admin/v3/${path}`), root, 's3');
        const answer = await fetch(`${server.s3}${asked.path}`, { headers: asked.headers });
        const files = await readZip(Buffer.from(await answer.arrayBuffer()), { entries: 1_000, size: 10_000_000 });
        parts.push(...files.map(({ name, content }) => `${name}: ${content.toString()}`));
      }
      for (const path of ['list-jobs', 'tier', 'list-remote-targets?bucket=matrix-there&type=']) {
        parts.push(JSON.stringify((await adminCall(server.s3, root, 'GET', path)).value));
      }
      // Each answer has an id of its own.
      return parts.join('\n').replaceAll(/<(RequestId|HostId)>[^<]*/g, '');
    },
  };
}

function request(method: string, path: string): Attack {
  return { method, path, query: {}, headers: {}, body: '' };
}

async function signedIn(server: RunningServer, { accessKey, secretKey, sessionToken }: Credentials) {
  const answer = await fetch(`${server.console}/api/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-coffer-console': '1' },
    body: JSON.stringify({ accessKey, secretKey, sessionToken }),
  });
  await answer.arrayBuffer();
  return answer.headers.getSetCookie()[0]?.split(';')[0];
}

const hashOfNothing = createHash('sha256').digest('hex');

function signed(server: RunningServer, attack: Attack, keys: Credentials | undefined, service: 's3' | 'sts'): Attack {
  if (keys === undefined) return attack;
  const headers = { host: new URL(server.s3).host, ...attack.headers };
  const added = signRequest({ method: attack.method, rawPath: attack.path, rawQuery: queryOf(attack), headers }, keys, {
    region: 'us-east-1',
    service,
    now: new Date(),
    payloadHash: service === 'sts' ? hashOfNothing : 'UNSIGNED-PAYLOAD',
  });
  return { ...attack, headers: { ...headers, ...added } };
}

/** Sends the request of a row as an identity. `readsBody`: the console reads its body. */
export function attackAs(
  server: RunningServer,
  { keys, cookie }: Identity,
  row: Row,
  presence: Presence,
  readsBody: boolean,
) {
  const attack = row.attack(presence);
  if (row.api !== 'console') {
    return send(server.s3, signed(server, attack, keys, row.api === 'sts' ? 'sts' : 's3'), 'asked');
  }
  const headers = { 'x-coffer-console': '1', ...(cookie !== undefined && { cookie }), ...attack.headers };
  return send(server.console, { ...attack, headers }, readsBody ? 'at once' : 'never');
}
