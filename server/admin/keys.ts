import { matchesStars } from '../../protocol/text/star-pattern.ts';
import { z } from 'zod';
import { mapLimit } from '../../platform/async/concurrency.ts';
import { KeyServiceError } from '../../platform/key-service/exchange.ts';
import { type KeyLifecycle } from '../maintenance/rewrap/key-lifecycle.ts';
import { cofferPath, type AdminCall, json, type Route, jsonBody, nothing } from './call.ts';
import {
  type KeyAdministration,
  askAboutKeyService,
  askKeyService,
  checkKeyName,
  requireKeys,
  keyNameOf,
  keyRights,
  listableKeys,
  keyServiceStatus,
  keyStatus,
} from '../administration/keys.ts';
import { keyServiceMetrics } from '../administration/key-service-metrics.ts';
import { MaintenanceError } from '../maintenance/maintenance-error.ts';
import { adminError, isAdminError } from '../administration/admin-error.ts';

/** Default rate of a rotation, in objects per second. */
const RATE = 500;

/** Removal and rotation of keys. Only the server can do them, because it knows what is encrypted with a key. */
function keyLifecycleRoutes(keyPath: (call: string) => RegExp): readonly Route[] {
  return [
    {
      method: 'DELETE',
      path: keyPath('key/delete'),
      action: keyRights.delete,
      keys: (call) => [keyNameOf(call)],
      slow: true,
      serve: async (call) => json({ keyId: keyNameOf(call), lost: (await remove(call)) ?? null }),
    },
    {
      method: 'GET',
      path: cofferPath('kms/key/usage'),
      action: keyRights.list,
      someKey: true,
      slow: true,
      async serve(call) {
        const usage = await lifecycle(call).usage();
        const names = await listableKeys(call, [...usage.keys()]);
        return json({ keys: Object.fromEntries(names.map((name) => [name, usage.get(name)])) });
      },
    },
    {
      method: 'GET',
      path: cofferPath('kms/key/canaries'),
      action: keyRights.list,
      someKey: true,
      slow: true,
      serve: async (call) => json(await provenKeys(call)),
    },
    {
      method: 'GET',
      path: cofferPath('kms/key/describe'),
      action: keyRights.keyStatus,
      keys: (call) => [keyNameOf(call)],
      async serve(call) {
        const name = checkKeyName(keyNameOf(call));
        return json({ name, ...(await askKeyService('describe', name, () => requireKeys(call).describeKey(name))) });
      },
    },
    {
      method: 'POST',
      path: cofferPath('kms/key/rotate'),
      action: keyRights.rotate,
      keys: (call) => [keyNameOf(call), call.query.get('to') ?? keyNameOf(call)],
      serve: async (call) => json(await rotate(call)),
    },
    {
      method: 'GET',
      path: cofferPath('kms/key/rotate'),
      action: keyRights.rotate,
      someKey: true,
      async serve(call) {
        const rotation = await lifecycle(call).rotation();
        return json({ rotation: rotation !== undefined && (await mayRotate(call, rotation)) ? rotation : null });
      },
    },
  ];
}

/** Answers the canaries of the keys that the caller may list, and why one does not open now. */
async function provenKeys(call: AdminCall) {
  const { source } = requireKeys(call);
  const sealed = new Map((await lifecycle(call).canaries()).map(({ key, canaries }) => [key, canaries]));
  const names = await listableKeys(call, [...sealed.keys()]);
  const keys = await mapLimit(names, provenAtOnce, async (key) => {
    const error = await whyNotProven(source, key);
    return { key, canaries: sealed.get(key) ?? [], ...(error === undefined ? {} : { error }) };
  });
  return { defaultKey: source.defaultKey, keys };
}

/** Keys that one call proves at the same time. */
const provenAtOnce = 8;

async function whyNotProven(source: KeyAdministration['source'], key: string) {
  try {
    await source.proveKey(key);
    return undefined;
  } catch (error) {
    if (!(error instanceof KeyServiceError)) throw error;
    return { code: error.code, message: error.message };
  }
}

/** Reports whether the caller has the right to both keys. Others do not see the rotation. */
async function mayRotate(call: AdminCall, { from, to }: { readonly from: string; readonly to: string }) {
  return (await call.allows(keyRights.rotate, from)) && call.allows(keyRights.rotate, to);
}

async function remove(call: AdminCall) {
  const keys = requireKeys(call);
  const keyName = checkKeyName(keyNameOf(call));
  const force = call.query.get('force');
  if (force !== null && force !== keyName) {
    throw adminError(
      'XCofferInvalidRequest',
      `force takes the name of the key itself, ${keyName}: what it encrypts is lost.`,
    );
  }
  await askKeyService('generate', keyName, () => keys.source.checkKey(keyName));
  try {
    return await askKeyService('delete', keyName, () =>
      lifecycle(call).remove({
        keyName,
        defaultKey: keys.source.defaultKey,
        force: force !== null,
        remove: () => keys.deleteKey(keyName),
        exists: () => keys.source.checkKey(keyName).then(() => true),
      }),
    );
  } catch (error) {
    if (error instanceof MaintenanceError) throw adminError('XCofferRefused', error.message, { cause: error });
    throw error;
  }
}

const rotation = z.strictObject({
  'key-id': z.string(),
  to: z.string().optional(),
  /** Without `to`: `new` creates a version, `newest` uses one that exists at the key service. */
  version: z.enum(['new', 'newest']).optional(),
  mode: z.enum(['reseal', 'rewrite']).default('reseal'),
  rate: z.coerce.number().int().min(1).max(1_000_000).default(RATE),
});

async function rotate(call: AdminCall) {
  const keys = requireKeys(call);
  const names = [...call.query.keys()];
  const repeated = names.find((name, at) => names.indexOf(name) < at);
  if (repeated !== undefined) {
    throw adminError('XCofferInvalidRequest', `The parameter ${repeated.slice(0, 64)} is given more than once.`);
  }
  const read = rotation.safeParse(Object.fromEntries(call.query));
  if (!read.success) throw adminError('XCofferInvalidRequest', z.prettifyError(read.error));
  const { mode, rate, version: which } = read.data;
  const from = checkKeyName(read.data['key-id']);
  const to = checkKeyName(read.data.to ?? from);
  if (read.data.to !== undefined && which !== undefined) {
    throw adminError('XCofferInvalidRequest', 'version is of the key itself: give it without to.');
  }
  const rotations = lifecycle(call);
  for (const name of new Set([from, to])) await askKeyService('generate', name, () => keys.source.checkKey(name));
  try {
    // The check comes first, so that no unused version is created.
    await rotations.mayRotate();
    const version = from === to && which !== 'newest' ? await newVersion(keys, from) : undefined;
    return await rotations.rotate({
      from,
      to,
      ...(version !== undefined && { version }),
      mode,
      objectsPerSecond: rate,
    });
  } catch (error) {
    if (error instanceof MaintenanceError) throw adminError('XCofferRefused', error.message, { cause: error });
    throw error;
  }
}

/** Alternatives if the key service creates no version. */
const instead = {
  KMSNotPermitted:
    'Or let who administers the key service do it (keysvc key rotate), and ask again with version=newest (--newest).',
  KMSNotSupported: 'It has no versions of keys: give the objects another key instead, with to=KEY (--to KEY).',
} as const;

async function newVersion(keys: KeyAdministration, name: string): Promise<string> {
  try {
    return await askKeyService('rotate', name, () => keys.rotateKey(name));
  } catch (error) {
    if (!isAdminError(error) || !(error.code in instead) || keys.endpoints.length === 0) throw error;
    const code = error.code as keyof typeof instead;
    throw adminError(code, `${error.message} ${instead[code]}`, { cause: error });
  }
}

function lifecycle({ services }: AdminCall): KeyLifecycle {
  if (services.keyLifecycle !== undefined) return services.keyLifecycle;
  throw adminError('XCofferRefused', 'This server does not maintain its stores.');
}

/** Calls of the key service have an older path below `admin/v3`. Both are served. */
function keyPath(call: string): RegExp {
  return new RegExp(`^/minio/(admin/v[34]/kms|kms/v1)/${call}$`);
}

export const keyRoutes: readonly Route[] = [
  {
    method: 'GET|POST',
    path: keyPath('status'),
    action: keyRights.status,
    serve: async (call) => json(await keyServiceStatus(requireKeys(call))),
  },
  {
    method: 'GET',
    path: keyPath('key/status'),
    action: keyRights.keyStatus,
    keys: (call) => [keyNameOf(call) || (call.services.keys?.source.defaultKey ?? '')],
    async serve(call) {
      const { source } = requireKeys(call);
      return json(await keyStatus(source, checkKeyName(keyNameOf(call) || source.defaultKey)));
    },
  },
  {
    method: 'POST',
    path: keyPath('key/create'),
    action: keyRights.create,
    keys: (call) => [keyNameOf(call)],
    serve: (call) => createOrImport(call, 'create', (keys, name) => keys.createKey(name)),
  },
  {
    method: 'POST',
    path: keyPath('key/import'),
    action: keyRights.import,
    keys: (call) => [keyNameOf(call)],
    async serve(call) {
      const bytes = await importedBytes(call);
      return createOrImport(call, 'import', (keys, name) => keys.importKey(name, bytes));
    },
  },
  {
    method: 'GET',
    path: keyPath('key/list'),
    action: keyRights.list,
    someKey: true,
    async serve(call) {
      const pattern = call.query.get('pattern') || '*';
      if (!/^[A-Za-z0-9_*-]{1,80}$/.test(pattern)) {
        throw adminError('XCofferInvalidRequest', 'pattern takes names of keys, in which * stands for any characters.');
      }
      const [prefix = ''] = pattern.split('*');
      const names = await askKeyService('list', pattern, () => requireKeys(call).listKeys(prefix));
      const fitting = names.filter((name) => matchesStars(pattern, name));
      return json((await listableKeys(call, fitting)).map((name) => ({ name })));
    },
  },
  ...keyLifecycleRoutes(keyPath),
  {
    method: 'GET',
    path: keyPath('version'),
    action: keyRights.version,
    serve: async (call) => json({ version: await askAboutKeyService('/version', () => requireKeys(call).version()) }),
  },
  {
    method: 'GET',
    path: keyPath('apis'),
    action: keyRights.apis,
    async serve(call) {
      const apis = await askAboutKeyService('/v1/api', () => requireKeys(call).apis());
      // Clients of the admin API expect these names.
      return json(
        apis.map(({ method, path, maxBody, timeout }) => ({
          Method: method,
          Path: path,
          MaxBody: maxBody,
          Timeout: timeout,
        })),
      );
    },
  },
  {
    method: 'GET',
    path: keyPath('metrics'),
    action: keyRights.metrics,
    serve: async (call) =>
      json(keyServiceMetrics(await askAboutKeyService('/v1/metrics', () => requireKeys(call).metrics()))),
  },
];

/** Creates or imports a key. The name of a removed key is free only when no server can have its data keys. */
async function createOrImport(
  call: AdminCall,
  what: 'create' | 'import',
  make: (keys: KeyAdministration, name: string) => Promise<void>,
) {
  const keys = requireKeys(call);
  const name = checkKeyName(keyNameOf(call));
  const { keyLifecycle } = call.services;
  const waitMs = (await keyLifecycle?.untilMayReturn(name)) ?? 0;
  if (waitMs > 0) {
    throw adminError(
      'XCofferRefused',
      `A key named ${name} was removed a moment ago, and servers may still hold data keys of it: try again in ${Math.ceil(waitMs / 1_000)} seconds, or take another name.`,
    );
  }
  if (what === 'create') await refuseToRemake(call, keys, name);
  await askKeyService(what, name, () => make(keys, name));
  await keyLifecycle?.returned(name);
  return nothing;
}

/**
 * Refuses to make a key under whose name data was sealed, and which the key service does not have: the new key could not open that data,
 * and would hide that the old one is lost. An import gives the old key back, which its canary proves.
 */
async function refuseToRemake(call: AdminCall, { source }: KeyAdministration, name: string): Promise<void> {
  const sealed = (await call.services.keyLifecycle?.canaries()) ?? [];
  if (!sealed.some(({ key }) => key === name)) return;
  try {
    await source.checkKey(name);
  } catch (error) {
    if (!(error instanceof KeyServiceError) || error.code !== 'key-not-found') return;
    throw adminError(
      'XCofferRefused',
      `Data was sealed under a key named ${name}, which the key service does not have. A new key of this name could not open it: ` +
        'give the key service back its keys, or import this key (kms key import).',
      { cause: error },
    );
  }
}

const importBody = z.union([z.strictObject({ bytes: z.base64() }), z.strictObject({ key: z.base64() })]);

async function importedBytes(call: AdminCall): Promise<Buffer> {
  const body = await jsonBody(call, importBody);
  const bytes = Buffer.from('bytes' in body ? body.bytes : body.key, 'base64');
  if (bytes.length === 32) return bytes;
  throw adminError('XCofferInvalidRequest', `A key has 32 bytes, not ${bytes.length}: send them as base64 in "bytes".`);
}
