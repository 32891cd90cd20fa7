import { z } from 'zod';
import { type KeyLifecycle, RotationUnderWay, KeyInUse } from '../maintenance/rewrap/key-lifecycle.ts';
import { AdminError } from './admin-error.ts';
import { cofferPath } from './admin-path.ts';
import type { KeyAdministration } from './key-administration.ts';
import { askKeyService, checkKeyName, configured, keyNamed, keyRights, listable } from './key-service-calls.ts';
import { type AdminCall, json, type Route } from './route.ts';

/** Objects per second that a change of keys is slowed down to, unless the call says otherwise. */
const RATE = 500;

/** Removing keys and changing them: what only the server can do, since only it knows what is encrypted with them. */
export function keyLifecycleRoutes(keyPath: (call: string) => RegExp): readonly Route[] {
  return [
    {
      method: 'DELETE',
      path: keyPath('key/delete'),
      action: keyRights.delete,
      keys: (call) => [keyNamed(call)],
      slow: true,
      serve: async (call) => json({ keyId: keyNamed(call), lost: (await remove(call)) ?? null }),
    },
    {
      method: 'GET',
      path: cofferPath('kms/key/usage'),
      action: keyRights.list,
      slow: true,
      async serve(call) {
        const usage = await lifecycle(call).usage();
        const names = await listable(call, [...usage.keys()]);
        return json({ keys: Object.fromEntries(names.map((name) => [name, usage.get(name)])) });
      },
    },
    {
      method: 'POST',
      path: cofferPath('kms/key/rotate'),
      action: keyRights.rotate,
      keys: (call) => [keyNamed(call), call.query.get('to') ?? keyNamed(call)],
      serve: async (call) => json(await rotate(call)),
    },
    {
      method: 'GET',
      path: cofferPath('kms/key/rotate'),
      action: keyRights.rotate,
      async serve(call) {
        const rotation = await lifecycle(call).rotation();
        return json({ rotation: rotation !== undefined && (await mayRotate(call, rotation)) ? rotation : null });
      },
    },
  ];
}

/** Those who have no right to its keys learn nothing of a change. */
async function mayRotate(call: AdminCall, { from, to }: { readonly from: string; readonly to: string }) {
  return (await call.allows(keyRights.rotate, from)) && call.allows(keyRights.rotate, to);
}

async function remove(call: AdminCall) {
  const keys = configured(call);
  const keyName = checkKeyName(keyNamed(call));
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
  /** Without `to`: whether the key gets a new version first, or has one already that somebody made at the key service. */
  version: z.enum(['new', 'newest']).optional(),
  mode: z.enum(['reseal', 'rewrite']).default('reseal'),
  rate: z.coerce.number().int().min(1).max(1_000_000).default(RATE),
});

async function rotate(call: AdminCall) {
  const keys = configured(call);
  const read = rotation.safeParse(Object.fromEntries(call.query));
  if (!read.success) throw new AdminError('XCofferInvalidRequest', z.prettifyError(read.error));
  const { mode, rate, version: which } = read.data;
  const from = checkKeyName(read.data['key-id']);
  const to = checkKeyName(read.data.to ?? from);
  if (read.data.to !== undefined && which !== undefined) {
    throw new AdminError('XCofferInvalidRequest', 'version is of the key itself: give it without to.');
  }
  const rotations = lifecycle(call);
  for (const name of new Set([from, to])) await askKeyService('generate', name, () => keys.source.checkKey(name));
  try {
    // Before there is a version that nothing would be sealed under anew.
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
    if (error instanceof RotationUnderWay) throw new AdminError('XCofferRefused', error.message, { cause: error });
    throw error;
  }
}

/** What else there is to do where the key service makes no version. */
const instead = {
  KMSNotPermitted:
    'Or let who administers the key service do it (keysvc key rotate), and ask again with version=newest (--newest).',
  KMSNotSupported: 'It has no versions of keys: give the objects another key instead, with to=KEY (--to KEY).',
} as const;

async function newVersion(keys: KeyAdministration, name: string): Promise<string> {
  try {
    return await askKeyService('rotate', name, () => keys.rotateKey(name));
  } catch (error) {
    const code = error instanceof AdminError ? error.code : undefined;
    if (code === undefined || !(code in instead) || keys.endpoints.length === 0) throw error;
    throw new AdminError(code, `${(error as AdminError).message} ${instead[code as keyof typeof instead]}`, {
      cause: error,
    });
  }
}

function lifecycle({ services }: AdminCall): KeyLifecycle {
  if (services.keyLifecycle !== undefined) return services.keyLifecycle;
  throw new AdminError('XCofferRefused', 'This server does not maintain its stores.');
}
