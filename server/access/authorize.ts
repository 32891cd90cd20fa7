import { evaluate } from '../../protocol/policy/evaluate.ts';
import type { Evaluation, NamedPolicy } from '../../protocol/policy/evaluate.ts';
import { jwtContext, jwtVariables } from './claim-variables.ts';
import type { PolicySource } from './policy-source.ts';
import type { AccessRequest, Decision, TemporaryPrincipal } from './principal.ts';

/**
 * Whether a principal may do this. Rejects when policies cannot be read: nobody is let in by what is not known, and the caller
 * answers 503, so that clients try again.
 */
export async function authorize(request: AccessRequest, policies: PolicySource): Promise<Decision> {
  const { principal } = request;
  switch (principal.kind) {
    case 'root':
      return { kind: 'allow', reason: 'root may do everything' };
    case 'anonymous':
      return { kind: 'deny', reason: 'the request carries no credentials, and nothing is public' };
    case 'temporary':
      return authorizeTemporary(request, principal, await namedPolicies(principal.policies, policies));
  }
}

/** The union of the policies that the person has, narrowed by the policy of the session. */
function authorizeTemporary(
  request: AccessRequest,
  principal: TemporaryPrincipal,
  granted: readonly NamedPolicy[],
): Decision {
  const asked = policyRequest(request, principal);
  const who = `${principal.displayName} (${principal.provider})`;
  const person = evaluate(granted, asked);
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
  const { parent, claims } = principal;
  return {
    action,
    resource,
    // What the request says of itself never replaces what is known of its sender.
    context: { ...context, ...jwtContext(claims), 'aws:username': [parent], 'aws:userid': [parent] },
    variables: { ...jwtVariables(claims), 'aws:username': parent, 'aws:userid': parent },
  };
}
