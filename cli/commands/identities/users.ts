import { adminOf, type AdminClient } from '../admin-client.ts';
import type { Context } from '../context.ts';
import { ask, secret } from '../../terminal/prompt.ts';
import { textFields } from '../../terminal/format.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

interface UserInfo {
  readonly status?: string;
  /** Names separated by commas. */
  readonly policyName?: string;
  readonly memberOf?: readonly string[];
}

/** Makes a user, or changes the secret key of one. The client asks for missing keys. */
export async function addUser(context: Context, args: readonly string[]): Promise<void> {
  const [alias = ''] = args;
  const admin = await adminOf(context, alias);
  const { accessKey, secretKey } = await newKeys(context, args.slice(1));
  await admin.send({
    method: 'PUT',
    call: 'add-user',
    query: { accessKey },
    body: { secretKey, status: 'enabled' },
    encrypted: true,
  });
  context.output.message(`Added user \`${accessKey}\` successfully.`, {
    accessKey,
    secretKey: '********',
    userStatus: 'enabled',
  });
  context.output.hint(`Give it rights: coffer admin policy attach ${alias} readwrite --user ${accessKey}`);
}

async function newKeys(
  context: Context,
  [accessKey, secretKey]: readonly string[],
): Promise<{ readonly accessKey: string; readonly secretKey: string }> {
  if (accessKey !== undefined) {
    return { accessKey, secretKey: await secret(context, `secret key of ${accessKey}`, secretKey) };
  }
  const [name = '', answer = ''] = await ask(context.io, [
    { text: 'Enter the access key: ', secret: false },
    { text: 'Enter the secret key: ', secret: true },
  ]);
  if (name === '' || answer === '') throw new ProgramError('BadArgument', 'A user has an access key and a secret key');
  return { accessKey: name, secretKey: answer };
}

export async function listUsers(context: Context, [alias = '']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const users = await admin.decryptedJson<Record<string, UserInfo>>({ method: 'GET', call: 'list-users' });
  const rows = Object.entries(users).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const names = new Set(rows.flatMap(([, { memberOf = [] }]) => memberOf));
  const groups = context.output.json ? await policiesOfGroups(admin, [...names]) : [];
  const human =
    rows.length === 0
      ? `There are no users. Make one: coffer admin user add ${alias} NAME`
      : context.output.table(
          ['USER', 'STATUS', 'POLICIES', 'GROUPS'],
          rows.map(([name, { status = '', policyName = '', memberOf = [] }]) => [
            name,
            status,
            policyName || '-',
            memberOf.join(',') || '-',
          ]),
        );
  context.output.list(
    human,
    rows.map(([name, user]) => fieldsOf(name, user, groups)),
  );
}

export async function showUser(context: Context, [alias = '', name = '']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const user = await admin.json<UserInfo>({ method: 'GET', call: 'user-info', query: { accessKey: name } });
  const groups = await policiesOfGroups(admin, user.memberOf ?? []);
  const ofGroups = groups.map(({ name: group, policies }) => `${group} (${policies.join(', ') || 'no policies'})`);
  context.output.message(
    textFields({
      AccessKey: name,
      Status: user.status,
      Policies: user.policyName?.replaceAll(',', ', ') || 'none of its own',
      MemberOf: ofGroups.join(', ') || 'no group',
    }),
    fieldsOf(name, user, groups),
  );
}

interface Group {
  readonly name: string;
  readonly policies: readonly string[];
}

/** A caller without the permission to see groups gets their names only. */
async function policiesOfGroups(admin: AdminClient, names: readonly string[]): Promise<Group[]> {
  return Promise.all(
    names.map(async (name) => {
      const group = await admin
        .json<{ readonly policy?: string }>({ method: 'GET', call: 'group', query: { group: name } })
        .catch(ignoreRejected);
      const policies = (group?.policy ?? '').split(',').filter((policy) => policy !== '');
      return { name, policies };
    }),
  );
}

function ignoreRejected(error: unknown): undefined {
  if (!(error instanceof ResponseError)) throw error;
}

/** Prints the documents of a user's own policies as one. */
export async function showUserPolicy(context: Context, [alias = '', name = '']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const { policyName = '' } = await admin.json<UserInfo>({
    method: 'GET',
    call: 'user-info',
    query: { accessKey: name },
  });
  if (policyName === '') {
    throw new ProgramError(
      'NotFound',
      `The user \`${name}\` has no policy of its own; those of its groups may still count`,
    );
  }
  const documents = await Promise.all(
    policyName.split(',').map((policy) =>
      admin.json<{ readonly Policy?: { readonly Statement?: unknown } }>({
        method: 'GET',
        call: 'info-canned-policy',
        query: { name: policy, v: '2' },
      }),
    ),
  );
  const statements = documents.flatMap(({ Policy }) => Policy?.Statement ?? []);
  const document = { Version: '2012-10-17', Statement: statements };
  context.output.message(JSON.stringify(document, null, 2), document);
}

export async function setUserStatus(
  context: Context,
  [alias = '', name = '']: readonly string[],
  status: 'enabled' | 'disabled',
): Promise<void> {
  const admin = await adminOf(context, alias);
  await admin.send({ method: 'PUT', call: 'set-user-status', query: { accessKey: name, status } });
  const done = status === 'enabled' ? 'Enabled' : 'Disabled';
  context.output.message(`${done} user \`${name}\` successfully.`, { accessKey: name, userStatus: status });
}

export async function removeUser(context: Context, [alias = '', name = '']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  await admin.send({ method: 'DELETE', call: 'remove-user', query: { accessKey: name } });
  context.output.message(`Removed user \`${name}\` successfully.`, { accessKey: name });
}

function fieldsOf(accessKey: string, { policyName = '', status, memberOf = [] }: UserInfo, groups: readonly Group[]) {
  return {
    accessKey,
    policyName: policyName || undefined,
    userStatus: status,
    ...(memberOf.length === 0 ? {} : { memberOf: groups.filter(({ name }) => memberOf.includes(name)) }),
  };
}
