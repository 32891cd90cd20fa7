import { Router } from 'express';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { normalizeDn } from '../../access/ldap/distinguished-name.ts';
import { LdapProblem } from '../../access/ldap/ldap-problem.ts';
import type { AttachmentTarget } from '../../identities/attachment-target.ts';
import type { PolicyHolder } from '../contract/identity-answers.ts';
import type { Administration } from '../services.ts';
import { type Gate, readForm } from './authorize.ts';
import { ConsoleError } from './console-error.ts';
import { mayAttach } from './may-attach.ts';
import { queryText } from './query-text.ts';

/** All are parts of one record's key, which has a bound. Characters, of up to three bytes each. */
const text = z.string().trim().min(1).max(128);

const holderForm = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('user'), name: text }),
  z.strictObject({ kind: z.literal('group'), name: text }),
  z.strictObject({ kind: z.literal('ldap-user'), name: z.string().trim().min(1).max(256) }),
  z.strictObject({ kind: z.literal('ldap-group'), name: z.string().trim().min(1).max(256) }),
  z.strictObject({
    kind: z.literal('claim'),
    provider: text,
    claim: text,
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
