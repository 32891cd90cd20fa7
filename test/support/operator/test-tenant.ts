import type { ManagedResource, Tenant } from '../../../operator/api/object.ts';
import type { Secret } from '../../../operator/contract/secret.ts';
import type {
  ManagedContext,
  ManagedStatus,
  TenantAccess,
  ManagedController,
} from '../../../operator/reconcile/managed/controller.ts';
import { accessKeyOf } from '../../../operator/reconcile/managed/credentials.ts';
import { expect } from 'vitest';
import { createHash } from 'node:crypto';
import { statusMisfits } from './reconciler-harness.ts';
import { startServer, untilReady, type RunningServer } from '../server/start-server.ts';
import { callAdmin, type AdminCall } from '../../../operator/reconcile/managed/admin-request.ts';

/** For tests: a context that remembers, with keys from a Secret of `secretKey`. */
export function contextOf(
  access: TenantAccess,
  more: {
    readonly others?: readonly ManagedResource[];
    readonly status?: ManagedStatus;
    readonly secretKey?: string;
    readonly secrets?: readonly Secret[];
  } = {},
): ManagedContext & {
  readonly remembered: ManagedStatus[];
  readonly keysOf: (resource: ManagedResource) => ManagedContext;
} {
  const remembered: ManagedStatus[] = [];
  const context: ManagedContext = {
    access,
    others: more.others ?? [],
    status: more.status ?? {},
    secrets: new Map((more.secrets ?? []).map((secret) => [secret.name, secret])),
    fingerprint: (value) => createHash('sha256').update(value).digest('hex'),
    remember: (status) => Promise.resolve(void remembered.push(status)),
    credentials: () => Promise.reject(new Error('no keys in this test')),
  };
  const keysOf = (resource: ManagedResource): ManagedContext => ({
    ...context,
    credentials: () => {
      if (resource.kind !== 'User' && resource.kind !== 'AccessKey') throw new Error(`a ${resource.kind} has no keys`);
      const secretKey = more.secretKey ?? 'a-secret-key';
      return Promise.resolve({ name: 'keys', data: { accessKey: accessKeyOf(resource), secretKey } });
    },
  });
  return { ...context, remembered, keysOf };
}

/** For tests: a real server as the tenant `demo`, and passes of controllers against it. */
export class TestTenant {
  readonly server: RunningServer;
  readonly access: TenantAccess;
  /** What the last pass changed. */
  readonly changed: string[] = [];
  /** The last status of each resource, which the next pass gets. A resource that a backup gave back has none. */
  readonly statuses = new Map<string, ManagedStatus>();
  readonly options = {
    onChanged: (_: ManagedResource, differences: readonly string[]) => void this.changed.push(...differences),
    random: () => 0,
  };

  private constructor(server: RunningServer, spec: object) {
    this.server = server;
    this.access = {
      tenant: { kind: 'Tenant', metadata: { name: 'demo' }, spec } as unknown as Tenant,
      address: new URL(server.s3).host,
      rootUser: server.accessKey,
      rootPassword: server.secretKey,
    };
  }

  static async start(spec: object = {}): Promise<TestTenant> {
    const server = await startServer();
    await untilReady(server);
    return new TestTenant(server, spec);
  }

  /** As a person with the root credentials does by hand. */
  admin(call: AdminCall): Promise<unknown> {
    const { address, rootUser: accessKey, rootPassword: secretKey } = this.access;
    return callAdmin({ address, tls: false, accessKey, secretKey }, call, () => new Date());
  }

  async pass<Resource extends ManagedResource>(
    controller: ManagedController<Resource>,
    resource: Resource,
    more: {
      readonly others?: readonly ManagedResource[];
      readonly status?: ManagedStatus;
      readonly secretKey?: string;
      readonly secrets?: readonly Secret[];
    } = {},
  ) {
    this.changed.length = 0;
    const name = `${resource.kind}/${resource.metadata.name}`;
    const before = more.status ?? this.statuses.get(name) ?? {};
    const context = contextOf(this.access, { ...more, status: before });
    const { conditions, status } = await controller.reconcile(resource, context.keysOf(resource));
    const ready = conditions.find(({ type }) => type === 'Ready');
    for (const written of [...context.remembered, status ?? {}]) {
      expect(statusMisfits(resource.kind, written)).toEqual([]);
    }
    this.statuses.set(name, Object.assign({}, before, ...context.remembered, status) as ManagedStatus);
    return {
      ready: `${ready?.status ?? ''} ${ready?.reason ?? ''}`,
      message: ready?.message ?? '',
      types: conditions.map(({ type }) => type),
      changed: [...this.changed],
      remembered: context.remembered,
      status,
    };
  }

  async remove<Resource extends ManagedResource>(
    controller: ManagedController<Resource>,
    resource: Resource,
    more: { readonly others?: readonly ManagedResource[]; readonly status?: ManagedStatus } = {},
  ) {
    const { done, conditions } = await controller.remove(resource, contextOf(this.access, more).keysOf(resource));
    return { done, reason: conditions.find(({ type }) => type === 'Ready')?.reason };
  }
}
