import { Router, type Request, type Response } from 'express';
import { z } from 'zod';
import { nameRecord } from '../../../protocol/json/name-record.ts';
import { principalNamed } from '../../administration/caller.ts';
import { describeMismatch, renderExplanation, type Explanation } from '../../../protocol/policy/explanation.ts';
import { type Principal, subjectOf } from '../../auth/principal.ts';
import { openIdSubject } from '../../sts/granted-rights.ts';
import type { DecisionAnswer, ExplainAnswer } from '../../../protocol/console/explain-answers.ts';
import type { ConsoleServices } from '../services.ts';
import { type Authorizer, readForm } from './authorize.ts';
import { describeTarget, type AttachmentTarget, type Subject } from '../../auth/identities/subject.ts';
import type { IdentityReader } from '../../auth/identities/identities.ts';
import { isStsError } from '../../sts/sts-error.ts';
import { consoleError } from './console-error.ts';

const question = z.strictObject({
  who: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('name'), name: z.string().trim().min(1).max(256) }),
    z.strictObject({
      kind: z.literal('claims'),
      provider: z.string().min(1).max(128),
      claims: nameRecord(z.string(), z.unknown()),
    }),
  ]),
  action: z.string().trim().min(1).max(256),
  resource: z.string().trim().max(1_200).default(''),
  context: nameRecord(z.string().max(256), z.array(z.string().max(1_024)).max(100)).default({}),
});

type Question = z.infer<typeof question>;

/** Explains a decision about any user. Administrators alone may ask, since the answer quotes policies. */
export function explainRoutes(services: ConsoleServices, authorizer: Authorizer): Router {
  const { access, identities } = services.administration;
  const router = Router();

  router.post('/explain', async (request: Request, response: Response) => {
    const exchange = { request, response };
    await authorizer.require(exchange, 'admin:ExplainPolicy', '');
    const { who, action, resource, context } = await readForm(exchange, question);
    let asked: Asked;
    try {
      asked = await askedPrincipal(services, who);
    } catch (error) {
      if (!isStsError(error)) throw error;
      return response.json({ kind: 'not-let-in', message: error.message } satisfies ExplainAnswer);
    }
    const explanation = await access.explain({ principal: asked.principal, action, resource, context });
    const subject = subjectOf(asked.principal);
    const through = subject === undefined ? new Map<string, string[]>() : await policiesThrough(subject, identities);
    return response.json({
      kind: 'decision',
      who: explanation.who,
      ...decisionOf(explanation, through),
      missing: [...new Set([...explanation.missing, ...asked.notDefined])],
      text: renderExplanation(explanation),
    } satisfies ExplainAnswer);
  });

  return router;
}

interface Asked {
  readonly principal: Principal;
  /** Policies that a claim or a role names and that do not exist. */
  readonly notDefined: readonly string[];
}

/** Rejects with `RequestError` if STS would issue no credentials for the claims. */
async function askedPrincipal({ administration, providers }: ConsoleServices, who: Question['who']): Promise<Asked> {
  if (who.kind === 'name') return { principal: await principalNamed(administration, who.name), notDefined: [] };
  await providers.started;
  const provider = providers.byId(who.provider);
  if (provider === undefined) {
    throw consoleError('NotFound', `There is no enabled identity provider ${JSON.stringify(who.provider)}.`, {
      field: 'provider',
    });
  }
  const { sub, iss } = who.claims;
  if (typeof sub !== 'string' || sub === '') {
    throw consoleError('BadRequest', 'The claims need "sub", the identifier of the user, which every token has.', {
      field: 'claims',
    });
  }
  const issuer = provider.status.kind === 'ready' ? provider.status.metadata.issuer : String(iss);
  const known = { claims: who.claims, subject: sub, issuer };
  const { subject, notDefined } = await openIdSubject(known, provider.settings, administration.identities);
  return {
    principal: { kind: 'temporary', accessKey: '', subject, expiration: new Date(8.64e15) },
    notDefined,
  };
}

function decisionOf(
  { effect, reason, statements, policies }: Explanation,
  through: ReadonlyMap<string, readonly string[]>,
): Pick<DecisionAnswer, 'effect' | 'reason' | 'decidedBy' | 'policies'> {
  return {
    effect,
    reason,
    decidedBy: statements,
    policies: policies.map((policy) => ({
      source: policy.source,
      policy: policy.policy,
      through: policy.source === 'identity' ? (through.get(policy.policy) ?? []) : [],
      effect: policy.effect,
      statements: policy.statements.map(({ mismatch, ...statement }) => ({
        ...statement,
        obstacle: mismatch === undefined ? undefined : describeMismatch(mismatch),
      })),
    })),
  };
}

/** Describes by which attachments each policy applies to a subject. */
async function policiesThrough(
  subject: Subject,
  identities: Pick<IdentityReader, 'attached' | 'groupsOf'>,
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  const add = (policy: string, words: string) => found.set(policy, [...(found.get(policy) ?? []), words]);
  if (subject.kind === 'federated') for (const name of subject.policies) add(name, 'the claim or role of the provider');
  for (const target of await targetsOf(subject, identities)) {
    for (const name of await identities.attached(target)) add(name, describeTarget(target));
  }
  return found;
}

async function targetsOf(
  subject: Subject,
  identities: Pick<IdentityReader, 'groupsOf'>,
): Promise<readonly AttachmentTarget[]> {
  switch (subject.kind) {
    case 'root':
      return [];
    case 'federated':
      return subject.targets;
    case 'user': {
      const groups = (await identities.groupsOf(subject.name)).filter(({ status }) => status === 'enabled');
      return [{ kind: 'user', name: subject.name }, ...groups.map(({ name }) => ({ kind: 'group' as const, name }))];
    }
    default:
      return subject satisfies never;
  }
}
