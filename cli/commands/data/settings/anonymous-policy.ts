import { isDeepStrictEqual } from 'node:util';

/**
 * The rights that the policy of a bucket gives to everybody, by the prefixes of keys. The statements that give `download`, `upload` and `public` are
 * those that other clients write, so that each reads what the others wrote. All other statements are kept as they are.
 */
export interface AnonymousAccess {
  readonly permissions: ReadonlyMap<string, Access>;
  readonly others: readonly Statement[];
}

export interface Access {
  readonly read: boolean;
  readonly write: boolean;
}

/** A statement of a policy in JSON. */
type Statement = Readonly<Record<string, unknown>>;

export const permissions = {
  private: none(),
  download: reads(),
  upload: writes(),
  public: { read: true, write: true },
};
export type Permission = keyof typeof permissions;

function none(): Access {
  return { read: false, write: false };
}
function reads(): Access {
  return { read: true, write: false };
}
function writes(): Access {
  return { read: false, write: true };
}

const readActions = ['s3:GetObject'];
const writeActions = ['s3:AbortMultipartUpload', 's3:DeleteObject', 's3:ListMultipartUploadParts', 's3:PutObject'];
const arnPrefix = 'arn:aws:s3:::';

/** Returns the name of an access, or undefined for none. */
export function nameOf({ read, write }: Access): Exclude<Permission, 'private'> | undefined {
  if (read) return write ? 'public' : 'download';
  return write ? 'upload' : undefined;
}

/** Reads a policy. */
export function readAnonymousAccess(policy: unknown, bucket: string): AnonymousAccess {
  const statements = statementsOf(policy);
  const found = new Map<string, Access>();
  const rest: Statement[] = [];
  for (const statement of statements) {
    const access = objectAccess(statement, bucket);
    if (access === undefined) rest.push(statement);
    for (const prefix of access?.prefixes ?? []) {
      const before = found.get(prefix) ?? none();
      found.set(prefix, { read: before.read || access?.read === true, write: before.write || access?.write === true });
    }
  }
  return { permissions: found, others: rest.filter((statement) => !servesListing(statement, bucket, found)) };
}

/** Returns the access to a prefix, also by statements for a shorter one. */
export function accessTo(access: AnonymousAccess, prefix: string): Access {
  const applying = [...access.permissions].filter(([one]) => prefix.startsWith(one)).map(([, one]) => one);
  return { read: applying.some(({ read }) => read), write: applying.some(({ write }) => write) };
}

/** Returns the access with another permission for exactly this prefix. */
function withPermission({ permissions: before }: AnonymousAccess, prefix: string, permission: Permission) {
  const changed = new Map(before);
  if (permission === 'private') changed.delete(prefix);
  else changed.set(prefix, permissions[permission]);
  return changed;
}

/**
 * Returns the text of a policy with another permission for exactly this prefix; undefined if nothing is left to allow. All other statements
 * stay where and as they are, and so do `Version` and `Id`: the version decides whether the text of other statements has variables.
 *
 * @throws SyntaxError for a text that is not JSON
 */
export function changeAnonymousAccess(
  document: string | undefined,
  bucket: string,
  { prefix, permission }: { readonly prefix: string; readonly permission: Permission },
): string | undefined {
  const policy = document === undefined ? undefined : (JSON.parse(document) as unknown);
  const access = readAnonymousAccess(policy, bucket);
  const before = access.permissions;
  const after = withPermission(access, prefix, permission);
  if (isDeepStrictEqual(before.get(prefix), after.get(prefix))) return document;
  const lists = !isDeepStrictEqual(listingOf(before, bucket), listingOf(after, bucket));
  const kept = statementsOf(policy).flatMap((statement) => {
    if (objectAccess(statement, bucket) !== undefined)
      return withoutPrefix(statement, `${arnPrefix}${bucket}/${prefix}*`);
    return lists && servesListing(statement, bucket, before) ? [] : [statement];
  });
  const given = after.get(prefix) ?? none();
  const resources = [`${arnPrefix}${bucket}/${prefix}*`];
  const statements = [
    ...kept,
    ...(lists ? listingOf(after, bucket) : []),
    ...(given.read ? [allow(readActions, resources)] : []),
    ...(given.write ? [allow(writeActions, resources)] : []),
  ];
  if (statements.length === 0) return undefined;
  return JSON.stringify({ ...(isRecord(policy) ? policy : { Version: '2012-10-17' }), Statement: statements });
}

/** The statements about the bucket that clients need for these permissions. */
function listingOf(given: ReadonlyMap<string, Access>, bucket: string): readonly Statement[] {
  if (given.size === 0) return [];
  const readable = [...given]
    .filter(([, { read }]) => read)
    .map(([prefix]) => prefix)
    .toSorted();
  const root = [`${arnPrefix}${bucket}`];
  const wide = readable.includes('') ? ['s3:ListBucket'] : [];
  const uploads = [...given.values()].some(({ write }) => write) ? ['s3:ListBucketMultipartUploads'] : [];
  return [
    allow(['s3:GetBucketLocation', ...wide, ...uploads], root),
    ...(readable.length === 0 || wide.length > 0
      ? []
      : [{ ...allow(['s3:ListBucket'], root), Condition: { StringEquals: { 's3:prefix': readable } } }]),
  ];
}

/** A statement may be for several prefixes. */
function withoutPrefix(statement: Statement, resource: string): readonly Statement[] {
  const all = textsOf(statement['Resource']);
  const rest = all.filter((one) => one !== resource);
  if (rest.length === all.length) return [statement];
  return rest.length === 0 ? [] : [{ ...statement, Resource: rest }];
}

function allow(actions: readonly string[], resources: readonly string[]): Statement {
  return { Effect: 'Allow', Principal: { AWS: ['*'] }, Action: actions, Resource: resources };
}

function statementsOf(policy: unknown): readonly Statement[] {
  return isRecord(policy) ? [policy['Statement']].flat().filter(isRecord) : [];
}

/** Returns the prefixes and the access of a statement about objects that clients write. */
function objectAccess(statement: Statement, bucket: string): (Access & { prefixes: string[] }) | undefined {
  if (!isForEverybody(statement) || statement['Condition'] !== undefined) return undefined;
  const actions = textsOf(statement['Action']);
  const read = sameSet(actions, readActions);
  const write = sameSet(actions, writeActions);
  const both = sameSet(actions, [...readActions, ...writeActions]);
  if (!read && !write && !both) return undefined;
  const start = `${arnPrefix}${bucket}/`;
  const resources = textsOf(statement['Resource']);
  if (resources.length === 0 || !resources.every((one) => isPrefixResource(one, start))) return undefined;
  return { prefixes: resources.map((one) => one.slice(start.length, -1)), read: read || both, write: write || both };
}

/** A pattern with another wildcard is not a prefix. */
function isPrefixResource(resource: string, start: string): boolean {
  return resource.startsWith(start) && /^[^*?]*\*$/.test(resource.slice(start.length));
}

/** Reports whether a statement about the bucket gives only what clients write for these permissions. */
function servesListing(statement: Statement, bucket: string, found: ReadonlyMap<string, Access>): boolean {
  if (!isForEverybody(statement) || !sameSet(textsOf(statement['Resource']), [`${arnPrefix}${bucket}`])) return false;
  const condition = prefixesOf(statement['Condition']);
  if (condition === undefined || found.size === 0) return false;
  const allowed = (action: string): boolean => {
    if (action === 's3:GetBucketLocation') return condition.length === 0;
    if (action === 's3:ListBucketMultipartUploads') {
      return condition.length === 0 && [...found.values()].some(({ write }) => write);
    }
    const listed = condition.length === 0 ? [''] : condition;
    return action === 's3:ListBucket' && listed.every((prefix) => found.get(prefix)?.read === true);
  };
  const actions = textsOf(statement['Action']);
  return actions.length > 0 && actions.every(allowed);
}

/** Returns the prefixes of the only condition that clients write; empty without a condition, undefined for another one. */
function prefixesOf(condition: unknown): readonly string[] | undefined {
  if (condition === undefined) return [];
  if (!isRecord(condition) || Object.keys(condition).join() !== 'StringEquals') return undefined;
  const test = condition['StringEquals'];
  if (!isRecord(test) || Object.keys(test).join() !== 's3:prefix') return undefined;
  return textsOf(test['s3:prefix']);
}

function isForEverybody(statement: Statement): boolean {
  const known = ['Sid', 'Effect', 'Principal', 'Action', 'Resource', 'Condition'];
  if (statement['Effect'] !== 'Allow' || Object.keys(statement).some((name) => !known.includes(name))) return false;
  const principal = statement['Principal'];
  if (!isRecord(principal)) return principal === '*';
  return Object.keys(principal).join() === 'AWS' && textsOf(principal['AWS']).join() === '*';
}

function textsOf(value: unknown): readonly string[] {
  return [value].flat().filter((one) => typeof one === 'string');
}

function sameSet(some: readonly string[], others: readonly string[]): boolean {
  const set = new Set(some);
  return set.size === others.length && others.every((one) => set.has(one));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
