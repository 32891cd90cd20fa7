import { Router } from 'express';
import { keyRights } from '../../../administration/keys.ts';
import {
  bucketActions,
  keyActions,
  maxKeysAsked,
  objectActions,
  type BucketRights,
  type KeyRightsAnswer,
  type ObjectRights,
} from '../../../../protocol/console/rights.ts';
import type { Authorizer, Exchange } from '../authorize.ts';
import { bucketOf } from '../bucket-routes.ts';
import { consoleError } from '../console-error.ts';
import { objectPlace } from './object-routes.ts';

/**
 * Reports what the user may do, as the policy engine decides it for this bucket, prefix, object or key of the key service. Pages show the buttons of these actions.
 * It reveals nothing about what exists: the answer for an absent bucket is that of its name.
 */
export function rightsRoutes(authorizer: Authorizer): Router {
  const router = Router();

  router.get('/buckets/:bucket/rights', async (request, response) => {
    const exchange = { request, response };
    const bucket = bucketOf(request);
    const prefix = typeof request.query['prefix'] === 'string' ? request.query['prefix'].slice(0, 1024) : '';
    const listing = { 's3:prefix': [prefix], 's3:delimiter': ['/'] };
    const [ofBucket, every, some, here, writesSomewhere] = await Promise.all([
      keep(bucketActions, (action) => authorizer.allows(exchange, action, bucket, listing)),
      keep(objectActions, (action) => authorizer.allows(exchange, action, `${bucket}/${prefix}*`)),
      keep(objectActions, (action) => authorizer.allowsSome(exchange, action, `${bucket}/${prefix}`)),
      keep(objectActions, (action) => authorizer.allowsDirectly(exchange, action, `${bucket}/${prefix}`)),
      authorizer.allowsSome(exchange, 's3:PutObject', ''),
    ]);
    response.json({ bucket: ofBucket, every, some, here, writesSomewhere } satisfies BucketRights);
  });

  router.get('/buckets/:bucket/object-rights', async (request, response) => {
    response.json(await objectRights(authorizer, { request, response }));
  });

  router.get('/key-rights', async (request, response) => {
    response.json(await rightsOnKeys(authorizer, { request, response }));
  });

  return router;
}

async function rightsOnKeys(authorizer: Authorizer, exchange: Exchange): Promise<KeyRightsAnswer> {
  // The name of a key has no comma.
  const { keys: asked } = exchange.request.query;
  const names = typeof asked === 'string' ? asked.split(',').filter((name) => name !== '') : [];
  if (names.length > maxKeysAsked) {
    throw consoleError('BadRequest', `${names.length} keys were asked about: at most ${maxKeysAsked} in one call.`);
  }
  const of = (name: string) => keep(keyActions, (action) => authorizer.allows(exchange, keyRights[action], name));
  return {
    keys: Object.fromEntries(await Promise.all(names.map(async (name) => [name, await of(name)] as const))),
    some: await keep(keyActions, (action) => authorizer.allowsSome(exchange, keyRights[action], '')),
  };
}

/** With `versionId`, the rights on a version: an action on versions is denied where the plain action is. */
async function objectRights(authorizer: Authorizer, exchange: Exchange): Promise<ObjectRights> {
  const { resource } = objectPlace(exchange.request);
  const { versionId } = exchange.request.query;
  const conditions = typeof versionId === 'string' && versionId !== '' ? { 's3:versionid': [versionId] } : undefined;
  return { object: await keep(objectActions, (action) => authorizer.allows(exchange, action, resource, conditions)) };
}

async function keep<Action extends string>(
  actions: readonly Action[],
  allowed: (action: Action) => Promise<boolean>,
): Promise<Action[]> {
  const answers = await Promise.all(actions.map(allowed));
  return actions.filter((_, at) => answers[at] === true);
}
