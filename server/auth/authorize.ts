import { couldAllow, couldDeny } from '../../protocol/policy/could-allow.ts';
import { bareResource } from '../../protocol/policy/arns.ts';
import { compilePolicy } from '../../protocol/policy/compile-policy.ts';
import { decide, type DecisionInput } from '../../protocol/policy/decide.ts';
import { explain } from '../../protocol/policy/explain.ts';
import type { Explanation } from '../../protocol/policy/explanation.ts';
import type { NamedPolicy } from '../../protocol/policy/evaluate.ts';
import { bucketTagContext, existingTagContext } from '../../protocol/policy/tag-context.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { BucketAccess } from '../objects/buckets/bucket-access.ts';
import type { ExistingTags } from '../objects/attributes/existing-object.ts';
import { decideByAcl, type ObjectAclSource } from './acl-grants.ts';
import type { Group } from './identities/records.ts';
import type { IdentityReader } from './identities/identities.ts';
import type { Subject } from './identities/subject.ts';
import { claimContext, claimVariables, isUnknownClaim } from './condition-keys.ts';
import {
  type Access,
  type AccessRequest,
  type AuthenticatedPrincipal,
  type Decision,
  type Principal,
  displayNameOf,
  subjectOf,
} from './principal.ts';

/** Returns the settings of a bucket; undefined for one that is absent or has none. */
type BucketAccessSource = (bucket: string) => Promise<BucketAccess | undefined>;

/** Returns the tags of an object, or of one of its versions; undefined for an absent one. */
type ObjectTagSource = (bucket: string, key: string, versionId?: string) => Promise<ExistingTags | undefined>;

/** The stores that decisions read besides the identities. */
export interface PolicySources {
  readonly bucketAccess: BucketAccessSource;
  readonly objectTags: ObjectTagSource;
  readonly objectAcl: ObjectAclSource;
}

/** The part of the identities that decisions read. */
type PolicyHolders = Pick<IdentityReader, 'policiesOf' | 'groupsOf'> & {
  policy(name: string): Promise<NamedPolicy | undefined>;
};

/**
 * Decides whether the principal may do this. Rejects if policies cannot be read: the API then answers 503 and clients try again.
 *
 * The policies of the subject and of the bucket allow the request together, and each of them can deny it. A session policy or the policy of
 * a service account is a permission boundary. Root is above all policies, so that no policy can lock everyone out.
 */
export async function authorize(
  request: AccessRequest,
  holders: PolicyHolders,
  sources: PolicySources,
): Promise<Decision> {
  const { principal } = request;
  if (principal.kind === 'root') return { kind: 'allow', reason: 'root may do everything' };
  const access = await accessOfBucket(request, sources.bucketAccess);
  // Refusing is cheap, so that callers without credentials cannot take the time of others.
  if (principal.kind === 'anonymous' && access?.policy === undefined && access?.acls === undefined) {
    return { kind: 'deny', reason: 'the request carries no credentials, and nothing is public' };
  }
  const facts = await gatherFacts(request, holders, sources, access);
  const known = await withAcl(request, facts, sources.objectAcl);
  if (request.unknown !== undefined) {
    const { unknown } = request;
    if (unknown.every === true && couldDeny(known.input, unknown)) {
      const reason = `${describePrincipal(principal)}: a statement may deny ${request.action} below ${request.resource}`;
      return { kind: 'deny', reason, explicit: true };
    }
    const kind = couldAllow(known.input, unknown) ? 'allow' : 'deny';
    const may = kind === 'allow' ? 'may allow' : 'allows';
    return {
      kind,
      reason: `${describePrincipal(principal)}: ${kind === 'allow' ? 'some' : 'no'} policy ${may} ${request.action} here`,
    };
  }
  const { effect, reason: why, cause } = decide(known.input);
  const missing = cause === 'not-allowed' ? describeMissing(known.missing) : '';
  const reason = `${describePrincipal(principal)}: ${why}${missing}`;
  // If the object was replaced between the reads of its tags and its ACL, no object has both ids.
  if (effect === 'allow') return { kind: effect, reason, objectId: facts.taggedObject ?? known.objectId };
  return {
    kind: effect,
    reason,
    ...(cause === 'denied' ? { explicit: true } : {}),
    ...(cause === 'not-allowed' && known.absent ? { absent: true } : {}),
  };
}

interface RightDecision {
  readonly action: string;
  readonly decision: Decision;
}

/**
 * Decides a right that has several names: one of them must be allowed, and a statement that denies any of them denies the right. Without
 * names there is nothing to decide.
 */
async function decideRight(
  actions: readonly string[],
  decideOn: (action: string) => Promise<Decision>,
): Promise<RightDecision | undefined> {
  const decided: RightDecision[] = [];
  for (const action of actions) decided.push({ action, decision: await decideOn(action) });
  return (
    decided.find(({ decision }) => decision.kind === 'deny' && decision.explicit === true) ??
    decided.find(({ decision }) => decision.kind === 'allow') ??
    decided.at(-1)
  );
}

/** A request, as every API asks for decisions about it. */
export interface AuthorizationContext {
  readonly principal: Principal;
  /** The condition keys of the request. A getter can compute them: decisions about root do not read them. */
  readonly conditions: AccessRequest['context'];
  /** Records decisions; absent without a subscriber. */
  readonly audit?:
    | { addDecision(asked: { readonly action: string; readonly resource: string }, decision: Decision): void }
    | undefined;
}

/** A right that a request needs. */
export interface Right {
  /** The action, or its older and newer names: one must be allowed and none denied. */
  readonly action: string | readonly string[];
  /** A further action. It is not needed, but a statement that denies it denies the right. */
  readonly alsoDeniedBy?: string | undefined;
  readonly resource: string;
  /** Condition keys in addition to those of the request. */
  readonly conditions?: AccessRequest['context'] | undefined;
  readonly allowedByDefault?: boolean | undefined;
  readonly ofNewObject?: boolean | undefined;
  readonly unknown?: AccessRequest['unknown'];
}

/**
 * Decides whether a request has a right, for every API alike, and records the decision. Resolves with undefined for a right without a
 * name, which needs no decision.
 */
export async function authorizeRequest(
  access: Pick<Access, 'authorize'>,
  context: AuthorizationContext,
  right: Right,
): Promise<RightDecision | undefined> {
  const ask = (action: string) => access.authorize(new Question(context, right, action));
  const { action } = right;
  const allowed = typeof action === 'string' ? { action, decision: await ask(action) } : await decideRight(action, ask);
  const { alsoDeniedBy } = right;
  const denied = alsoDeniedBy === undefined ? undefined : await explicitDeny(alsoDeniedBy, allowed, ask);
  const decided = denied ?? allowed;
  // An Allow with unknown keys is preliminary: the final decision follows when the body is read.
  if (decided !== undefined && (right.unknown === undefined || decided.decision.kind === 'deny')) {
    context.audit?.addDecision({ action: decided.action, resource: right.resource }, decided.decision);
  }
  return decided;
}

/** Returns the decision about a further action where a statement denies it. */
async function explicitDeny(
  action: string,
  allowed: RightDecision | undefined,
  ask: (action: string) => Promise<Decision>,
): Promise<RightDecision | undefined> {
  if (allowed?.decision.kind !== 'allow') return undefined;
  const decision = await ask(action);
  return decision.kind === 'deny' && decision.explicit === true ? { action, decision } : undefined;
}

/** Rejects with AccessDenied unless the request has the right. */
export async function requireRight(
  access: Pick<Access, 'authorize'>,
  context: AuthorizationContext,
  right: Right,
): Promise<void> {
  await requireObjectRight(access, context, right);
}

/**
 * Rejects as `requireRight`. Resolves with the id of the object whose ACL gives the right, or whose tags the policies asked for; '' where
 * that object is absent. It is undefined where the decision did not depend on an object.
 */
export async function requireObjectRight(
  access: Pick<Access, 'authorize'>,
  context: AuthorizationContext,
  right: Right,
): Promise<string | undefined> {
  const decision = (await authorizeRequest(access, context, right))?.decision;
  if (decision?.kind !== 'deny') return decision?.objectId;
  const { absent, reason } = decision;
  if (absent === true) await tellAbsence(access, context, right);
  throw new S3Error('AccessDenied', undefined, { cause: reason });
}

/** Answers a caller who may list the bucket that the object, whose ACL could have allowed the read, does not exist, as S3 does. */
async function tellAbsence(
  access: Pick<Access, 'authorize'>,
  context: AuthorizationContext,
  { resource, conditions }: Right,
): Promise<void> {
  const [bucket = ''] = resource.split('/', 1);
  const ofVersion = conditions?.['s3:versionid'] !== undefined;
  const action = ofVersion ? 's3:ListBucketVersions' : 's3:ListBucket';
  if ((await authorizeRequest(access, context, { action, resource: bucket }))?.decision.kind !== 'allow') return;
  throw new S3Error(ofVersion ? 'NoSuchVersion' : 'NoSuchKey');
}

/** Reads the condition keys only if the decision needs them. */
class Question implements AccessRequest {
  readonly principal: Principal;
  readonly action: string;
  readonly resource: string;
  readonly allowedByDefault: boolean | undefined;
  readonly ofNewObject: boolean | undefined;
  readonly unknown: AccessRequest['unknown'];
  readonly #context: AuthorizationContext;
  readonly #conditions: Right['conditions'];

  constructor(context: AuthorizationContext, right: Right, action: string) {
    this.principal = context.principal;
    this.action = action;
    this.resource = right.resource;
    this.allowedByDefault = right.allowedByDefault;
    this.ofNewObject = right.ofNewObject;
    this.unknown = right.unknown;
    this.#context = context;
    this.#conditions = right.conditions;
  }

  get context(): AccessRequest['context'] {
    const { conditions } = this.#context;
    return this.#conditions === undefined ? conditions : { ...conditions, ...this.#conditions };
  }
}

/** A decision with the result of each statement, for administrators. */
export interface ExplainedDecision extends Explanation {
  /** The principal, as the reason of a decision names it. */
  readonly who: string;
  /** Policies that the credentials name and that do not exist any more. */
  readonly missing: readonly string[];
}

/** Explains what `authorize` decides. */
export async function explainDecision(
  request: AccessRequest,
  holders: PolicyHolders,
  sources: PolicySources,
): Promise<ExplainedDecision> {
  const access = await accessOfBucket(request, sources.bucketAccess);
  const facts = await gatherFacts(request, holders, sources, access);
  const { input, missing } = await withAcl(request, facts, sources.objectAcl);
  return { ...explain(input), who: describePrincipal(request.principal), missing };
}

interface PolicyFacts {
  readonly input: DecisionInput;
  /** Policies that the credentials name and that do not exist any more. */
  readonly missing: readonly string[];
  /** The ACL of the bucket; undefined where ACLs do not count. */
  readonly acls: BucketAccess['acls'];
  /** The id of the object whose tags are among the condition keys, '' for an absent one; undefined where no tags were read. */
  readonly taggedObject: string | undefined;
}

/** Adds what an ACL allows where the policies neither allow nor deny the request: only then is the object read for its ACL. */
async function withAcl(
  request: AccessRequest,
  { input, missing, acls }: Omit<PolicyFacts, 'taggedObject'>,
  source: ObjectAclSource,
): Promise<
  Omit<PolicyFacts, 'acls' | 'taggedObject'> & { readonly absent: boolean; readonly objectId?: string | undefined }
> {
  if (acls === undefined) return { input, missing, absent: false };
  // A condition key that is still unknown may change what the policies say.
  const settled = request.unknown === undefined && decide(input).cause !== 'not-allowed';
  if (settled) return { input, missing, absent: false };
  const { reason, objectId, absent = false } = await decideByAcl(request, acls, source);
  return { input: { ...input, acl: reason }, missing, absent, objectId };
}

async function gatherFacts(
  request: AccessRequest,
  holders: PolicyHolders,
  sources: PolicySources,
  access: BucketAccess | undefined,
): Promise<PolicyFacts> {
  const { principal } = request;
  const subject = subjectOf(principal);
  const names = subject === undefined ? [] : await holders.policiesOf(subject);
  const found = await Promise.all(names.map((name) => holders.policy(name)));
  const identity = subject?.kind === 'root' ? [everything] : found.filter((policy) => policy !== undefined);
  const bucket = access && policyOfBucket(request, access);
  const bucketTags = async () =>
    bucketTagContext((access ?? (await accessOfBucket(request, sources.bucketAccess)))?.tags ?? {});
  const groups = subject?.kind === 'user' ? await holders.groupsOf(subject.name) : [];
  const boundaries = boundariesOf(principal);
  const { action, resource, allowedByDefault } = request;
  const sender = senderOf(request, principal, subject, groups);
  const policies = [...identity, ...boundaries, ...(bucket === undefined ? [] : [bucket])];
  const tagged = await existingTagsOf(request, policies, sources.objectTags);
  const needsBucketTags = policies.some(({ document }) => compilePolicy(document).needsBucketTags);
  const tags = needsBucketTags ? { ...tagged?.context, ...(await bucketTags()) } : tagged?.context;
  return {
    input: {
      identity,
      ...(bucket === undefined ? {} : { bucket }),
      boundaries,
      allowedByDefault,
      request: { action, resource, ...sender, ...(tags && { context: { ...sender.context, ...tags } }) },
    },
    missing: names.filter((_, at) => found[at] === undefined),
    acls: access?.acls,
    taggedObject: tagged?.id,
  };
}

/**
 * Reads the tags of the object of a request as condition keys, if a policy mentions them. The condition key `s3:versionid` names the
 * version. It reads them for every action on an object.
 */
async function existingTagsOf(
  { action, resource, context, unknown }: AccessRequest,
  policies: readonly NamedPolicy[],
  source: ObjectTagSource,
): Promise<{ readonly context: AccessRequest['context']; readonly id: string } | undefined> {
  if (!policies.some(({ document }) => compilePolicy(document).needsExistingTags)) return undefined;
  const path = bareResource(resource);
  const slash = path.indexOf('/');
  if (!action.startsWith('s3:') || slash < 1 || slash === path.length - 1 || unknown?.below === true) return undefined;
  const found = await source(path.slice(0, slash), path.slice(slash + 1), context['s3:versionid']?.[0]);
  return { context: existingTagContext(found?.tags ?? {}), id: found?.id ?? '' };
}

const everything: NamedPolicy = {
  name: 'root',
  document: {
    version: '2012-10-17',
    statements: [
      {
        effect: 'Allow',
        actions: { kind: 'only', patterns: ['*'] },
        resources: { kind: 'only', patterns: ['*'] },
        conditions: [],
      },
    ],
  },
};

/** Returns undefined for root and the credentials that root made, which are above bucket policies. */
async function accessOfBucket(
  { principal, action, resource }: AccessRequest,
  source: BucketAccessSource,
): Promise<BucketAccess | undefined> {
  if (subjectOf(principal)?.kind === 'root') return undefined;
  const [bucket = ''] = resource.split('/', 1);
  return bucket === '' || !action.startsWith('s3:') ? undefined : source(bucket);
}

function policyOfBucket({ resource, principal }: AccessRequest, access: BucketAccess): NamedPolicy | undefined {
  const [bucket = ''] = resource.split('/', 1);
  const document = (principal.kind === 'anonymous' ? access.anonymousPolicy : undefined) ?? access.policy;
  return document && { name: `bucket ${bucket}`, document };
}

function boundariesOf(principal: Principal): NamedPolicy[] {
  if (principal.kind === 'temporary' && principal.sessionPolicy !== undefined) {
    return [{ name: 'session policy', document: principal.sessionPolicy }];
  }
  if (principal.kind === 'service-account' && principal.inlinePolicy !== undefined) {
    return [{ name: 'policy of the service account', document: principal.inlinePolicy }];
  }
  return [];
}

/** Condition keys of the sender override those of the request. */
function senderOf(
  { context }: AccessRequest,
  principal: Principal,
  subject: Subject | undefined,
  groups: readonly Group[],
) {
  if (principal.kind === 'anonymous' || subject === undefined) return { context, variables: {}, principals: [] };
  const name = nameOf(principal, subject);
  const known = { 'aws:username': name, 'aws:userid': name, 'aws:principaltype': principalType(principal) };
  const claims = subject.kind === 'federated' ? subject : undefined;
  return {
    context: { ...context, ...claimContext(claims), ...groupContext(groups), ...inLists(known) },
    variables: { ...claimVariables(claims), ...known },
    ...(claims === undefined ? {} : { isUnknown: (key: string) => isUnknownClaim(claims, key) }),
    principals: [name],
    accessKey: principal.accessKey,
  };
}

/** A disabled group gives no rights, and no condition can match it. */
function groupContext(groups: readonly Group[]): Record<string, readonly string[]> {
  const names = groups.filter(({ status }) => status === 'enabled').map(({ name }) => name);
  return names.length === 0 ? {} : { 'aws:groups': names };
}

function inLists(values: Readonly<Record<string, string>>): Record<string, readonly string[]> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value]]));
}

/** Returns the name of the subject, which the owner of an access key cannot choose. Access keys of root have the name `root`. */
function nameOf(principal: AuthenticatedPrincipal, subject: Subject): string {
  if (subject.kind === 'user') return subject.name;
  if (subject.kind === 'federated') return subject.parent;
  return principal.kind === 'root' ? principal.accessKey : 'root';
}

/** @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_variables.html#principaltable */
function principalType({ kind }: AuthenticatedPrincipal): string {
  if (kind === 'root') return 'Account';
  return kind === 'temporary' ? 'AssumedRole' : 'User';
}

function describePrincipal(principal: Principal): string {
  if (principal.kind === 'anonymous') return 'without credentials';
  const subject = subjectOf(principal);
  const name = displayNameOf(principal);
  const through = principal.kind === 'service-account' ? `, service account ${principal.accessKey}` : '';
  return subject?.kind === 'federated' ? `${name} (${subject.provider}${through})` : `${name}${through}`;
}

function describeMissing(missing: readonly string[]): string {
  return missing.length === 0 ? '' : `; these policies of the credentials no longer exist: ${missing.join(', ')}`;
}
