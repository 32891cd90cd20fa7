import { Router, type Request, type Response } from 'express';
import { z } from 'zod';
import { existingPolicy } from '../../administration/policies.ts';
import { removeUserAndCredentials } from '../../administration/users.ts';
import { noSuchUser, noSuchGroup } from '../../auth/identities/change-users.ts';
import type { User } from '../../auth/identities/records.ts';
import { newSecretKey } from '../../auth/identities/names.ts';
import type { SecretAnswer, UserAnswer, UserList, UserRow } from '../../../protocol/console/identity-answers.ts';
import type { ConsoleServices } from '../services.ts';
import { accessKeysOf } from './access-key-rows.ts';
import { type Authorizer, identitiesOf, readForm, type Exchange, mayAttach } from './authorize.ts';
import { nameChange } from './name-change.ts';
import { listPage, listQuery, queryText } from './query.ts';
import { inForce } from './sign-in/session-routes.ts';
import { currentSession } from './sign-in/current-session.ts';
import type { Identities } from '../../auth/identities/identities.ts';

const names = z.array(z.string().min(1).max(256)).max(100);
const status = z.enum(['enabled', 'disabled']);

const newUser = z.strictObject({
  name: z.string().trim().min(1).max(256),
  secretKey: z.string().min(1).max(256).optional(),
  policies: names.default([]),
  groups: names.default([]),
});

/** Users of this store, as with `mc admin user`. */
export function userRoutes(services: ConsoleServices, authorizer: Authorizer): Router {
  const { administration, clock } = services;
  const { identities } = administration;
  const router = Router();

  async function rowOf({ accessKey, status: now, updatedAt }: User): Promise<UserRow> {
    return {
      name: accessKey,
      status: now,
      policies: await identities.attached({ kind: 'user', name: accessKey }),
      groups: (await identities.groupsOf(accessKey)).map(({ name }) => name).toSorted(),
      updatedAt: new Date(updatedAt).toISOString(),
    };
  }

  async function describe(exchange: Exchange, user: User): Promise<UserAnswer> {
    const policies = await identities.policiesOf({ kind: 'user', name: user.accessKey });
    const seesKeys = await authorizer.allows(exchange, 'admin:ListServiceAccounts', '');
    const { credentials } = currentSession(exchange.response);
    const viewer = { credentials, rootUser: administration.root.user, now: clock() };
    const subject = { kind: 'user', name: user.accessKey } as const;
    return {
      ...(await rowOf(user)),
      inForce: await Promise.all(policies.map((name) => inForce(services, name))),
      accessKeys: seesKeys ? await accessKeysOf(administration, viewer, subject) : undefined,
    };
  }

  router.get('/users', async (request, response) => {
    await authorizer.require({ request, response }, 'admin:ListUsers', '');
    const { fits, page } = listQuery(request);
    const { rows: users, ...more } = await listPage(identities.users(), {
      ...page,
      fits: ({ accessKey }) => fits(accessKey),
      position: ({ accessKey }) => accessKey,
      toRow: rowOf,
    });
    response.json({ users, ...more } satisfies UserList);
  });

  router.post('/users', async (request: Request, response: Response) => {
    const exchange = { request, response };
    await authorizer.require(exchange, 'admin:CreateUser', '');
    const form = await readForm(exchange, newUser);
    if (form.policies.length > 0) await authorizer.require(exchange, mayAttach, '');
    if (form.groups.length > 0) await authorizer.require(exchange, 'admin:AddUserToGroup', '');
    // Policies and groups are checked first, so that no user is created without them.
    for (const name of form.policies) await existingPolicy(identities, name);
    await existingGroups(identities, form.groups);
    const made = form.secretKey === undefined ? newSecretKey() : undefined;
    const changed = identitiesOf(exchange, administration);
    await changed.putUser({ accessKey: form.name, secretKey: form.secretKey ?? made ?? '', onlyNew: true });
    if (form.policies.length > 0) {
      await changed.changeAttached({ kind: 'user', name: form.name }, { add: form.policies, remove: [] });
    }
    if (form.groups.length > 0) await changed.changeGroups(form.name, { add: form.groups, remove: [] });
    response.status(201).json(secretAnswer(form.name, made));
  });

  router.get('/user', async (request, response) => {
    const exchange = { request, response };
    const name = queryText(request, 'name');
    await authorizer.require(exchange, 'admin:GetUser', '');
    const user = await identities.user(name);
    if (user === undefined) throw noSuchUser(name);
    response.json(await describe(exchange, user));
  });

  router.delete('/user', async (request, response) => {
    await authorizer.require({ request, response }, 'admin:DeleteUser', '');
    await removeUserAndCredentials(
      { ...administration, identities: identitiesOf({ request, response }, administration) },
      queryText(request, 'name'),
    );
    response.status(204).end();
  });

  router.put('/user/status', async (request: Request, response: Response) => {
    const exchange = { request, response };
    await authorizer.require(exchange, 'admin:EnableUser', '');
    const form = await readForm(exchange, z.strictObject({ status }));
    await identitiesOf(exchange, administration).putUser({
      accessKey: queryText(request, 'name'),
      status: form.status,
    });
    response.status(204).end();
  });

  router.put('/user/secret-key', async (request: Request, response: Response) => {
    const exchange = { request, response };
    await authorizer.require(exchange, 'admin:CreateUser', '');
    const form = await readForm(exchange, z.strictObject({ secretKey: z.string().min(1).max(256).optional() }));
    const name = queryText(request, 'name');
    if ((await identities.user(name)) === undefined) throw noSuchUser(name);
    const made = form.secretKey === undefined ? newSecretKey() : undefined;
    await identitiesOf(exchange, administration).putUser({ accessKey: name, secretKey: form.secretKey ?? made ?? '' });
    response.json(secretAnswer(name, made));
  });

  router.put('/user/policies', async (request: Request, response: Response) => {
    const exchange = { request, response };
    await authorizer.require(exchange, mayAttach, '');
    const form = await readForm(exchange, z.strictObject({ policies: nameChange(names) }));
    await identitiesOf(exchange, administration).changeAttached(
      { kind: 'user', name: queryText(request, 'name') },
      form.policies,
    );
    response.status(204).end();
  });

  router.put('/user/groups', async (request: Request, response: Response) => {
    const exchange = { request, response };
    await authorizer.require(exchange, 'admin:AddUserToGroup', '');
    const form = await readForm(exchange, z.strictObject({ groups: nameChange(names) }));
    await identitiesOf(exchange, administration).changeGroups(queryText(request, 'name'), form.groups);
    response.status(204).end();
  });

  return router;
}

function secretAnswer(name: string, made: string | undefined): SecretAnswer {
  return { name, secretKey: made };
}

/** Rejects if a group does not exist: adding members would create a group with the mistyped name. */
async function existingGroups(identities: Pick<Identities, 'group'>, names: readonly string[]): Promise<void> {
  for (const name of names) if ((await identities.group(name)) === undefined) noSuchGroup(name);
}
