import { couldAllow } from '../../protocol/policy/could-allow.ts';
import { decide, type DecisionInput } from '../../protocol/policy/decide.ts';
import type { PolicyDocument } from '../../protocol/policy/document.ts';
import { explain } from '../../protocol/policy/explain.ts';
import type { Explanation } from '../../protocol/policy/explanation.ts';
import type { NamedPolicy } from '../../protocol/policy/evaluate.ts';
import type { Group } from './identities/records.ts';
import type { IdentityReader } from './identities/identities.ts';
import type { Subject } from './identities/subject.ts';
import { claimContext, claimVariables } from './condition-keys.ts';
import {
  type AccessRequest,
  type AuthenticatedPrincipal,
  type Decision,
  type Principal,
  displayNameOf,
  subjectOf,
} from './principal.ts';

/** From a bucket to its policy. */
export type BucketPolicySource = (bucket: string) => Promise<PolicyDocument | undefined>;

/** What decisions need to know of identities. */
type PolicyHolders = Pick<IdentityReader, 'policiesOf' | 'groupsOf'> & {
  policy(name: string): Promise<NamedPolicy | undefined>;
};

/**
 * Whether a principal may do this. Rejects when policies cannot be read: nobody is let in by what is not known, and the caller
 * answers 503, so that clients try again.
 *
 * What the subject's policies and the bucket's allow is allowed, unless either denies it; credentials of a session or a service account
 * are narrowed further by a policy of their own. Root is above all, so that no policy can lock everyone out.
 */
export async function authorize(
  request: AccessRequest,
  holders: PolicyHolders,
  bucketPolicy: BucketPolicySource,
): Promise<Decision> {
  const { principal } = request;
  if (principal.kind === 'root') return { kind: 'allow', reason: 'root may do everything' };
  const known = await gather(request, holders, bucketPolicy);
  if (principal.kind === 'anonymous' && known.input.bucket === undefined) {
    return { kind: 'deny', reason: 'the request carries no credentials, and nothing is public' };
  }
  if (request.unknown !== undefined) {
    const kind = couldAllow(known.input, request.unknown) ? 'allow' : 'deny';
    const may = kind === 'allow' ? 'may allow' : 'allows';
    return {
      kind,
      reason: `${who(principal)}: ${kind === 'allow' ? 'some' : 'no'} policy ${may} ${request.action} here`,
    };
  }
  const { effect, reason, cause } = decide(known.input);
  return {
    kind: effect,
    reason: `${who(principal)}: ${reason}${cause === 'not-allowed' ? remark(known.missing) : ''}`,
    ...(cause === 'denied' ? { explicit: true } : {}),
  };
}

export interface OneDecided {
  readonly action: string;
  readonly decision: Decision;
}

/**
 * Decides a right that has several names, older and newer ones: one must be allowed, and a statement that denies any of them denies the
 * right. Without names there is nothing to decide.
 */
export async function decideOneOf(
  actions: readonly string[],
  decideOn: (action: string) => Promise<Decision>,
): Promise<OneDecided | undefined> {
  const decided: OneDecided[] = [];
  for (const action of actions) decided.push({ action, decision: await decideOn(action) });
  return (
    decided.find(({ decision }) => decision.kind === 'deny' && decision.explicit === true) ??
    decided.find(({ decision }) => decision.kind === 'allow') ??
    decided.at(-1)
  );
}

/** A decision with what each statement said, for administrators. */
export interface ExplainedDecision extends Explanation {
  /** Who asks, as the reason of a decision names them. */
  readonly who: string;
  /** Policies that the credentials name and that no longer exist. */
  readonly missing: readonly string[];
}

/** What `authorize` decides, and why. */
export async function explainDecision(
  request: AccessRequest,
  holders: PolicyHolders,
  bucketPolicy: BucketPolicySource,
): Promise<ExplainedDecision> {
  const { input, missing } = await gather(request, holders, bucketPolicy);
  return { ...explain(input), who: who(request.principal), missing };
}

interface Gathered {
  readonly input: DecisionInput;
  /** Policies that the credentials name and that no longer exist. */
  readonly missing: readonly string[];
}

async function gather(
  request: AccessRequest,
  holders: PolicyHolders,
  bucketPolicy: BucketPolicySource,
): Promise<Gathered> {
  const { principal } = request;
  const subject = subjectOf(principal);
  const names = subject === undefined ? [] : await holders.policiesOf(subject);
  const found = await Promise.all(names.map((name) => holders.policy(name)));
  const identity = subject?.kind === 'root' ? [everything] : found.filter((policy) => policy !== undefined);
  // Root is above the policy of a bucket, and so are the credentials that it made for its programs.
  const bucket = subject?.kind === 'root' ? undefined : await policyOfBucket(request, bucketPolicy);
  const groups = subject?.kind === 'user' ? await holders.groupsOf(subject.name) : [];
  const { action, resource, allowedUnlessDenied } = request;
  return {
    input: {
      identity,
      ...(bucket === undefined ? {} : { bucket }),
      boundaries: boundariesOf(principal),
      ...(allowedUnlessDenied === undefined ? {} : { allowedUnlessDenied }),
      request: { action, resource, ...senderOf(request, principal, subject, groups) },
    },
    missing: names.filter((_, at) => found[at] === undefined),
  };
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

async function policyOfBucket(
  { action, resource }: AccessRequest,
  source: BucketPolicySource,
): Promise<NamedPolicy | undefined> {
  const [bucket = ''] = resource.split('/', 1);
  if (bucket === '' || !action.startsWith('s3:')) return undefined;
  const document = await source(bucket);
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

/** What the request says of itself never replaces what is known of its sender. */
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
    principals: [name],
    accessKey: principal.accessKey,
  };
}

/** A disabled group gives nothing, and is no ground for anything. */
function groupContext(groups: readonly Group[]): Record<string, readonly string[]> {
  const names = groups.filter(({ status }) => status === 'enabled').map(({ name }) => name);
  return names.length === 0 ? {} : { 'aws:groups': names };
}

function inLists(values: Readonly<Record<string, string>>): Record<string, readonly string[]> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value]]));
}

/** The name of the subject, which the owner of an access key cannot choose. The keys of root are called `root`, whatever they are named. */
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

function who(principal: Principal): string {
  if (principal.kind === 'anonymous') return 'without credentials';
  const subject = subjectOf(principal);
  const name = displayNameOf(principal);
  const through = principal.kind === 'service-account' ? `, service account ${principal.accessKey}` : '';
  return subject?.kind === 'federated' ? `${name} (${subject.provider}${through})` : `${name}${through}`;
}

function remark(missing: readonly string[]): string {
  return missing.length === 0 ? '' : `; these policies of the credentials no longer exist: ${missing.join(', ')}`;
}
