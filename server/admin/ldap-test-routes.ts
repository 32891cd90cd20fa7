import { z } from 'zod';
import { AdminError } from './admin-error.ts';
import { cofferPath } from './admin-path.ts';
import { sealedJsonBody } from './json-body.ts';
import { type AdminAnswer, type AdminCall, type Route, sealed } from './route.ts';

/** Coffer's own call: the way of a sign-in at the directory, step by step, without a password: `coffer idp ldap test`. */
export const ldapTestRoutes: readonly Route[] = [
  { method: 'POST', path: cofferPath('ldap-test'), action: 'admin:ConfigUpdate', serve: test },
];

const question = z.strictObject({
  /** A name or a DN. */
  person: z.string().trim().min(1).max(1_024).optional(),
});

async function test(call: AdminCall): Promise<AdminAnswer> {
  const { person } = await sealedJsonBody(call, question);
  const kind = call.services.identityProviders?.find(({ subsystem }) => subsystem === 'identity_ldap');
  if (kind?.test === undefined) throw new AdminError('XCofferRefused', 'This server tests no directory.');
  return sealed({ steps: await kind.test('_', undefined, person) });
}
