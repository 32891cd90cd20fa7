import { ProgramError } from '../../../platform/errors/program-error.ts';
import { parseDuration } from '../../../platform/settings/parse-value.ts';
import { adminOf, type AdminClient } from '../admin-client.ts';
import type { Context } from '../context.ts';
import { singleAttempt } from '../../s3/retry.ts';
import { secrets } from '../../terminal/prompt.ts';
import { textFields } from '../../terminal/format.ts';
import { readPolicyFile } from './policies.ts';

interface ExpiryOptions {
  /** `2030-01-31`, optionally with a time. */
  readonly expiry?: string;
  /** `24h` or `90d`. */
  readonly expiryDuration?: string;
}

/** Returns the expiration for the admin API; undefined without one. A time without a zone is UTC. */
export function expiration({ expiry, expiryDuration }: ExpiryOptions, now: Date): string | undefined {
  if (expiry !== undefined && expiryDuration !== undefined) {
    throw new ProgramError('BadArgument', 'Give either --expiry, a time, or --expiry-duration, not both');
  }
  const end = expiry === undefined ? after(expiryDuration, now) : timeOf(expiry);
  return end?.toISOString().replace(/\.\d+Z$/, 'Z');
}

function after(duration: string | undefined, now: Date): Date | undefined {
  if (duration === undefined) return undefined;
  try {
    return new Date(now.getTime() + parseDuration(duration));
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    throw new ProgramError('BadArgument', `Invalid --expiry-duration \`${duration}\`: ${error.message}`);
  }
}

function timeOf(text: string): Date {
  const form = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d)?))?(Z|[+-]\d\d:\d\d)?$/.exec(text);
  const [, day = '', time = '00:00', zone = 'Z'] = form ?? [];
  const date = new Date(`${day}T${time}${zone}`);
  if (form !== null && !Number.isNaN(date.getTime())) return date;
  throw new ProgramError('BadArgument', `Invalid --expiry \`${text}\`: write 2030-01-31, or 2030-01-31T08:00:00Z`);
}

export interface KeyOptions extends ExpiryOptions {
  readonly accessKey?: string;
  /** `-` makes the client ask for it. */
  readonly secretKey?: string;
  /** A file; `-` is standard input. */
  readonly policy?: string;
  readonly name?: string;
  readonly description?: string;
}

interface NewCredentials {
  readonly credentials?: {
    readonly accessKey?: string;
    readonly secretKey?: string;
    readonly expiration?: string;
  };
}

/** Makes an access key for a user; the default is the caller. `call` selects the provider of the user. */
export async function createAccessKey(
  context: Context,
  [alias = '', user]: readonly string[],
  options: KeyOptions,
  call: NewKey['call'] = 'add-service-account',
): Promise<void> {
  await makeAccessKey(context, await adminOf(context, alias), { call, user, options });
}

interface NewKey {
  readonly call: 'add-service-account' | 'idp/ldap/add-service-account';
  readonly user?: string | undefined;
  readonly options: KeyOptions;
  /** The secret key, when the client has already asked for it. */
  readonly asked?: string | undefined;
}

export async function makeAccessKey(context: Context, admin: AdminClient, key: NewKey): Promise<void> {
  const { call, user, options, asked } = key;
  const { accessKey, name, description } = options;
  const secretKey = asked ?? (await secretKeyOf(context, options));
  const end = expiration(options, new Date());
  const policy = options.policy === undefined ? undefined : await readPolicy(context, options.policy);
  const { credentials = {} } = await admin.decryptedJson<NewCredentials>({
    method: 'PUT',
    call,
    body: { targetUser: user, accessKey, secretKey, policy, name, description, expiration: end },
    encrypted: true,
    // A retry could make a second key.
    retries: singleAttempt,
  });
  context.output.message(
    textFields({
      'Access Key': credentials.accessKey,
      'Secret Key': credentials.secretKey,
      Expiration: formatExpiration(credentials.expiration),
      Name: name,
      Description: description,
    }),
    {
      accessKey: credentials.accessKey,
      secretKey: credentials.secretKey,
      parentUser: user,
      name,
      description,
      accountStatus: 'enabled',
      expiration: credentials.expiration,
    },
  );
  if (secretKey === undefined) context.output.hint('\nKeep the secret key now: it is not shown again.');
}

interface KeyInfo {
  readonly parentUser?: string;
  readonly accountStatus?: string;
  readonly impliedPolicy?: boolean;
  /** A JSON document. */
  readonly policy?: string;
  readonly name?: string;
  readonly description?: string;
  readonly comment?: string;
  readonly expiration?: string | null;
  readonly userType?: string;
  readonly userProvider?: string;
}

/** `policy` shows the policy only. */
export async function showAccessKey(
  context: Context,
  [alias = '', ...keys]: readonly string[],
  options: { readonly policy?: boolean },
  call: 'info-access-key' | 'info-service-account' | 'temporary-account-info' = 'info-access-key',
): Promise<void> {
  const admin = await adminOf(context, alias);
  // Without an access key the server describes the one of the alias.
  for (const accessKey of keys.length === 0 ? [undefined] : keys) {
    const info = await admin.decryptedJson<KeyInfo & { readonly AccessKey?: string }>({
      method: 'GET',
      call,
      query: { accessKey },
    });
    const policy = policyOf(info);
    const shown = accessKey ?? info.AccessKey ?? '';
    const human = options.policy === true ? JSON.stringify(policy ?? {}, null, 2) : keyFields(shown, info, policy);
    context.output.message(human, {
      accessKey: shown,
      ...info,
      AccessKey: undefined,
      policy,
    });
  }
}

function keyFields(accessKey: string, info: KeyInfo, policy: unknown): string {
  const fields = textFields({
    AccessKey: accessKey,
    ParentUser: info.parentUser,
    Status: info.accountStatus,
    Type: info.userType,
    Provider: info.userProvider,
    Name: info.name,
    Description: info.description ?? info.comment,
    Policy:
      info.impliedPolicy === false ? 'its own, besides what the owner may' : 'none of its own: what the owner may',
    Expiration: formatExpiration(info.expiration),
  });
  const own = info.impliedPolicy === false && policy !== undefined;
  return own ? `${fields}\n${JSON.stringify(policy, null, 2)}` : fields;
}

function policyOf({ policy }: KeyInfo): unknown {
  if (policy === undefined || policy === '') return undefined;
  try {
    return JSON.parse(policy);
  } catch {
    return policy;
  }
}

export async function editAccessKey(
  context: Context,
  [alias = '', accessKey = '']: readonly string[],
  options: KeyOptions,
): Promise<void> {
  const admin = await adminOf(context, alias);
  const secretKey = await secretKeyOf(context, options);
  const change = {
    newPolicy: options.policy === undefined ? undefined : await readPolicy(context, options.policy, true),
    newSecretKey: secretKey,
    newName: options.name,
    newDescription: options.description,
    newExpiration: expiration(options, new Date()),
  };
  if (Object.values(change).every((value) => value === undefined)) {
    throw new ProgramError(
      'BadArgument',
      `Say what shall change of \`${accessKey}\`: --name, --description, --policy, --secret-key -, --expiry or --expiry-duration`,
    );
  }
  await update(admin, accessKey, change);
  context.output.message(`Edited access key \`${accessKey}\` successfully.`, { accessKey });
}

export async function setKeyStatus(
  context: Context,
  [alias = '', accessKey = '']: readonly string[],
  status: 'on' | 'off',
): Promise<void> {
  await update(await adminOf(context, alias), accessKey, { newStatus: status });
  const done = status === 'on' ? 'Enabled' : 'Disabled';
  context.output.message(`${done} access key \`${accessKey}\` successfully.`, {
    accessKey,
    accountStatus: status === 'on' ? 'enabled' : 'disabled',
  });
}

async function update(admin: AdminClient, accessKey: string, change: object): Promise<void> {
  await admin.send({
    method: 'POST',
    call: 'update-service-account',
    query: { accessKey },
    body: change,
    encrypted: true,
  });
}

export async function removeAccessKey(
  context: Context,
  [alias = '', accessKey = '']: readonly string[],
): Promise<void> {
  const admin = await adminOf(context, alias);
  await admin.send({ method: 'DELETE', call: 'delete-service-account', query: { accessKey } });
  context.output.message(`Removed access key \`${accessKey}\` successfully.`, { accessKey });
}

/** Undefined makes the server generate a secret key. */
async function secretKeyOf(context: Context, { secretKey, accessKey }: KeyOptions): Promise<string | undefined> {
  if (secretKey === undefined) return undefined;
  const what = accessKey === undefined ? 'secret key' : `secret key of ${accessKey}`;
  const [secret] = await secrets(context, [{ what, given: secretKey }]);
  return secret;
}

/**
 * Reads a policy that restricts a key. Servers take an empty document for "no policy", which restricts nothing: only an edit may send
 * exactly `{}`, which removes the policy.
 */
async function readPolicy(context: Context, file: string, mayRemove = false): Promise<unknown> {
  const policy: unknown = JSON.parse(await readPolicyFile(context, file, 'boundary'));
  const fields = typeof policy === 'object' && policy !== null ? Object.entries(policy) : [];
  const statements: unknown = Object.fromEntries(fields)['Statement'];
  const isEmpty =
    statements === undefined || statements === null || (Array.isArray(statements) && statements.length === 0);
  if (!isEmpty || (mayRemove && JSON.stringify(policy) === '{}')) return policy;
  const advice = mayRemove
    ? ': write {} to remove the policy of the key'
    : ', and would restrict nothing: leave the option out';
  throw new ProgramError('BadArgument', `The policy \`${file}\` has no statement${advice}`);
}

/** Formats an expiration. Servers send the beginning of time for a key that does not expire. */
export function formatExpiration(expiration: string | null | undefined): string {
  const time = Date.parse(expiration ?? '');
  return Number.isNaN(time) || time <= 0 ? 'never' : new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
}
