import { Router, type Request, type Response } from 'express';
import { z } from 'zod';
import { existingPolicy } from '../../administration/policies.ts';
import { builtInPolicies } from '../../../protocol/policy/built-in-policies.ts';
import { policyWarnings } from '../../../protocol/policy/check-policy-names.ts';
import { parseNewPolicy, parsePolicyDocument } from '../../../protocol/policy/parse-policy.ts';
import type { NamedDocument } from '../../auth/identities/identities.ts';
import type {
  CheckedDocument,
  PolicyAnswer,
  PolicyHolder,
  PolicyList,
  PolicyRow,
} from '../contract/identity-answers.ts';
import type { Administration } from '../services.ts';
import { type Gate, readForm, mayAttach } from './authorize.ts';
import { listed, listQuery, queryText } from './query.ts';
import { normalizeDn } from '../../federation/ldap/distinguished-name.ts';
import { LdapProblem } from '../../federation/ldap/ldap-user.ts';
import type { AttachmentTarget } from '../../auth/identities/subject.ts';
import { ConsoleError } from './console-error.ts';

/** Characters; the parser's own bound is in bytes, and its refusal says so. */
const document = z.string().max(64 * 1024);

const policyForm = z.strictObject({
  document,
  /** When what is replaced was saved; null where there is to be none. Absent: whatever is there is replaced. */
  expects: z.iso.datetime().nullable().optional(),
});

/** Policies by name, as `mc admin policy` has them, with what they were before. */
export function policyRoutes({ identities }: Administration, gate: Gate): Router {
  const router = Router();

  async function holdersOf(name: string) {
    return listed(identities.attachedTo(name), {
      fits: () => true,
      toRow: (target): PolicyHolder => target,
      // Shown on one page.
      position: () => '',
      most: 1_000,
    });
  }

  router.get('/policies', async (request, response) => {
    await gate.require({ request, response }, 'admin:ListUserPolicies', '');
    const { fits, page } = listQuery(request);
    const { rows: policies, ...more } = await listed(identities.policies(), {
      ...page,
      fits: ({ name }) => fits(name),
      position: ({ name }) => name,
      toRow: rowOf,
    });
    response.json({ policies, ...more } satisfies PolicyList);
  });

  router.get('/policy', async (request, response) => {
    await gate.require({ request, response }, 'admin:GetPolicy', '');
    const policy = await existingPolicy(identities, queryText(request, 'name'));
    const holders = await holdersOf(policy.name);
    response.json({
      ...rowOf(policy),
      document: policy.stored === undefined ? indented(policy.json) : policy.json,
      content: policy.document.statements,
      ...(policy.stored === undefined ? {} : { createdAt: iso(policy.stored.createdAt) }),
      earlier: (policy.stored?.earlier ?? []).map((one) => ({
        document: one.document,
        updatedAt: iso(one.updatedAt),
      })),
      holders: holders.rows,
      moreHolders: holders.next !== undefined,
    } satisfies PolicyAnswer);
  });

  router.put('/policy', async (request: Request, response: Response) => {
    const visit = { request, response };
    await gate.require(visit, 'admin:CreatePolicy', '');
    const form = await readForm(visit, policyForm);
    const expected =
      form.expects === undefined
        ? undefined
        : { updatedAt: form.expects === null ? undefined : new Date(form.expects).getTime() };
    const saved = await identities.putPolicy(queryText(request, 'name'), form.document, expected);
    response.json(
      rowOf({ ...saved, document: parsePolicyDocument(form.document), json: form.document, stored: saved }),
    );
  });

  router.delete('/policy', async (request, response) => {
    await gate.require({ request, response }, 'admin:DeletePolicy', '');
    await identities.removePolicy(queryText(request, 'name'));
    response.status(204).end();
  });

  /** Says what a document would mean while it is written; it needs no right, and changes nothing. */
  router.post('/policy-check', async (request: Request, response: Response) => {
    const visit = { request, response };
    const form = await readForm(visit, z.strictObject({ document }));
    const parsed = parseNewPolicy(form.document);
    response.json({ content: parsed.statements, warnings: policyWarnings(parsed) } satisfies CheckedDocument);
  });

  return router;
}

function rowOf({ name, stored, document: { statements } }: NamedDocument): PolicyRow {
  return {
    name,
    kind: stored === undefined ? 'built-in' : builtInPolicies.has(name) ? 'replaced' : 'stored',
    statements: statements.length,
    ...(stored === undefined ? {} : { updatedAt: iso(stored.updatedAt) }),
  };
}

/** As people write it. */
function indented(text: string): string {
  return JSON.stringify(JSON.parse(text), null, 2);
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

/** All are parts of one record's key, which has a bound. Characters, of up to three bytes each. */
const holderName = z.string().trim().min(1).max(128);

const holderForm = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('user'), name: holderName }),
  z.strictObject({ kind: z.literal('group'), name: holderName }),
  z.strictObject({ kind: z.literal('ldap-user'), name: z.string().trim().min(1).max(256) }),
  z.strictObject({ kind: z.literal('ldap-group'), name: z.string().trim().min(1).max(256) }),
  z.strictObject({
    kind: z.literal('claim'),
    provider: holderName,
    claim: holderName,
    value: z.string().trim().min(1).max(256),
  }),
]);

/** One policy, and one of those whom it is attached to: users, groups, claims of a provider, names of a directory. */
export function attachmentRoutes(administration: Administration, gate: Gate): Router {
  const { identities } = administration;
  const router = Router();

  router.post('/policy/attach', async (request: Request, response: Response) => {
    const visit = { request, response };
    await gate.require(visit, mayAttach, '');
    const holder = await readForm(visit, holderForm);
    await identities.attach(await attachable(administration, holder), [queryText(request, 'name')]);
    response.status(204).end();
  });

  router.post('/policy/detach', async (request: Request, response: Response) => {
    const visit = { request, response };
    await gate.require(visit, mayAttach, '');
    const holder = await readForm(visit, holderForm);
    await identities.detach(detachable(holder), [queryText(request, 'name')]);
    response.status(204).end();
  });

  return router;
}

/** Somebody of the directory must be there, so that no mistyped name waits for whoever gets it one day. */
async function attachable({ directory }: Administration, holder: PolicyHolder): Promise<AttachmentTarget> {
  if (holder.kind !== 'ldap-user') return detachable(holder);
  if (directory === undefined) {
    throw new ConsoleError('BadRequest', 'No directory is configured; set SVC_IDENTITY_LDAP_SERVER_ADDR.', {
      field: 'name',
    });
  }
  try {
    const person = await directory.find(holder.name);
    if (person !== undefined) return { kind: 'ldap-user', name: person.dn };
  } catch (error) {
    if (!(error instanceof LdapProblem)) throw error;
    throw new ConsoleError('BadRequest', error.message, { cause: error, field: 'name' });
  }
  throw new ConsoleError('NotFound', `The directory has nobody of the name or DN ${JSON.stringify(holder.name)}.`, {
    field: 'name',
  });
}

/** Who is gone from the directory can still lose what is attached to their DN. */
function detachable(holder: PolicyHolder): AttachmentTarget {
  if (holder.kind !== 'ldap-user' && holder.kind !== 'ldap-group') return holder;
  const name = normalizeDn(holder.name);
  if (name !== undefined) return { kind: holder.kind, name };
  const given = JSON.stringify(holder.name);
  throw new ConsoleError('BadRequest', `${given} is no distinguished name, such as cn=staff,dc=example,dc=org.`, {
    field: 'name',
  });
}
