import type { PolicyDocument } from '../../protocol/policy/document.ts';
import { evaluate } from '../../protocol/policy/evaluate.ts';
import type { Evaluation, NamedPolicy } from '../../protocol/policy/evaluate.ts';
import { jwtContext, jwtVariables } from './claim-variables.ts';
import type { PolicySource } from './policy-source.ts';
import type { AccessRequest, Decision, TemporaryPrincipal } from './principal.ts';

/** From a bucket to its policy. */
export type BucketPolicySource = (bucket: string) => Promise<PolicyDocument | undefined>;

/**
 * Whether a principal may do this. Rejects when policies cannot be read: nobody is let in by what is not known, and the caller
 * answers 503, so that clients try again.
 *
 * What the person's policies and the bucket's allow is allowed, unless either denies it. Root is above both, so that no policy can
 * lock everyone out.
 */
export async function authorize(
  request: AccessRequest,
  policies: PolicySource,
  bucketPolicy: BucketPolicySource,
): Promise<Decision> {
  const { principal } = request;
  if (principal.kind === 'root') return { kind: 'allow', reason: 'root may do everything' };
  const bucket = await policyOfBucket(request, bucketPolicy);
  if (principal.kind === 'anonymous') return authorizeAnonymous(request, bucket);
  return authorizeTemporary(request, principal, await namedPolicies(principal.policies, policies), bucket);
}

async function policyOfBucket({ action, resource }: AccessRequest, source: BucketPolicySource): Promise<NamedPolicy[]> {
  const [bucket = ''] = resource.split('/', 1);
  if (bucket === '' || !action.startsWith('s3:')) return [];
  const document = await source(bucket);
  return document === undefined ? [] : [{ name: `bucket ${bucket}`, document }];
}

function authorizeAnonymous(request: AccessRequest, bucket: readonly NamedPolicy[]): Decision {
  if (bucket.length === 0) return { kind: 'deny', reason: 'the request carries no credentials, and nothing is public' };
  const { action, resource, context } = request;
  const { effect, reason } = evaluate(bucket, { action, resource, context, variables: {}, principals: [] });
  return { kind: effect === 'allow' ? 'allow' : 'deny', reason: `without credentials: ${reason}` };
}

/** The union of the policies that the person has and that of the bucket, narrowed by the policy of the session. */
function authorizeTemporary(
  request: AccessRequest,
  principal: TemporaryPrincipal,
  granted: readonly NamedPolicy[],
  bucket: readonly NamedPolicy[],
): Decision {
  const asked = policyRequest(request, principal);
  const who = `${principal.displayName} (${principal.provider})`;
  const person = evaluate([...granted, ...bucket], asked);
  if (person.effect !== 'allow') return deny(who, person, missing(principal, granted));
  if (principal.sessionPolicy === undefined) return { kind: 'allow', reason: `${who}: ${person.reason}` };
  const session = evaluate([{ name: 'session policy', document: principal.sessionPolicy }], asked);
  if (session.effect !== 'allow') return deny(who, session, '; the credentials were bought with this session policy');
  return { kind: 'allow', reason: `${who}: ${person.reason}; ${session.reason}` };
}

function deny(who: string, evaluation: Evaluation, remark: string): Decision {
  return { kind: 'deny', reason: `${who}: ${evaluation.reason}${remark}` };
}

function missing(principal: TemporaryPrincipal, granted: readonly NamedPolicy[]): string {
  const gone = principal.policies.filter((name) => !granted.some((policy) => policy.name === name));
  return gone.length === 0 ? '' : `; these policies of the credentials no longer exist: ${gone.join(', ')}`;
}

async function namedPolicies(names: readonly string[], policies: PolicySource): Promise<NamedPolicy[]> {
  const found = await Promise.all(
    names.map(async (name) => {
      const document = await policies.get(name);
      return document === undefined ? [] : [{ name, document }];
    }),
  );
  return found.flat();
}

function policyRequest({ action, resource, context }: AccessRequest, principal: TemporaryPrincipal) {
  const { accessKey, parent, claims } = principal;
  return {
    action,
    resource,
    // What the request says of itself never replaces what is known of its sender.
    context: { ...context, ...jwtContext(claims), 'aws:username': [parent], 'aws:userid': [parent] },
    principals: [parent, accessKey],
    variables: { ...jwtVariables(claims), 'aws:username': parent, 'aws:userid': parent },
  };
}
