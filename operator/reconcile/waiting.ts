import type { DeclaredReference } from './declared-controller.ts';
import { objectKey } from './object-key.ts';
import type { ReconcilerOptions } from './reconciler-options.ts';
import type { Resources } from './resources.ts';

/** Reasons that end when something else of the tenant is there. */
const waits: ReadonlySet<string> = new Set([
  'TenantNotReady',
  'PolicyNotFound',
  'UserNotFound',
  'GroupNotFound',
  'PolicyInUse',
]);

/** What is declared in a tenant and waits for something in it. */
export function waitingIn(
  tenant: string,
  { declared, deleting }: Resources,
  { status }: Pick<ReconcilerOptions, 'status'>,
): readonly DeclaredReference[] {
  return [...declared.values()]
    .filter(({ spec }) => spec.tenantRef.name === tenant)
    .map(({ kind, metadata: { name } }) => ({ kind, name }))
    .filter((about) => {
      const ready = status.get(about)?.conditions.find(({ type }) => type === 'Ready');
      return (ready?.status === 'False' && waits.has(ready.reason)) || deleting.has(objectKey(about));
    });
}
