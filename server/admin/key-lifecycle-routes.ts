import { z } from 'zod';
import { type KeyLifecycle, RotationUnderWay } from '../maintenance/key-lifecycle.ts';
import { KeyInUse } from '../maintenance/remove-key.ts';
import { AdminError } from './admin-error.ts';
import { cofferPath } from './admin-path.ts';
import { askKeyService, checkKeyName, configured } from './key-service-calls.ts';
import { type AdminCall, json, type Route } from './route.ts';

/** Objects per second that a change of keys is slowed down to, unless the call says otherwise. */
const RATE = 500;

/** Removing keys and changing them: what only the server can do, since only it knows what is encrypted with them. */
export function keyLifecycleRoutes(keyPath: (call: string) => RegExp): readonly Route[] {
  return [
    {
      method: 'DELETE',
      path: keyPath('key/delete'),
      action: 'admin:KMSDeleteKey',
      slow: true,
      serve: async (call) => json({ keyId: call.query.get('key-id'), lost: (await remove(call)) ?? null }),
    },
    {
      method: 'GET',
      path: cofferPath('kms/key/usage'),
      action: 'admin:KMSListKeys',
      slow: true,
      serve: async (call) => json({ keys: Object.fromEntries(await lifecycle(call).usage()) }),
    },
    {
      method: 'POST',
      path: cofferPath('kms/key/rotate'),
      action: 'admin:KMSRotateKey',
      serve: async (call) => json(await rotate(call)),
    },
    {
      method: 'GET',
      path: cofferPath('kms/key/rotate'),
      action: 'admin:KMSRotateKey',
      serve: async (call) => json({ rotation: (await lifecycle(call).rotation()) ?? null }),
    },
  ];
}

async function remove(call: AdminCall) {
  const keys = configured(call);
  const keyName = checkKeyName(call.query.get('key-id') ?? '');
  const force = call.query.get('force');
  if (force !== null && force !== keyName) {
    throw new AdminError(
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
    if (error instanceof KeyInUse) throw new AdminError('XCofferRefused', error.message, { cause: error });
    throw error;
  }
}

const rotation = z.object({
  'key-id': z.string(),
  to: z.string().optional(),
  mode: z.enum(['reseal', 'rewrite']).default('reseal'),
  rate: z.coerce.number().int().min(1).max(1_000_000).default(RATE),
});

async function rotate(call: AdminCall) {
  const keys = configured(call);
  const read = rotation.safeParse(Object.fromEntries(call.query));
  if (!read.success) throw new AdminError('XCofferInvalidRequest', z.prettifyError(read.error));
  const { mode, rate } = read.data;
  const from = checkKeyName(read.data['key-id']);
  const to = checkKeyName(read.data.to ?? from);
  for (const name of [from, to]) await askKeyService('generate', name, () => keys.source.checkKey(name));
  try {
    return await lifecycle(call).rotate({ from, to, mode, objectsPerSecond: rate });
  } catch (error) {
    if (error instanceof RotationUnderWay) throw new AdminError('XCofferRefused', error.message, { cause: error });
    throw error;
  }
}

function lifecycle({ services }: AdminCall): KeyLifecycle {
  if (services.keyLifecycle !== undefined) return services.keyLifecycle;
  throw new AdminError('XCofferRefused', 'This server does not maintain its stores.');
}
