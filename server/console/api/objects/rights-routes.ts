import { Router } from 'express';
import { bucketActions, objectActions, type BucketRights, type ObjectRights } from '../../contract/rights.ts';
import type { Authorizer, Exchange } from '../authorize.ts';
import { bucketOf } from '../bucket-routes.ts';
import { objectPlace } from './object-routes.ts';

/**
 * Reports what the user may do, as the policy engine decides it for this bucket, prefix or key. Pages show the buttons of these actions.
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

  return router;
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
