import { expect } from 'vitest';
import { statusMisfits } from '../../operator/reconcile/reconciler-harness.ts';
import { startServer, untilReady, type RunningServer } from '../harness/start-server.ts';
import type { Declared, Tenant } from '../../operator/api/object.ts';
import { callAdmin, type AdminCall } from '../../operator/declared/admin-request.ts';
import { contextOf } from '../../operator/declared/testing.ts';
import type { DeclaredController, DeclaredStatus, TenantAccess } from '../../operator/reconcile/declared-controller.ts';

/** For tests: a real server as the tenant `demo`, and passes of controllers against it. */
export class TestTenant {
  readonly server: RunningServer;
  readonly access: TenantAccess;
  /** What the last pass changed. */
  readonly changed: string[] = [];
  readonly options = {
    onChanged: (_: Declared, differences: readonly string[]) => void this.changed.push(...differences),
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

  async pass<Resource extends Declared>(
    controller: DeclaredController<Resource>,
    resource: Resource,
    more: { readonly others?: readonly Declared[]; readonly status?: DeclaredStatus; readonly secretKey?: string } = {},
  ) {
    this.changed.length = 0;
    const context = contextOf(this.access, more);
    const { findings, status } = await controller.reconcile(resource, context.keysOf(resource));
    const ready = findings.find(({ type }) => type === 'Ready');
    for (const written of [...context.remembered, status ?? {}]) {
      expect(statusMisfits(resource.kind, written)).toEqual([]);
    }
    return {
      ready: `${ready?.status ?? ''} ${ready?.reason ?? ''}`,
      message: ready?.message ?? '',
      types: findings.map(({ type }) => type),
      changed: [...this.changed],
      remembered: context.remembered,
      status,
    };
  }

  async remove<Resource extends Declared>(
    controller: DeclaredController<Resource>,
    resource: Resource,
    more: { readonly others?: readonly Declared[]; readonly status?: DeclaredStatus } = {},
  ) {
    const { done, findings } = await controller.remove(resource, contextOf(this.access, more).keysOf(resource));
    return { done, reason: findings.find(({ type }) => type === 'Ready')?.reason };
  }
}
