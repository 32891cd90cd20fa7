import type { AccessKey } from '../api/object.ts';
import { callAdmin, type AdminCall } from '../declared/admin-request.ts';
import { createController, type ControllerOptions } from '../declared/create-controller.ts';
import { endpointOf } from '../declared/signed-request.ts';
import { DeclaredProblem } from '../declared/tenant-refusal.ts';
import { accessKeyOf, credentialsSecretName, secretKeyOf } from '../reconcile/credentials.ts';
import type { DeclaredContext, DeclaredController } from '../reconcile/declared-controller.ts';
import { diffAccessKey, expirationOf, foundAccessKey, newAccount, type FoundAccessKey } from './access-key-state.ts';
import { keysWork } from './keys-work.ts';
import { unless } from './unless.ts';

/** Makes access keys of tenants what their AccessKey resources say, with the secret key of their Secret. */
export function createAccessKeyController(options: ControllerOptions = {}): DeclaredController<AccessKey> {
  return createController(
    {
      describe: (key) => `the access key "${accessKeyOf(key)}"`,

      async changes(key, context, now) {
        const endpoint = endpointOf(context.access);
        const secretKey = secretKeyOf(key, await context.credentials());
        const call = (request: AdminCall) => callAdmin(endpoint, request, now);
        const end = expirationOf(key);
        if (end !== undefined && end <= now().getTime()) throw expired(key);
        const known = await find(key, call);
        const query = { accessKey: accessKeyOf(key) };
        const update = (difference: string, body: object) => ({
          difference,
          make: () => call({ method: 'POST', path: 'v3/update-service-account', query, body, sealed: 'body' }),
        });
        if (known === undefined) {
          const body = newAccount(key, secretKey);
          const made = {
            difference: 'there is no such access key',
            make: () => call({ method: 'PUT', path: 'v3/add-service-account', body, sealed: 'both' }),
          };
          return key.spec.disabled ? [made, update('the key is on and should be off', { newStatus: 'off' })] : [made];
        }
        await checkOwner(key, known, context, call);
        const changes = diffAccessKey(key, known, secretKey).map(({ difference, body }) => update(difference, body));
        const keys = { accessKey: accessKeyOf(key), secretKey };
        // Keys that rest cannot be tried: their secret is set with the change that lets them work.
        if (key.spec.disabled || known.accountStatus === 'off' || (await keysWork(endpoint, keys, now))) return changes;
        return [...changes, update('the secret key is not that of the Secret', { newSecretKey: secretKey })];
      },

      status: (key) => ({ accessKey: accessKeyOf(key), credentialsSecret: credentialsSecretName(key) }),

      async remove(key, context, now) {
        const call = (request: AdminCall) => callAdmin(endpointOf(context.access), request, now);
        const query = { accessKey: accessKeyOf(key) };
        await unless(
          ['XMinioAdminNoSuchAccessKey'],
          call({ method: 'DELETE', path: 'v3/delete-service-account', query }),
        );
        return undefined;
      },
    },
    options,
  );
}

type Call = (request: AdminCall) => Promise<unknown>;

async function find(key: AccessKey, call: Call): Promise<FoundAccessKey | undefined> {
  const query = { accessKey: accessKeyOf(key) };
  const request = { method: 'GET', path: 'v3/info-service-account', query, sealed: 'answer' } as const;
  const answer = await unless(['XMinioAdminNoSuchAccessKey'], call(request));
  return answer === undefined ? undefined : foundAccessKey.parse(answer);
}

/** An access key stays with whom it was made for: one of somebody else is not taken over. */
async function checkOwner(
  key: AccessKey,
  known: FoundAccessKey,
  { access }: DeclaredContext,
  call: Call,
): Promise<void> {
  const wanted = key.spec.user ?? access.rootUser;
  if (known.parentUser === wanted) return;
  if (key.spec.user === undefined) {
    // Servers may have another root user already than the one that is signed with: a name that no user has.
    const request = { method: 'GET', path: 'v3/user-info', query: { accessKey: known.parentUser } } as const;
    if ((await unless(['XMinioAdminNoSuchUser'], call(request))) === undefined) return;
  }
  throw new DeclaredProblem(
    'AccessKeyTaken',
    `the access key "${accessKeyOf(key)}" belongs to "${known.parentUser}" and should be of "${wanted}": ` +
      'delete it in the tenant, or give this resource another spec.accessKey',
  );
}

function expired(key: AccessKey): DeclaredProblem {
  return new DeclaredProblem(
    'Expired',
    `spec.expiration ${key.spec.expiration ?? ''} is over: set a later one, or delete this resource`,
  );
}
