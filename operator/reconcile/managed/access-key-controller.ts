import { ResourceError } from '../../api/resource-error.ts';
import { z } from 'zod';
import { parsePolicyDocument } from '../../../protocol/policy/parse-policy.ts';
import { policyJson } from '../../../protocol/policy/document.ts';
import type { AccessKey } from '../../api/object.ts';
import { sameDocument, createController, type ControllerOptions } from './create-controller.ts';
import {
  accessKeyOf,
  credentialsSecretName,
  keysWork,
  mustBeTakeable,
  rememberCredentials,
  secretKeyOf,
  settledCredentials,
} from './credentials.ts';
import { callAdmin, type AdminCall, unless } from './admin-request.ts';
import { endpointOf } from './signed-request.ts';
import type { ManagedContext, ManagedController } from './controller.ts';

/** The form of the admin API. */
const foundAccessKey = z.object({
  parentUser: z.string(),
  accountStatus: z.enum(['on', 'off']),
  /** Without a policy of its own. */
  impliedPolicy: z.boolean(),
  /** JSON: its own, or what its owner may do. */
  policy: z.string(),
  description: z.string().optional(),
  expiration: z.string().optional(),
});
type FoundAccessKey = z.output<typeof foundAccessKey>;

/** Milliseconds since 1970, whole seconds as the server shows them; undefined where it never ends. */
function expirationOf({ spec }: AccessKey): number | undefined {
  return spec.expiration === undefined ? undefined : Math.floor(Date.parse(spec.expiration) / 1_000) * 1_000;
}

function newAccount(key: AccessKey, secretKey: string): Readonly<Record<string, unknown>> {
  const { user, policy, description } = key.spec;
  const end = expirationOf(key);
  return {
    accessKey: accessKeyOf(key),
    secretKey,
    targetUser: user,
    policy,
    description,
    expiration: end === undefined ? undefined : new Date(end).toISOString(),
  };
}

/** The value for no expiration in the admin API. */
const never = new Date(0).toISOString();

interface AccessKeyChange {
  readonly difference: string;
  /** The fields of the call that updates a service account. */
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Returns the changes that make the found key the wanted one. A key is restricted before it is
 * enabled, and disabled before all else.
 */
function diffAccessKey(
  key: AccessKey,
  found: FoundAccessKey,
  secretKey: string | undefined,
): readonly AccessKeyChange[] {
  const { policy, description, disabled } = key.spec;
  const changes: AccessKeyChange[] = [];
  if (disabled && found.accountStatus === 'on') {
    changes.push({ difference: 'the key is on and should be off', body: { newStatus: 'off' } });
  }
  if (!samePolicy(policy, found)) {
    const difference =
      policy === undefined
        ? 'there is a policy and should be none'
        : `${found.impliedPolicy ? 'there is no' : 'another'} policy`;
    // A document without statements means that there is none.
    changes.push({ difference, body: { newPolicy: policy ?? {} } });
  }
  const end = expirationOf(key);
  const foundEnd = found.expiration === undefined ? 0 : Date.parse(found.expiration);
  if ((end ?? 0) !== foundEnd) {
    const text = end === undefined ? never : new Date(end).toISOString();
    changes.push({ difference: 'the expiration differs', body: { newExpiration: text } });
  }
  // An empty one says nothing in the admin API: a description that was taken out stays.
  if (description !== undefined && description !== '' && description !== found.description) {
    changes.push({ difference: 'the description differs', body: { newDescription: description } });
  }
  if (!disabled && found.accountStatus === 'off') {
    changes.push({ difference: 'the key is off and should be on', body: { newStatus: 'on', newSecretKey: secretKey } });
  }
  return changes;
}

function samePolicy(wanted: AccessKey['spec']['policy'], found: FoundAccessKey): boolean {
  if (wanted === undefined) return found.impliedPolicy;
  return !found.impliedPolicy && sameDocument(asShown(wanted), JSON.parse(found.policy));
}

/** As the server shows it: one statement as a list, one action as a list. A document that it will refuse stays as it is. */
function asShown(document: unknown): unknown {
  try {
    return policyJson(parsePolicyDocument(JSON.stringify(document)));
  } catch {
    return document;
  }
}

/** Makes access keys of tenants what their AccessKey resources say, with the secret key of their Secret. */
export function createAccessKeyController(options: ControllerOptions = {}): ManagedController<AccessKey> {
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
            async make() {
              await call({ method: 'PUT', path: 'v3/add-service-account', body, sealed: 'both' });
              await rememberCredentials(secretKey, context);
            },
          };
          return key.spec.disabled ? [made, update('the key is on and should be off', { newStatus: 'off' })] : [made];
        }
        await checkOwner(key, known, context, call);
        const isKnown = context.status.credentials !== undefined;
        const changes = diffAccessKey(key, known, isKnown ? secretKey : undefined).map(({ difference, body }) =>
          update(difference, body),
        );
        const keys = { accessKey: accessKeyOf(key), secretKey };
        // Keys that rest cannot be tried: their secret is set with the change that lets them work.
        if (key.spec.disabled || known.accountStatus === 'off' || (await keysWork(endpoint, keys, now))) return changes;
        mustBeTakeable(key, secretKey, context);
        return [...changes, update('the secret key is not that of the Secret', { newSecretKey: secretKey })];
      },

      status: async (key, context) => ({
        accessKey: accessKeyOf(key),
        credentialsSecret: credentialsSecretName(key),
        ...(await settledCredentials(key, context)),
      }),

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

/** An access key belongs to the user that it was made for: the operator does not take over a key of another user. */
async function checkOwner(
  key: AccessKey,
  known: FoundAccessKey,
  { access }: ManagedContext,
  call: Call,
): Promise<void> {
  const wanted = key.spec.user ?? access.rootUser;
  if (known.parentUser === wanted) return;
  if (key.spec.user === undefined) {
    // Servers may have another root user already than the one that is signed with: a name that no user has.
    const request = { method: 'GET', path: 'v3/user-info', query: { accessKey: known.parentUser } } as const;
    if ((await unless(['XMinioAdminNoSuchUser'], call(request))) === undefined) return;
  }
  throw new ResourceError(
    'AccessKeyTaken',
    `the access key "${accessKeyOf(key)}" belongs to "${known.parentUser}" and should be of "${wanted}": ` +
      'delete it in the tenant, or give this resource another spec.accessKey',
  );
}

function expired(key: AccessKey): ResourceError {
  return new ResourceError(
    'Expired',
    `spec.expiration ${key.spec.expiration ?? ''} is over: set a later one, or delete this resource`,
  );
}
