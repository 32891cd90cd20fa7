import { ProgramError } from '../../../../platform/errors/program-error.ts';
import { parseRemote, type RemoteTarget } from '../../../config/target.ts';
import { getBucketPolicy, policySetting, putBucketPolicy } from '../../../s3/bucket-settings.ts';
import { editSetting } from '../../../s3/edit-setting.ts';
import { percentEncodePath } from '../../../../protocol/uri/percent-encoding.ts';
import { printable } from '../../../../platform/text/printable.ts';
import { readDocument } from '../../../terminal/io.ts';
import type { Context } from '../../context.ts';
import { remoteEntries } from '../entries/remote-entries.ts';
import {
  accessTo,
  changeAnonymousAccess,
  nameOf,
  permissions,
  readAnonymousAccess,
  type AnonymousAccess,
  type Permission,
} from './anonymous-policy.ts';

export async function setAnonymous(context: Context, args: readonly string[]): Promise<void> {
  const [text = '', argument = ''] = args;
  const permission = parsePermission(text);
  const target = await targetOf(context, argument);
  const change = { prefix: target.key, permission };
  await editSetting(await context.client(target.alias), target.bucket, policySetting, (document) => {
    if (document !== undefined && parseJson(document) === undefined) {
      throw new ProgramError('Failed', `The policy of \`${target.bucket}\` is no JSON, so that nothing was changed`);
    }
    return changeAnonymousAccess(document, target.bucket, change);
  });
  context.output.message(`Access permission for \`${printable(argument)}\` is set to \`${permission}\``, {
    operation: 'set',
    bucket: argument,
    permission,
  });
  await warnOfOthers(context, target);
}

/** Names the permissions of prefixes above and below, which stay and give more than the one that was set. */
async function warnOfOthers(context: Context, target: RemoteTarget): Promise<void> {
  const { access } = await readPolicy(context, target).catch(() => ({ access: readAnonymousAccess(undefined, '') }));
  const others = [...access.permissions].flatMap(([prefix, given]) => {
    const isNear = prefix.startsWith(target.key) || target.key.startsWith(prefix);
    const name = nameOf(given);
    if (prefix === target.key || !isNear || name === undefined) return [];
    return [`\`${printable(`${target.bucket}/${prefix}*`)}\` (${name})`];
  });
  if (others.length > 0) context.output.warn('anonymous', `Permissions of other prefixes stay: ${others.join(', ')}`);
}

/** The policy comes from a file, or from standard input for `-`. */
export async function setAnonymousJson(context: Context, args: readonly string[]): Promise<void> {
  const [file = '', argument = ''] = args;
  const target = await targetOf(context, argument);
  const document = await readDocument(context.io, file);
  if (parseJson(document) === undefined) throw new ProgramError('BadArgument', `\`${file}\` is not valid JSON`);
  await putBucketPolicy(await context.client(target.alias), target.bucket, document);
  context.output.message(`Access permission for \`${printable(argument)}\` is set from \`${printable(file)}\``, {
    operation: 'set-json',
    bucket: argument,
    permission: describe(await readPolicy(context, target), target.key),
  });
}

export async function getAnonymous(context: Context, [argument = '']: readonly string[]): Promise<void> {
  const target = await targetOf(context, argument);
  const stored = await readPolicy(context, target);
  const permission = describe(stored, target.key);
  context.output.message(`Access permission for \`${printable(argument)}\` is \`${permission}\``, {
    operation: 'get',
    bucket: argument,
    permission,
    anonymous: withStatementIds(stored.policy),
  });
}

export async function getAnonymousJson(context: Context, [argument = '']: readonly string[]): Promise<void> {
  const target = await targetOf(context, argument);
  const stored = await readPolicy(context, target);
  context.output.message(JSON.stringify(stored.policy ?? {}, undefined, 2), {
    operation: 'get-json',
    bucket: argument,
    permission: describe(stored, target.key),
    anonymous: withStatementIds(stored.policy),
  });
}

const allowed = { download: 'readonly', upload: 'writeonly', public: 'readwrite' } as const;

export async function listAnonymous(context: Context, [argument = '']: readonly string[]): Promise<void> {
  const target = await targetOf(context, argument);
  const { access } = await readPolicy(context, target);
  for (const [prefix, given] of access.permissions) {
    const name = nameOf(given);
    if (name === undefined || !prefix.startsWith(target.key)) continue;
    const resource = `${target.bucket}/${prefix}*`;
    context.output.message(`${printable(resource)} => ${allowed[name]}`, { resource, allow: allowed[name] });
  }
}

/** Prints the addresses of the objects that everybody can read. */
export async function linkAnonymous(
  context: Context,
  [argument = '']: readonly string[],
  options: { readonly recursive?: boolean },
): Promise<void> {
  const target = await targetOf(context, argument);
  const { access } = await readPolicy(context, target);
  const client = await context.client(target.alias);
  for await (const { key, kind } of remoteEntries(client, target, { recursive: options.recursive === true })) {
    if (kind === 'folder' || !accessTo(access, key).read) continue;
    const url = `${target.alias.url}/${target.bucket}/${percentEncodePath(key)}`;
    await context.output.line(url, { url });
  }
}

interface StoredPolicy {
  readonly policy: unknown;
  readonly access: AnonymousAccess;
}

async function readPolicy(context: Context, { alias, bucket }: RemoteTarget): Promise<StoredPolicy> {
  const text = await getBucketPolicy(await context.client(alias), bucket);
  const policy = text === undefined ? undefined : parseJson(text);
  return { policy, access: readAnonymousAccess(policy, bucket) };
}

function describe({ access }: StoredPolicy, prefix: string): string {
  return nameOf(accessTo(access, prefix)) ?? (access.others.length > 0 ? 'custom' : 'private');
}

function parsePermission(text: string): Permission {
  // `none` is an older name of `private`.
  const name = text === 'none' ? 'private' : text;
  if (Object.hasOwn(permissions, name)) return name as Permission;
  throw new ProgramError('BadArgument', `Invalid permission \`${text}\`: it is private, public, download or upload`);
}

async function targetOf(context: Context, argument: string): Promise<RemoteTarget> {
  const target = parseRemote(argument, await context.aliases());
  if (target.bucket === '') throw new ProgramError('BadArgument', `Invalid target \`${argument}\`: name a bucket`);
  return target;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Other clients print the ID of each statement, also where there is none. */
function withStatementIds(policy: unknown): unknown {
  if (typeof policy !== 'object' || policy === null || !('Statement' in policy)) return policy;
  const statements = [policy.Statement].flat() as readonly object[];
  return { ...policy, Statement: statements.map((statement) => ({ Sid: '', ...statement })) };
}
