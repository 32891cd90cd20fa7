import { z } from 'zod';
import { AdminError } from './admin-error.ts';
import { jsonBody } from './json-body.ts';
import type { KeyAdministration } from './key-administration.ts';
import { keyLifecycleRoutes } from './key-lifecycle-routes.ts';
import {
  askKeyService,
  checkKeyName,
  configured,
  keyNamed,
  keyRights,
  keyServiceStatus,
  keyStatus,
  listable,
} from './key-service-calls.ts';
import { type AdminCall, json, nothing, type Route } from './route.ts';

/** Calls of the key service have an older name below `admin/v3`; clients of both ages are served. */
function keyPath(call: string): RegExp {
  return new RegExp(`^/minio/(admin/v[34]/kms|kms/v1)/${call}$`);
}

export const keyRoutes: readonly Route[] = [
  {
    method: 'GET|POST',
    path: keyPath('status'),
    action: keyRights.status,
    serve: async (call) => json(await keyServiceStatus(configured(call))),
  },
  {
    method: 'GET',
    path: keyPath('key/status'),
    action: keyRights.keyStatus,
    keys: (call) => [keyNamed(call) || (call.services.keys?.source.defaultKey ?? '')],
    async serve(call) {
      const { source } = configured(call);
      return json(await keyStatus(source, checkKeyName(keyNamed(call) || source.defaultKey)));
    },
  },
  {
    method: 'POST',
    path: keyPath('key/create'),
    action: keyRights.create,
    keys: (call) => [keyNamed(call)],
    serve: (call) => making(call, 'create', (keys, name) => keys.createKey(name)),
  },
  {
    method: 'POST',
    path: keyPath('key/import'),
    action: keyRights.import,
    keys: (call) => [keyNamed(call)],
    async serve(call) {
      const bytes = await importedBytes(call);
      return making(call, 'import', (keys, name) => keys.importKey(name, bytes));
    },
  },
  {
    method: 'GET',
    path: keyPath('key/list'),
    action: keyRights.list,
    async serve(call) {
      const pattern = call.query.get('pattern') ?? '';
      const prefix = pattern.replace(/\*$/, '');
      if (!/^[A-Za-z0-9_-]{0,80}$/.test(prefix)) {
        throw new AdminError('XCofferInvalidRequest', 'pattern takes the beginning of names and a * at its end.');
      }
      const whole = pattern !== '' && pattern === prefix;
      const names = await askKeyService('list', pattern, () => configured(call).listKeys(prefix));
      const fitting = names.filter((name) => !whole || name === prefix);
      return json((await listable(call, fitting)).map((name) => ({ name })));
    },
  },
  ...keyLifecycleRoutes(keyPath),
];

/** A key of a name that was removed comes back only when nobody holds data keys of the one before. */
async function making(
  call: AdminCall,
  what: 'create' | 'import',
  make: (keys: KeyAdministration, name: string) => Promise<void>,
) {
  const keys = configured(call);
  const name = checkKeyName(keyNamed(call));
  const { keyLifecycle } = call.services;
  const waitMs = (await keyLifecycle?.untilMayReturn(name)) ?? 0;
  if (waitMs > 0) {
    throw new AdminError(
      'XCofferRefused',
      `A key named ${name} was removed a moment ago, and servers may still hold data keys of it: try again in ${Math.ceil(waitMs / 1_000)} seconds, or take another name.`,
    );
  }
  await askKeyService(what, name, () => make(keys, name));
  await keyLifecycle?.returned(name);
  return nothing;
}

const importBody = z.union([z.object({ bytes: z.base64() }), z.object({ key: z.base64() })]);

async function importedBytes(call: AdminCall): Promise<Buffer> {
  const body = await jsonBody(call, importBody);
  const bytes = Buffer.from('bytes' in body ? body.bytes : body.key, 'base64');
  if (bytes.length === 32) return bytes;
  throw new AdminError(
    'XCofferInvalidRequest',
    `A key has 32 bytes, not ${bytes.length}: send them as base64 in "bytes".`,
  );
}
