import { Router, type Request, type Response } from 'express';
import { z } from 'zod';
import { existingPolicy } from '../../administration/policies.ts';
import { noSuchGroup } from '../../auth/identities/change-users.ts';
import type { Group } from '../../auth/identities/records.ts';
import type { GroupList, GroupRow } from '../../../protocol/console/identity-answers.ts';
import type { Administration } from '../services.ts';
import { type Authorizer, identitiesOf, readForm, mayAttach } from './authorize.ts';
import { listPage, listQuery, queryText } from './query.ts';
import { consoleError } from './console-error.ts';
import { nameChange } from './name-change.ts';
import { IdentityError } from '../../auth/identity-error.ts';

const policies = z.array(z.string().min(1).max(256)).max(100);
const members = z.array(z.string().min(1).max(256)).max(1_000);

const newGroup = z.strictObject({
  name: z.string().trim().min(1).max(256),
  members: members.default([]),
  policies: policies.default([]),
});

/** Groups of users, as with `mc admin group`. */
export function groupRoutes(administration: Administration, authorizer: Authorizer): Router {
  const { identities } = administration;
  const router = Router();

  async function rowOf({ name, status, members: all, updatedAt }: Group): Promise<GroupRow> {
    return {
      name,
      status,
      members: all.toSorted(),
      policies: await identities.attached({ kind: 'group', name }),
      updatedAt: new Date(updatedAt).toISOString(),
    };
  }

  async function known(request: Request): Promise<Group> {
    const name = queryText(request, 'name');
    return (await identities.group(name)) ?? noSuchGroup(name);
  }

  router.get('/groups', async (request, response) => {
    const exchange = { request, response };
    await authorizer.require(exchange, 'admin:ListGroups', '');
    await authorizer.require(exchange, 'admin:GetGroup', '');
    const { fits, page } = listQuery(request);
    const { rows: groups, ...more } = await listPage(identities.groups(), {
      ...page,
      fits: ({ name }) => fits(name),
      position: ({ name }) => name,
      toRow: rowOf,
    });
    response.json({ groups, ...more } satisfies GroupList);
  });

  router.post('/groups', async (request: Request, response: Response) => {
    const exchange = { request, response };
    await authorizer.require(exchange, 'admin:AddUserToGroup', '');
    const form = await readForm(exchange, newGroup);
    if (form.policies.length > 0) await authorizer.require(exchange, mayAttach, '');
    for (const name of form.policies) await existingPolicy(identities, name);
    const changed = identitiesOf(exchange, administration);
    const group = await changed.createGroup(form.name, form.members).catch(existing);
    if (form.policies.length > 0) {
      await changed.changeAttached({ kind: 'group', name: form.name }, { add: form.policies, remove: [] });
    }
    response.status(201).json(await rowOf(group));
  });

  router.get('/group', async (request, response) => {
    await authorizer.require({ request, response }, 'admin:GetGroup', '');
    response.json(await rowOf(await known(request)));
  });

  router.delete('/group', async (request, response) => {
    await authorizer.require({ request, response }, 'admin:AddUserToGroup', '');
    await identitiesOf({ request, response }, administration).removeGroup(queryText(request, 'name'));
    response.status(204).end();
  });

  router.put('/group/members', async (request: Request, response: Response) => {
    const exchange = { request, response };
    await authorizer.require(exchange, 'admin:AddUserToGroup', '');
    const form = await readForm(exchange, z.strictObject({ members: nameChange(members) }));
    await identitiesOf(exchange, administration).changeMembers(queryText(request, 'name'), form.members);
    response.status(204).end();
  });

  router.put('/group/status', async (request: Request, response: Response) => {
    const exchange = { request, response };
    await authorizer.require(exchange, 'admin:EnableGroup', '');
    const form = await readForm(exchange, z.strictObject({ status: z.enum(['enabled', 'disabled']) }));
    await identitiesOf(exchange, administration).setGroupStatus(queryText(request, 'name'), form.status);
    response.status(204).end();
  });

  router.put('/group/policies', async (request: Request, response: Response) => {
    const exchange = { request, response };
    await authorizer.require(exchange, mayAttach, '');
    const form = await readForm(exchange, z.strictObject({ policies: nameChange(policies) }));
    await identitiesOf(exchange, administration).changeAttached(
      { kind: 'group', name: queryText(request, 'name') },
      form.policies,
    );
    response.status(204).end();
  });

  return router;
}

function existing(error: unknown): never {
  if (!(error instanceof IdentityError && error.code === 'group-exists')) throw error;
  throw consoleError('Exists', error.message, { cause: error, field: 'name' });
}
