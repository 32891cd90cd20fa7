import { parsePolicyDocument } from '../../../protocol/policy/parse-policy.ts';
import { authorize } from '../../../server/auth/authorize.ts';
import { canonicalIdOf, type Principal } from '../../../server/auth/principal.ts';
import { bucketAccess } from '../../../server/objects/buckets/bucket-access.ts';
import { existingAcl, existingTags } from '../../../server/objects/attributes/existing-object.ts';
import type { CannedAclRule, IgnoredAcl } from '../../../server/s3/acl/canned-acl-rule.ts';
import { type CallOptions, type Reply, testCalls, type TestCalls } from './s3-calls.ts';

export type Caller = 'root' | 'stranger' | 'ann' | 'bob';

export interface AclCalls extends TestCalls {
  readonly as: (caller: Caller, method: string, target: string, more?: CallOptions) => Promise<Reply>;
  /** Decisions that read the ACL of an object. */
  readonly aclReads: string[];
  /** What was reported of canned ACLs that were ignored. */
  readonly ignoredAcls: IgnoredAcl[];
  /** Runs once, after the next decision has read the ACL of an object and before the operation runs. */
  readonly beforeOperation: (run: () => Promise<unknown>) => void;
}

const userNamed = (name: string): Principal => ({ kind: 'user', accessKey: name, subject: { kind: 'user', name } });
const principals: Readonly<Record<Caller, Principal>> = {
  root: { kind: 'root', accessKey: 'root' },
  stranger: { kind: 'anonymous' },
  ann: userNamed('ann'),
  bob: userNamed('bob'),
};

export const annId = canonicalIdOf(principals.ann) ?? '';
export const bobId = canonicalIdOf(principals.bob) ?? '';

/** The S3 API with real decisions, for root, a stranger, and the users ann and bob with the statements of `policies`. */
export async function aclCalls(
  policies: Partial<Record<Caller, readonly Record<string, unknown>[]>> = {},
  rule: CannedAclRule['kind'] = 'ignore',
): Promise<AclCalls> {
  const ignoredAcls: IgnoredAcl[] = [];
  let caller: Caller = 'root';
  const aclReads: string[] = [];
  let interlude: (() => Promise<unknown>) | undefined;
  const holders = {
    policiesOf: async (subject: { readonly kind: string; readonly name?: string }) =>
      subject.kind === 'user' ? [subject.name ?? ''] : [],
    groupsOf: async () => [],
    policy: async (name: string) => {
      const statements = policies[name as Caller];
      return statements && { name, document: parsePolicyDocument({ Statement: statements }) };
    },
  };
  const runInterlude = async () => {
    const run = interlude;
    interlude = undefined;
    await run?.();
  };
  const calls = await testCalls({
    cannedAcls: rule === 'refuse' ? { kind: rule } : { kind: rule, report: (one) => ignoredAcls.push(one) },
    authenticate: async ({ body, headers }) => ({
      principal: principals[caller],
      body,
      size: Number(headers['content-length']),
    }),
    decide: (request) => {
      const objectAcl = existingAcl({ records: calls.records });
      const objectTags = existingTags({ records: calls.records });
      return authorize(request, holders, {
        bucketAccess: bucketAccess(calls.records),
        objectTags: async (bucket, key, versionId) => {
          const tags = await objectTags(bucket, key, versionId);
          await runInterlude();
          return tags;
        },
        objectAcl: async (bucket, key, versionId) => {
          aclReads.push(`${bucket}/${key}`);
          const acl = await objectAcl(bucket, key, versionId);
          await runInterlude();
          return acl;
        },
      });
    },
  });
  const as: AclCalls['as'] = (one, method, target, more) => {
    caller = one;
    return calls.call(method, target, more);
  };
  const beforeOperation: AclCalls['beforeOperation'] = (run) => {
    interlude = run;
  };
  return { ...calls, as, aclReads, ignoredAcls, beforeOperation };
}

export const ownershipDocument = (ownership: string) =>
  `<OwnershipControls><Rule><ObjectOwnership>${ownership}</ObjectOwnership></Rule></OwnershipControls>`;
