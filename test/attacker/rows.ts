import { accountOperations } from '../../server/s3/control/account-public-access-block.ts';
import { tagsOperations } from '../../server/s3/control/resource-tags.ts';
import { routes as s3Routes } from '../../server/s3/routes.ts';
import { routes as adminRoutes } from '../../server/admin/admin-handler.ts';
import { operationNames } from '../../server/console/api/operation-names.ts';
import { adminPathOf } from '../../server/console/api/operations/admin-calls.ts';
import { samplePath } from '../support/admin/sample-path.ts';
import type { Attack, Presence, Row } from './attack.ts';

/** The bodies are longer than what an answer could leave unread by chance, and no parser takes them. */
const body = '<'.repeat(20_000);

/** The upload that is under way in the bucket that is there. */
export type Uploads = Readonly<Record<Presence, string>>;

const bucketOf = (presence: Presence) => `matrix-${presence}`;

function s3Attack([method, level, flags]: (typeof s3Routes)[number], presence: Presence, uploads: Uploads): Attack {
  const words = flags.split(' ').filter((word) => word !== '' && word !== 'copy');
  const values: Readonly<Record<string, string>> = { 'list-type': '2', uploadId: uploads[presence], id: 'an-id' };
  const query = Object.fromEntries(words.map((word) => [word, values[word] ?? '']));
  const bucket = bucketOf(presence);
  const isCopy = flags.split(' ').includes('copy');
  return {
    method,
    path: { service: '/', bucket: `/${bucket}`, object: `/${bucket}/secret-${presence}` }[level],
    query: { ...query, ...(words.includes('uploadId') && method === 'PUT' && { partNumber: '1' }) },
    headers: {
      ...(isCopy && { 'x-amz-copy-source': `/${bucket}/secret-${presence}` }),
      ...(words.includes('renameObject') && { 'x-amz-rename-source': `/${bucket}/secret-${presence}` }),
      ...(words.includes('attributes') && { 'x-amz-object-attributes': 'ETag' }),
      ...(method === 'POST' && level === 'bucket' && flags === '' && form),
    },
    body: ['PUT', 'POST'].includes(method) && !isCopy ? body : '',
  };
}

const form = { 'content-type': 'multipart/form-data; boundary=b' };

const shown = (method: string, level: string, flags: string) => `${method} ${level}${flags === '' ? '' : `?${flags}`}`;

function rowsOfS3(uploads: Uploads): Row[] {
  const rows = s3Routes.map((route): Row => {
    const [method, level, flags, { name }] = route;
    return {
      api: 's3',
      name: `${name} (${shown(method, level, flags)})`,
      attack: (presence) => s3Attack(route, presence, uploads),
    };
  });
  // Where the bucket is there, a key that is not.
  const ofKeys = s3Routes
    .filter(([, level]) => level === 'object')
    .map((route): Row => {
      const [method, level, flags, { name }] = route;
      return {
        api: 's3',
        name: `${name} of a key (${shown(method, level, flags)})`,
        attack(presence) {
          const attack = s3Attack(route, 'there', uploads);
          const headers = Object.entries(attack.headers).map(([key, value]) => [
            key,
            value.replace('secret-there', `secret-${presence}`),
          ]);
          const query = 'uploadId' in attack.query ? { ...attack.query, uploadId: uploads[presence] } : attack.query;
          return {
            ...attack,
            path: `/matrix-there/secret-${presence}`,
            query,
            headers: Object.fromEntries(headers) as Attack['headers'],
          };
        },
      };
    });
  const copied: Row = {
    api: 's3',
    name: 'CopyObject into a bucket of the caller',
    attack: (presence) => ({
      method: 'PUT',
      path: '/matrix-other/taken',
      query: {},
      headers: { 'x-amz-copy-source': `/${bucketOf(presence)}/secret-${presence}` },
      body: '',
    }),
  };
  return [...rows, ...ofKeys, copied];
}

function rowsOfControl(): Row[] {
  const headers = { 'x-amz-account-id': '000000000000' };
  const rowOf = (method: string, name: string, path: (presence: Presence) => string): Row => ({
    api: 'control',
    name,
    attack: (presence) => ({
      method,
      path: path(presence),
      query: { ...(method === 'DELETE' && { tagKeys: 'marker' }) },
      headers,
      body: ['PUT', 'POST'].includes(method) ? body : '',
    }),
  });
  return [
    ...Object.entries(accountOperations).map(([method, { name }]) =>
      rowOf(method, name, () => '/v20180820/configuration/publicAccessBlock'),
    ),
    ...Object.entries(tagsOperations).map(([method, { name }]) =>
      rowOf(method, name, (presence) => `/v20180820/tags/${encodeURIComponent(`arn:aws:s3:::${bucketOf(presence)}`)}`),
    ),
  ];
}

/** Every name by which a call of the admin API or of the console addresses something. */
function parametersOf(presence: Presence): Record<string, string> {
  const user = `user-${presence}`;
  return {
    accessKey: user,
    user,
    userDN: user,
    key: `secret-${presence}`,
    prefix: `secret-${presence}`,
    'key-id': `kms-${presence}`,
    name: `policy-${presence}`,
    policyName: `policy-${presence}`,
    userOrGroup: user,
    isGroup: 'false',
    group: `group-${presence}`,
    bucket: bucketOf(presence),
    status: 'disabled',
    jobId: `job-${presence}`,
    arn: `arn:minio:replication::${presence}:bucket`,
    type: 'openid',
    action: 'restart',
    fullRevoke: 'true',
    restoreId: presence,
    provider: `provider-${presence}`,
    id: presence,
  };
}

const writes = ['PUT', 'POST', 'PATCH'];

function rowsOfAdmin(): Row[] {
  return adminRoutes.flatMap((route) =>
    route.method.split('|').map((method): Row => ({
      api: 'admin',
      name: `${method} ${samplePath(route.path)}`,
      own: route.own === true,
      attack: (presence) => ({
        method,
        path: samplePath(route.path).replace(/\/x(?=\/|$)/g, `/name-${presence}`),
        query: {
          ...parametersOf(presence),
          // An access key of another user.
          ...(/service-account|access-key/.test(route.path.source) && { accessKey: `key-${presence}` }),
        },
        headers: {},
        body: writes.includes(method) ? body : '',
      }),
    })),
  );
}

function consoleRow(method: string, path: (presence: Presence) => string, more?: (presence: Presence) => object): Row {
  return {
    api: 'console',
    name: `${method} ${path('there')}`,
    attack: (presence) => ({
      method,
      path: path(presence),
      query: { ...parametersOf(presence), to: '/', ...more?.(presence) },
      headers: { ...(writes.includes(method) && { 'content-type': 'application/json' }) },
      body: writes.includes(method) ? body : '',
    }),
  };
}

function rowsOfConsole(uploads: Uploads): Row[] {
  const own = [...operationNames.keys()]
    .filter((call) => !call.startsWith('*'))
    .map((call) => {
      const [method = '', path = ''] = call.split(' ');
      return consoleRow(
        method,
        (presence) => path.replace(':bucket', bucketOf(presence)).replace(':provider', `provider-${presence}`),
        path.includes('access-key') ? (presence) => ({ key: `key-${presence}` }) : undefined,
      );
    });
  const s3 = s3Routes
    .filter(([, level]) => level !== 'service')
    .map((route): Row => {
      const [method, level, flags, { name }] = route;
      return {
        api: 'console',
        name: `${name} (${shown(method, level, flags)})`,
        attack(presence) {
          const attack = s3Attack(route, presence, uploads);
          const key: Record<string, string> = level === 'object' ? { key: `secret-${presence}` } : {};
          return { ...attack, path: `/api/s3/${bucketOf(presence)}`, query: { ...attack.query, ...key } };
        },
      };
    });
  const admin = rowsOfAdmin().flatMap((row): Row[] => {
    const name = row.attack('there').path.replace(/^\/minio\/admin\/(?:v3|coffer\/v1)\//, '');
    const path = row.attack('there').path.includes('/coffer/v1/') ? `/coffer/${name}` : `/${name}`;
    if (adminPathOf(path) === undefined) return [];
    const attack = (presence: Presence) => ({ ...row.attack(presence), path: `/api/admin${path}` });
    return [{ ...row, api: 'console', name: `${row.name} of the console`, attack }];
  });
  return [...own, ...s3, ...admin];
}

/** `actions` are the names that STS gives. */
function rowsOfSts(actions: readonly string[]): Row[] {
  return actions.map((action): Row => ({
    api: 'sts',
    name: action,
    attack: (presence) => ({
      method: 'POST',
      path: '/',
      query: {
        Action: action,
        Version: '2011-06-15',
        RoleArn: `arn:minio:iam:::role/role-${presence}`,
        WebIdentityToken: `token-${presence}`,
        Token: `token-${presence}`,
        LDAPUsername: `user-${presence}`,
        LDAPPassword: 'a-password',
      },
      headers: {},
      body,
    }),
  }));
}

export function allRows(uploads: Uploads, actions: readonly string[]): readonly Row[] {
  return [...rowsOfS3(uploads), ...rowsOfControl(), ...rowsOfAdmin(), ...rowsOfConsole(uploads), ...rowsOfSts(actions)];
}
