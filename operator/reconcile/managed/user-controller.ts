import { z } from 'zod';
import type { User } from '../../api/object.ts';
import { callAdmin, type AdminCall, unless } from './admin-request.ts';
import { createController, type ControllerOptions, type ManagedChange } from './create-controller.ts';
import { endpointOf, type TenantEndpoint } from './signed-request.ts';
import {
  accessKeyOf,
  credentialsSecretName,
  keysWork,
  mustBeTakeable,
  rememberCredentials,
  secretKeyOf,
  settledCredentials,
} from './credentials.ts';
import type { ManagedController } from './controller.ts';

const found = z.object({ status: z.enum(['enabled', 'disabled']), memberOf: z.array(z.string()).optional() });
type FoundUser = z.output<typeof found>;

/** Makes users of tenants what their User resources say, with the keys of their Secret. */
export function createUserController(options: ControllerOptions = {}): ManagedController<User> {
  return createController(
    {
      describe: (user) => `the user "${accessKeyOf(user)}"`,

      async changes(user, context, now) {
        const endpoint = endpointOf(context.access);
        const secretKey = secretKeyOf(user, await context.credentials());
        const known = await find(endpoint, accessKeyOf(user), now);
        const call = (request: AdminCall) => callAdmin(endpoint, request, now);
        const keys = { accessKey: accessKeyOf(user), secretKey };
        const works = () => keysWork(endpoint, keys, now);
        return [
          ...(await accountChanges(
            user,
            secretKey,
            known,
            {
              works,
              isKnown: context.status.credentials !== undefined,
              mustBeTakeable: () => mustBeTakeable(user, secretKey, context),
              given: () => rememberCredentials(secretKey, context),
            },
            call,
          )),
          ...groupChanges(user, known?.memberOf ?? [], call),
        ];
      },

      status: async (user, context) => ({
        accessKey: accessKeyOf(user),
        credentialsSecret: credentialsSecretName(user),
        ...(await settledCredentials(user, context)),
      }),

      async remove(user, { access }, now) {
        const call = { method: 'DELETE', path: 'v3/remove-user', query: { accessKey: accessKeyOf(user) } } as const;
        await unless(['XMinioAdminNoSuchUser'], callAdmin(endpointOf(access), call, now));
        return undefined;
      },
    },
    options,
  );
}

type Call = (request: AdminCall) => Promise<unknown>;

/** The operator's knowledge of the secret key that the server has. */
interface KeyState {
  /** Reports whether the server accepts that of the Secret. */
  readonly works: () => Promise<boolean>;
  /** True if a status says what it had. */
  readonly isKnown: boolean;
  /** Throws where the server must not be given another one. */
  readonly mustBeTakeable: () => void;
  /** Called when it was given that of the Secret. */
  readonly given: () => Promise<void>;
}

async function find(endpoint: TenantEndpoint, accessKey: string, now: () => Date): Promise<FoundUser | undefined> {
  const call = { method: 'GET', path: 'v3/user-info', query: { accessKey } } as const;
  const answer = await unless(['XMinioAdminNoSuchUser'], callAdmin(endpoint, call, now));
  return answer === undefined ? undefined : found.parse(answer);
}

/** Keys that rest cannot be tried: they are set with the change that lets them work. */
async function accountChanges(
  user: User,
  secretKey: string,
  known: FoundUser | undefined,
  keys: KeyState,
  call: Call,
): Promise<readonly ManagedChange[]> {
  const status = user.spec.disabled ? 'disabled' : 'enabled';
  const put = (difference: string, body: object): ManagedChange => ({
    difference,
    make: () =>
      call({
        method: 'PUT',
        path: 'v3/add-user',
        query: { accessKey: accessKeyOf(user) },
        body,
        sealed: 'body',
      }),
  });
  if (known === undefined) {
    const made = put('there is no such user', { secretKey, status });
    return [{ ...made, make: () => made.make().then(keys.given) }];
  }
  if (known.status !== status) {
    const difference = `the user is ${known.status} and should be ${status}`;
    // A key of which nothing is known is tried first, once it works.
    return [put(difference, status === 'enabled' && keys.isKnown ? { secretKey, status } : { status })];
  }
  if (status === 'disabled' || (await keys.works())) return [];
  keys.mustBeTakeable();
  return [put('the secret key is not that of the Secret', { secretKey, status })];
}

function groupChanges({ spec, ...user }: User, now: readonly string[], call: Call): readonly ManagedChange[] {
  const { groups } = spec;
  if (groups === undefined) return [];
  const member = accessKeyOf({ spec, ...user });
  const change = (group: string, isRemove: boolean): ManagedChange => ({
    difference: `the user is ${isRemove ? 'a' : 'no'} member of the group "${group}"`,
    make: () => call({ method: 'PUT', path: 'v3/update-group-members', body: { group, members: [member], isRemove } }),
  });
  return [
    ...groups.filter((group) => !now.includes(group)).map((group) => change(group, false)),
    ...now.filter((group) => !groups.includes(group)).map((group) => change(group, true)),
  ];
}
