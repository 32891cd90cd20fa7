import { Router, type Request, type Response } from 'express';
import { z } from 'zod';
import { existingPolicy } from '../../administration/policies.ts';
import { removeUserWithAll } from '../../administration/users.ts';
import { noSuchUser, noSuchGroup } from '../../auth/identities/change-users.ts';
import type { User } from '../../auth/identities/records.ts';
import { newSecretKey } from '../../auth/identities/names.ts';
import type { SecretAnswer, UserAnswer, UserList, UserRow } from '../contract/identity-answers.ts';
import type { ConsoleServices } from '../services.ts';
import { accessKeysOf } from './access-key-rows.ts';
import { type Gate, readForm, type Visit, mayAttach } from './authorize.ts';
import { listed, listQuery, queryText } from './query.ts';
import { inForce } from './sign-in/session-routes.ts';
import { visitorOf } from './sign-in/visitor.ts';
import type { Identities } from '../../auth/identities/identities.ts';

const names = z.array(z.string().min(1).max(256)).max(100);
const status = z.enum(['enabled', 'disabled']);

const newUser = z.strictObject({
  name: z.string().trim().min(1).max(256),
  secretKey: z.string().min(1).max(256).optional(),
  policies: names.default([]),
  groups: names.default([]),
});

/** Users of this store, as `mc admin user` has them. */
export function userRoutes(services: ConsoleServices, gate: Gate): Router {
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

  async function describe(visit: Visit, user: User): Promise<UserAnswer> {
    const policies = await identities.policiesOf({ kind: 'user', name: user.accessKey });
    const seesKeys = await gate.allows(visit, 'admin:ListServiceAccounts', '');
    const { credentials } = visitorOf(visit.response);
    const viewer = { credentials, rootUser: administration.root.user, now: clock() };
    const subject = { kind: 'user', name: user.accessKey } as const;
    return {
      ...(await rowOf(user)),
      inForce: await Promise.all(policies.map((name) => inForce(services, name))),
      ...(seesKeys ? { accessKeys: await accessKeysOf(administration, viewer, subject) } : {}),
    };
  }

  router.get('/users', async (request, response) => {
    await gate.require({ request, response }, 'admin:ListUsers', '');
    const { fits, page } = listQuery(request);
    const { rows: users, ...more } = await listed(identities.users(), {
      ...page,
      fits: ({ accessKey }) => fits(accessKey),
      position: ({ accessKey }) => accessKey,
      toRow: rowOf,
    });
    response.json({ users, ...more } satisfies UserList);
  });

  router.post('/users', async (request: Request, response: Response) => {
    const visit = { request, response };
    await gate.require(visit, 'admin:CreateUser', '');
    const form = await readForm(visit, newUser);
    if (form.policies.length > 0) await gate.require(visit, mayAttach, '');
    if (form.groups.length > 0) await gate.require(visit, 'admin:AddUserToGroup', '');
    // Before the user is there, without the rights that were meant.
    for (const name of form.policies) await existingPolicy(identities, name);
    await existingGroups(identities, form.groups);
    const made = form.secretKey === undefined ? newSecretKey() : undefined;
    await identities.putUser({ accessKey: form.name, secretKey: form.secretKey ?? made ?? '', onlyNew: true });
    if (form.policies.length > 0) await identities.setAttached({ kind: 'user', name: form.name }, form.policies);
    await setGroupsOf(identities, form.name, form.groups);
    response.status(201).json(secretAnswer(form.name, made));
  });

  router.get('/user', async (request, response) => {
    const visit = { request, response };
    const name = queryText(request, 'name');
    await gate.require(visit, 'admin:GetUser', '');
    const user = await identities.user(name);
    if (user === undefined) throw noSuchUser(name);
    response.json(await describe(visit, user));
  });

  router.delete('/user', async (request, response) => {
    await gate.require({ request, response }, 'admin:DeleteUser', '');
    await removeUserWithAll(administration, queryText(request, 'name'));
    response.status(204).end();
  });

  router.put('/user/status', async (request: Request, response: Response) => {
    const visit = { request, response };
    await gate.require(visit, 'admin:EnableUser', '');
    const form = await readForm(visit, z.strictObject({ status }));
    await identities.putUser({ accessKey: queryText(request, 'name'), status: form.status });
    response.status(204).end();
  });

  router.put('/user/secret-key', async (request: Request, response: Response) => {
    const visit = { request, response };
    await gate.require(visit, 'admin:CreateUser', '');
    const form = await readForm(visit, z.strictObject({ secretKey: z.string().min(1).max(256).optional() }));
    const name = queryText(request, 'name');
    if ((await identities.user(name)) === undefined) throw noSuchUser(name);
    const made = form.secretKey === undefined ? newSecretKey() : undefined;
    await identities.putUser({ accessKey: name, secretKey: form.secretKey ?? made ?? '' });
    response.json(secretAnswer(name, made));
  });

  router.put('/user/policies', async (request: Request, response: Response) => {
    const visit = { request, response };
    await gate.require(visit, mayAttach, '');
    const form = await readForm(visit, z.strictObject({ policies: names }));
    await identities.setAttached({ kind: 'user', name: queryText(request, 'name') }, form.policies);
    response.status(204).end();
  });

  router.put('/user/groups', async (request: Request, response: Response) => {
    const visit = { request, response };
    await gate.require(visit, 'admin:AddUserToGroup', '');
    const form = await readForm(visit, z.strictObject({ groups: names }));
    const name = queryText(request, 'name');
    if ((await identities.user(name)) === undefined) throw noSuchUser(name);
    await existingGroups(identities, form.groups);
    await setGroupsOf(identities, name, form.groups);
    response.status(204).end();
  });

  return router;
}

function secretAnswer(name: string, made: string | undefined): SecretAnswer {
  return { name, ...(made === undefined ? {} : { secretKey: made }) };
}

type Groups = Pick<Identities, 'group' | 'groupsOf' | 'addMembers' | 'removeMembers'>;

/** Rejects where one of them is not there: adding members would make it, under a name that was mistyped. */
async function existingGroups(identities: Pick<Groups, 'group'>, names: readonly string[]): Promise<void> {
  for (const name of names) if ((await identities.group(name)) === undefined) noSuchGroup(name);
}

/** The user is a member of exactly these from now on. */
async function setGroupsOf(identities: Groups, user: string, wanted: readonly string[]): Promise<void> {
  const now = (await identities.groupsOf(user)).map(({ name }) => name);
  for (const name of wanted) if (!now.includes(name)) await identities.addMembers(name, [user]);
  for (const name of now) if (!wanted.includes(name)) await identities.removeMembers(name, [user]);
}
