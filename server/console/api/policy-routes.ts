import { Router, type Request, type Response } from 'express';
import { z } from 'zod';
import { existingPolicy } from '../../administration/policies.ts';
import { builtInPolicies } from '../../../protocol/policy/built-in-policies.ts';
import { checkApplicability } from '../../../protocol/policy/check-applicability.ts';
import { policyWarnings } from '../../../protocol/policy/policy-warnings.ts';
import { conditionOperatorNames } from '../../../protocol/policy/condition-operators.ts';
import { knownActions, supportedKeys } from '../../../protocol/policy/known-names.ts';
import { parseNewBucketPolicy, parseNewPolicy, parsePolicyDocument } from '../../../protocol/policy/parse-policy.ts';
import type { NamedDocument } from '../../auth/identities/identities.ts';
import type {
  CheckedDocument,
  PolicyAnswer,
  PolicyHolder,
  PolicyList,
  PolicyNames,
  PolicyRow,
} from '../../../protocol/console/identity-answers.ts';
import type { Administration } from '../services.ts';
import { type Authorizer, identitiesOf, readForm, mayAttach } from './authorize.ts';
import { listPage, listQuery, queryText } from './query.ts';
import { normalizeDn } from '../../federation/ldap/distinguished-name.ts';
import { isDirectoryError } from '../../auth/identity-error.ts';
import type { AttachmentTarget } from '../../auth/identities/subject.ts';
import { consoleError } from './console-error.ts';

/** The parser has a limit in bytes, with a message of its own. */
const document = z.string().max(64 * 1024);

const policyForm = z.strictObject({
  document,
  /** The time at which the replaced version was saved; null if none may exist. Absent: any version is replaced. */
  expects: z.iso.datetime().nullable().optional(),
});

/** Policies with their earlier versions, as with `mc admin policy`. */
export function policyRoutes(administration: Administration, authorizer: Authorizer): Router {
  const { identities } = administration;
  const router = Router();

  async function holdersOf(name: string) {
    return listPage(identities.attachedTo(name), {
      fits: () => true,
      toRow: (target): PolicyHolder => target,
      // All holders are on one page.
      position: () => '',
      max: 1_000,
    });
  }

  router.get('/policies', async (request, response) => {
    await authorizer.require({ request, response }, 'admin:ListUserPolicies', '');
    const { fits, page } = listQuery(request);
    const { rows: policies, ...more } = await listPage(identities.policies(), {
      ...page,
      fits: ({ name }) => fits(name),
      position: ({ name }) => name,
      toRow: rowOf,
    });
    response.json({ policies, ...more } satisfies PolicyList);
  });

  router.get('/policy', async (request, response) => {
    await authorizer.require({ request, response }, 'admin:GetPolicy', '');
    const policy = await existingPolicy(identities, queryText(request, 'name'));
    const holders = await holdersOf(policy.name);
    response.json({
      ...rowOf(policy),
      document: policy.stored === undefined ? indented(policy.json) : policy.json,
      content: policy.document.statements,
      createdAt: policy.stored === undefined ? undefined : iso(policy.stored.createdAt),
      earlier: (policy.stored?.earlier ?? []).map((one) => ({
        document: one.document,
        updatedAt: iso(one.updatedAt),
      })),
      holders: holders.rows,
      moreHolders: holders.next !== undefined,
    } satisfies PolicyAnswer);
  });

  router.put('/policy', async (request: Request, response: Response) => {
    const exchange = { request, response };
    await authorizer.require(exchange, 'admin:CreatePolicy', '');
    const form = await readForm(exchange, policyForm);
    const expected =
      form.expects === undefined
        ? undefined
        : { updatedAt: form.expects === null ? undefined : new Date(form.expects).getTime() };
    const saved = await identitiesOf(exchange, administration).putPolicy(
      queryText(request, 'name'),
      form.document,
      expected,
    );
    response.json(
      rowOf({ ...saved, document: parsePolicyDocument(form.document), json: form.document, stored: saved }),
    );
  });

  router.delete('/policy', async (request, response) => {
    await authorizer.require({ request, response }, 'admin:DeletePolicy', '');
    await identitiesOf({ request, response }, administration).removePolicy(queryText(request, 'name'));
    response.status(204).end();
  });

  /** Parses a document while the user edits it: a policy of users, or that of a bucket. It needs no right and changes nothing. */
  router.post('/policy-check', async (request: Request, response: Response) => {
    const exchange = { request, response };
    const form = await readForm(exchange, z.strictObject({ document, bucket: z.string().min(1).max(255).optional() }));
    const parsed =
      form.bucket === undefined ? parseNewPolicy(form.document) : parseNewBucketPolicy(form.document, form.bucket);
    if (form.bucket !== undefined) checkApplicability(parsed);
    response.json({ content: parsed.statements, warnings: policyWarnings(parsed) } satisfies CheckedDocument);
  });

  router.get('/policy-names', (_request, response) => {
    response.json({
      actions: knownActions,
      keys: supportedKeys,
      operators: conditionOperatorNames,
    } satisfies PolicyNames);
  });

  return router;
}

function rowOf({ name, stored, document: { statements } }: NamedDocument): PolicyRow {
  return {
    name,
    kind: stored === undefined ? 'built-in' : builtInPolicies.has(name) ? 'replaced' : 'stored',
    statements: statements.length,
    updatedAt: stored === undefined ? undefined : iso(stored.updatedAt),
  };
}

function indented(text: string): string {
  return JSON.stringify(JSON.parse(text), null, 2);
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

/** The names are parts of a record key, which has a maximum length. A character takes up to three bytes. */
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

/** Attaches a policy to users, groups, claims of a provider and names of a directory, and detaches it. */
export function attachmentRoutes(administration: Administration, authorizer: Authorizer): Router {
  const router = Router();

  router.post('/policy/attach', async (request: Request, response: Response) => {
    const exchange = { request, response };
    await authorizer.require(exchange, mayAttach, '');
    const holder = await readForm(exchange, holderForm);
    await identitiesOf(exchange, administration).attach(await attachable(administration, holder), [
      queryText(request, 'name'),
    ]);
    response.status(204).end();
  });

  router.post('/policy/detach', async (request: Request, response: Response) => {
    const exchange = { request, response };
    await authorizer.require(exchange, mayAttach, '');
    const holder = await readForm(exchange, holderForm);
    await identitiesOf(exchange, administration).detach(detachable(holder), [queryText(request, 'name')]);
    response.status(204).end();
  });

  return router;
}

/** A user of the directory must exist, so that a mistyped name gives no rights to a later user. */
async function attachable({ directory }: Administration, holder: PolicyHolder): Promise<AttachmentTarget> {
  if (holder.kind !== 'ldap-user') return detachable(holder);
  if (directory === undefined) {
    throw consoleError('BadRequest', 'No directory is configured; set SVC_IDENTITY_LDAP_SERVER_ADDR.', {
      field: 'name',
    });
  }
  try {
    const user = await directory.find(holder.name);
    if (user !== undefined) return { kind: 'ldap-user', name: user.dn };
  } catch (error) {
    if (!isDirectoryError(error)) throw error;
    throw consoleError('BadRequest', error.message, { cause: error, field: 'name' });
  }
  throw consoleError('NotFound', `The directory has no user with the name or DN ${JSON.stringify(holder.name)}.`, {
    field: 'name',
  });
}

/** A policy can be detached from a DN that the directory no longer has. */
function detachable(holder: PolicyHolder): AttachmentTarget {
  if (holder.kind !== 'ldap-user' && holder.kind !== 'ldap-group') return holder;
  const name = normalizeDn(holder.name);
  if (name !== undefined) return { kind: holder.kind, name };
  const given = JSON.stringify(holder.name);
  throw consoleError('BadRequest', `${given} is no distinguished name, such as cn=staff,dc=example,dc=org.`, {
    field: 'name',
  });
}
