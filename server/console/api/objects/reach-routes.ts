import { Router } from 'express';
import { z } from 'zod';
import { mapLimit } from '../../../../platform/async/concurrency.ts';
import { maxLifecycleDocument, parseLifecycle } from '../../../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import { identityKeys, identityRanges } from '../../../auth/identities/records.ts';
import { after as afterKey, decodeKey } from '../../../store/keys.ts';
import { principalNamed } from '../../../administration/caller.ts';
import { previewLifecycle } from '../../../maintenance/lifecycle/preview-lifecycle.ts';
import type {
  LifecyclePreview,
  ReachedBuckets,
  Reaching,
  ReachList,
} from '../../../../protocol/console/reach-answers.ts';
import type { ConsoleServices } from '../../services.ts';
import { type Authorizer, readForm } from '../authorize.ts';
import { bucketOf, visibleBuckets } from '../bucket-routes.ts';
import { listQuery, queryText } from '../query.ts';
import { principalOf, reachOf } from './reach.ts';

/** The users, or the buckets, whose rights one answer has. */
const perPage = 100;
/** The principals whose rights are evaluated at the same time. */
const breadth = 5;
/** The attachments of external users and the policies that the first answer has. */
const maxExternal = 100;

const dayMs = 86_400_000;

/**
 * Answers who can reach a bucket, and which buckets a user can reach, by the policy engine. It quotes the rights of others, so that
 * it needs the right to explain decisions. One answer asks about a bounded number of users or buckets.
 */
export function accessRoutes(services: ConsoleServices, authorizer: Authorizer): Router {
  const { objects, administration, providers } = services;
  const { access, identities } = administration;
  const router = Router();

  router.get('/buckets/:bucket/reach', async (request, response) => {
    const bucket = bucketOf(request);
    await authorizer.require({ request, response }, 'admin:ExplainPolicy', '');
    await objects.headBucket(bucket);
    const { after } = listQuery(request).page;
    const external = after === undefined ? await externals() : { who: [], cut: false };
    const externalRows = await mapLimit(external.who, breadth, async (who) => ({
      who,
      rights: await reachOf(access, principalOf(who), bucket),
    }));
    const users = await usersAfter(after);
    const userRows = await mapLimit(users.names, breadth, async (name) => {
      const principal = (await access.credentials(name))?.principal;
      // A disabled user reaches nothing.
      const rights = principal === undefined ? {} : await reachOf(access, principal, bucket);
      return { who: { kind: 'user' as const, name }, rights };
    });
    response.json({
      rows: [...externalRows, ...userRows].filter(({ rights }) => Object.keys(rights).length > 0),
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

  /** Returns the names of the next users. It reads the records themselves, since the list of identities begins at the first user. */
  async function usersAfter(after: string | undefined) {
    const { start, end } = identityRanges.users;
    const range = { start: after === undefined ? start : afterKey(identityKeys.user(after)), end, limit: perPage + 1 };
    const names: string[] = [];
    for await (const { key } of services.records.scan(range)) names.push(String(decodeKey(key).at(-1)));
    const page = names.slice(0, perPage);
    return { names: page, next: names.length > perPage ? page.at(-1) : undefined };
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
    const buckets = await mapLimit(page, breadth, async ({ name }) => ({
      bucket: name,
      rights: await reachOf(access, principal, name),
    }));
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
    // The examples then contain the keys of unfinished uploads.
    if (rules.some(({ enabled, abortUploadsDays }) => enabled && abortUploadsDays !== undefined)) {
      await authorizer.require(exchange, 's3:ListBucketMultipartUploads', bucket);
    }
    await objects.headBucket(bucket);
    const preview = await previewLifecycle({ objects, bucket, rules, now: services.clock().getTime(), dayMs });
    response.json(preview satisfies LifecyclePreview);
  });

  return router;
}
