import type { Declared } from '../api/object.ts';
import type { DeclaredContext, DeclaredStatus, TenantAccess } from '../reconcile/declared-controller.ts';
import { accessKeyOf } from '../reconcile/credentials.ts';

/** For tests: a context that remembers, with keys from a Secret of `secretKey`. */
export function contextOf(
  access: TenantAccess,
  more: { readonly others?: readonly Declared[]; readonly status?: DeclaredStatus; readonly secretKey?: string } = {},
): DeclaredContext & {
  readonly remembered: DeclaredStatus[];
  readonly keysOf: (resource: Declared) => DeclaredContext;
} {
  const remembered: DeclaredStatus[] = [];
  const context: DeclaredContext = {
    access,
    others: more.others ?? [],
    status: more.status ?? {},
    remember: (status) => Promise.resolve(void remembered.push(status)),
    credentials: () => Promise.reject(new Error('no keys in this test')),
  };
  const keysOf = (resource: Declared): DeclaredContext => ({
    ...context,
    credentials: () => {
      if (resource.kind !== 'User' && resource.kind !== 'AccessKey') throw new Error(`a ${resource.kind} has no keys`);
      const secretKey = more.secretKey ?? 'a-secret-key';
      return Promise.resolve({ name: 'keys', data: { accessKey: accessKeyOf(resource), secretKey } });
    },
  });
  return { ...context, remembered, keysOf };
}
