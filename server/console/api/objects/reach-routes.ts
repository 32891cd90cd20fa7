import { Router } from 'express';
import { z } from 'zod';
import { maxLifecycleDocument, parseLifecycle } from '../../../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import { principalNamed } from '../../../administration/caller.ts';
import { previewLifecycle } from '../../../maintenance/lifecycle/preview-lifecycle.ts';
import type { LifecyclePreview, ReachedBuckets, Reaching, ReachList } from '../../contract/reach-answers.ts';
import type { ConsoleServices } from '../../services.ts';
import { type Authorizer, readForm } from '../authorize.ts';
import { bucketOf, visibleBuckets } from '../bucket-routes.ts';
import { listQuery, queryText } from '../query.ts';
import { principalOf, reachOf } from './reach.ts';

/** The users, or the buckets, whose rights one answer has. */
const perPage = 100;
/** The attachments of external users and the policies that the first answer has. */
const maxExternal = 100;

const dayMs = 86_400_000;

/**
 * Tells who can reach a bucket and which buckets a user can reach, as the policy engine decides it. It quotes the rights of others, so that
 * it needs the right to explain decisions. One answer asks about a bounded number of users or buckets.
 */
export function reachRoutes(services: ConsoleServices, authorizer: Authorizer): Router {
  const { objects, administration, providers } = services;
  const { access, identities } = administration;
  const router = Router();

  router.get('/buckets/:bucket/reach', async (request, response) => {
    const bucket = bucketOf(request);
    await authorizer.require({ request, response }, 'admin:ExplainPolicy', '');
    await objects.headBucket(bucket);
    const { after } = listQuery(request).page;
    const external = after === undefined ? await externals() : { who: [], cut: false };
    const rows: ReachList['rows'][number][] = [];
    for (const who of external.who) rows.push({ who, rights: await reachOf(access, principalOf(who), bucket) });
    const users = await usersAfter(after);
    for (const name of users.names) {
      const principal = (await access.credentials(name))?.principal;
      // A disabled user reaches nothing.
      if (principal === undefined) continue;
      rows.push({ who: { kind: 'user', name }, rights: await reachOf(access, principal, bucket) });
    }
    response.json({
      rows: rows.filter(({ rights }) => Object.keys(rights).length > 0),
      ...(users.next !== undefined && { next: users.next }),
      ...(external.cut && { cut: true }),
    } satisfies ReachList);
  });

  /** Returns those whose policies are known without a sign-in. */
  async function externals(): Promise<{ readonly who: readonly Exclude<Reaching, { kind: 'user' }>[]; cut: boolean }> {
    const who: Exclude<Reaching, { kind: 'user' }>[] = [{ kind: 'anonymous' }];
    for (const kind of ['claim', 'ldap-user', 'ldap-group'] as const) {
      for await (const { target } of identities.attachments(kind)) {
        if (who.length > maxExternal) return { who, cut: true };
        if (target.kind === kind) who.push(target);
      }
    }
    // Claims and roles of providers name policies.
    if (providers.list.length === 0) return { who, cut: false };
    const attachments = who.length;
    for await (const { name } of identities.policies()) {
      if (who.length - attachments >= maxExternal) return { who, cut: true };
      who.push({ kind: 'policy', name });
    }
    return { who, cut: false };
  }

  async function usersAfter(after: string | undefined) {
    const names: string[] = [];
    const passed = after === undefined ? undefined : Buffer.from(after);
    for await (const { accessKey } of identities.users()) {
      if (passed !== undefined && Buffer.compare(Buffer.from(accessKey), passed) <= 0) continue;
      if (names.length === perPage) return { names, next: names.at(-1) };
      names.push(accessKey);
    }
    return { names, next: undefined };
  }

  router.get('/reached-buckets', async (request, response) => {
    const exchange = { request, response };
    await authorizer.require(exchange, 'admin:ExplainPolicy', '');
    const principal = await principalNamed(administration, queryText(request, 'name'));
    const { after = '' } = listQuery(request).page;
    // The caller learns of no bucket that the list of buckets does not show.
    const all = await visibleBuckets(exchange, authorizer, await objects.listBuckets());
    const rest = all.filter(({ name }) => name > after);
    const page = rest.slice(0, perPage);
    const buckets: ReachedBuckets['buckets'][number][] = [];
    for (const { name } of page) buckets.push({ bucket: name, rights: await reachOf(access, principal, name) });
    const next = rest.length > perPage ? page.at(-1)?.name : undefined;
    response.json({
      buckets: buckets.filter(({ rights }) => Object.keys(rights).length > 0),
      ...(next !== undefined && { next }),
    } satisfies ReachedBuckets);
  });

  router.post('/buckets/:bucket/lifecycle-preview', async (request, response) => {
    const exchange = { request, response };
    const bucket = bucketOf(request);
    await authorizer.require(exchange, 's3:GetLifecycleConfiguration', bucket);
    await authorizer.require(exchange, 's3:ListBucketVersions', bucket, { 's3:prefix': [''] });
    const { document } = await readForm(exchange, z.strictObject({ document: z.string().max(maxLifecycleDocument) }));
    const rules = parseLifecycle(document);
    await objects.headBucket(bucket);
    const preview = await previewLifecycle({ objects, bucket, rules, now: services.clock().getTime(), dayMs });
    response.json(preview satisfies LifecyclePreview);
  });

  return router;
}
