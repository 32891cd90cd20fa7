import type { Condition, Secret, Tenant } from '../api/object.ts';
import { certificateNeeds } from '../render/certificates.ts';
import { workloadName, type RenderContext } from '../render/render-context.ts';
import { canonical } from '../render/restart-inputs.ts';
import type { Runtime, RunningWorkload } from '../runtime.ts';
import type { ResourceReference } from '../workload.ts';
import type { AcceptedProviders } from './accepted-providers.ts';
import type { ProviderCheck } from './check-provider.ts';
import { mergeConditions, type Finding, type ResourceStatus } from './conditions.ts';
import type { OperatorEvent } from './events.ts';
import { providerFindings, tenantFindings, workloadFindings, type Observation } from './findings.ts';
import { plan, type Step } from './plan.ts';
import { ProviderChecks } from './provider-checks.ts';
import { problemKey, renderAll, type KnownProvider, type RenderedAll } from './render-all.ts';
import type { Resources } from './resources.ts';

export interface ReconcilerOptions {
  readonly resources: () => Resources;
  readonly runtime: Runtime;
  readonly accepted: AcceptedProviders;
  /** The Secret with the root credentials of a tenant, made where there is none; undefined where the one it names is missing. */
  readonly rootCredentials: (tenant: Tenant, secrets: ReadonlyMap<string, Secret>) => Promise<Secret>;
  readonly check: (provider: KnownProvider['provider'], clientSecret: string) => Promise<ProviderCheck>;
  readonly fingerprint: (value: string) => string;
  readonly status: StatusStore;
  readonly event: (event: OperatorEvent) => void;
  /** An error that no condition explains. */
  readonly failed: (error: unknown) => void;
  readonly now: () => Date;
  readonly random: () => number;
  readonly version: string;
}

/** Where conditions are kept: status files, or the status subresource. `put` writes nothing when nothing changed. */
export interface StatusStore {
  get(about: ResourceReference): ResourceStatus | undefined;
  put(about: ResourceReference, status: ResourceStatus): Promise<void>;
  /** The generation of what is written now; grows with every change of a spec. */
  generation(about: ResourceReference): number;
}

/** Milliseconds before a pass that failed is tried again. */
const retryMs = 2_000;

/**
 * observe, render, apply: makes what runs equal to what is written, one pass at a time. A pass is asked for by `request`; whatever
 * came while one ran leads to one more.
 */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #checks: ProviderChecks;
  #running: Promise<void> | undefined;
  #again = false;
  #closed = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#checks = new ProviderChecks({
      check: (provider, secret) => options.check(provider, secret),
      onResult: () => this.request(),
      random: () => options.random(),
    });
    options.runtime.onChange(() => this.request());
  }

  request(): void {
    if (this.#closed) return;
    if (this.#running !== undefined) {
      this.#again = true;
      return;
    }
    this.#running = this.#loop().finally(() => {
      this.#running = undefined;
    });
  }

  /** Ends after the pass that is under way. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#checks.close();
    await this.#running;
  }

  async #loop(): Promise<void> {
    do {
      this.#again = false;
      try {
        await this.#pass();
      } catch (error) {
        this.#options.failed(error);
        clearTimeout(this.#retry);
        this.#retry = setTimeout(() => this.request(), retryMs);
      }
    } while (this.#again && !this.#closed);
  }

  async #pass(): Promise<void> {
    const { runtime, accepted } = this.#options;
    const resources = this.#options.resources();
    const tenants = [...resources.tenants.values()];
    const providers = await this.#knownProviders(resources);
    const certificates = await runtime.ensureCertificates(certificateNeeds(tenants, resources.kmsConfigs));
    const roots = await this.#rootSecrets(tenants, resources.secrets);
    const secrets = new Map(resources.secrets);
    for (const secret of [...accepted.secrets(), ...roots.values()]) secrets.set(secret.name, secret);
    const context: RenderContext = { secrets, certificates, fingerprint: (value) => this.#options.fingerprint(value) };
    const rendered = renderAll({
      resources,
      providers,
      accepted: (name) => accepted.rendered(name),
      rootSecret: (tenant) => roots.get(tenant)?.name ?? '',
      context,
    });
    const steps = plan(rendered.desired, await runtime.observe(), rendered.leaveAlone);
    for (const step of steps) await this.#take(step, secrets);
    await this.#publish(resources, providers, rendered, steps);
  }

  /** Checks what is new, and accepts what passed. */
  async #knownProviders(resources: Resources): Promise<ReadonlyMap<string, KnownProvider>> {
    const { accepted, fingerprint } = this.#options;
    const known = new Map<string, KnownProvider>();
    for (const [name, provider] of resources.identityProviders) {
      const { clientSecretRef } = provider.spec;
      const clientSecret = resources.secrets.get(clientSecretRef.name)?.data[clientSecretRef.key];
      if (clientSecret === undefined) {
        const message =
          `spec.clientSecretRef names the key ${clientSecretRef.key} of the Secret ${clientSecretRef.name}, ` +
          `which ${resources.secrets.has(clientSecretRef.name) ? 'has no such key' : 'does not exist'}`;
        known.set(name, { provider, current: false, state: { kind: 'broken', reason: 'SecretNotFound', message } });
        continue;
      }
      const digest = fingerprint(canonical([provider.spec, clientSecret]));
      const state = this.#checks.state(provider, clientSecret, digest);
      const current = accepted.get(name)?.digest === digest;
      if (state.kind === 'good' && !current) await accepted.accept({ provider, clientSecret, digest });
      known.set(name, { provider, state, current: current || state.kind === 'good' });
    }
    this.#checks.retain(new Set(resources.identityProviders.keys()));
    const referred = [...resources.tenants.values()].flatMap(({ spec }) => spec.identityProviders ?? []);
    await accepted.retain(new Set([...resources.identityProviders.keys(), ...referred.map(({ name }) => name)]));
    return known;
  }

  async #rootSecrets(
    tenants: readonly Tenant[],
    secrets: ReadonlyMap<string, Secret>,
  ): Promise<ReadonlyMap<string, Secret>> {
    const found = new Map<string, Secret>();
    for (const tenant of tenants) {
      found.set(tenant.metadata.name, await this.#options.rootCredentials(tenant, secrets));
    }
    return found;
  }

  async #take(step: Step, secrets: ReadonlyMap<string, Secret>): Promise<void> {
    const { runtime, event } = this.#options;
    switch (step.kind) {
      case 'start':
        event({
          about: step.workload.owner,
          type: 'Normal',
          reason: 'Starting',
          message: `starts ${step.workload.name}`,
        });
        return runtime.apply(step.workload, secrets);
      case 'restart':
        for (const { reason, field } of step.restarts) {
          event({ about: step.workload.owner, type: 'Normal', reason, message: `restarts for ${field}` });
        }
        return runtime.apply(step.workload, secrets);
      case 'refresh':
        return runtime.apply(step.workload, secrets);
      case 'remove':
        return runtime.remove(step.name);
      case 'wait':
        return;
      default:
        step satisfies never;
    }
  }

  async #publish(
    resources: Resources,
    providers: ReadonlyMap<string, KnownProvider>,
    rendered: RenderedAll,
    steps: readonly Step[],
  ): Promise<void> {
    const running = new Map((await this.#options.runtime.observe()).map((workload) => [workload.name, workload]));
    const observe = (about: ResourceReference): Observation => ({
      running: running.get(workloadName(about)),
      step: steps.find((step) => 'workload' in step && step.workload.name === workloadName(about)),
      problem: rendered.problems.get(problemKey(about)),
      invalid: resources.invalid.get(problemKey(about)),
    });
    const keyServices = new Map<string, readonly Finding[]>();
    for (const name of resources.kmsConfigs.keys()) {
      const about = { kind: 'KMSConfig', name } as const;
      const seen = observe(about);
      const findings = workloadFindings(seen);
      keyServices.set(name, findings);
      await this.#put(about, findings, this.#servers(seen.running, 1));
    }
    const invalidProviders = invalidOf('IdentityProvider', resources.invalid);
    for (const [name, known] of providers) {
      const issuer = known.state.kind === 'good' ? { issuer: known.state.issuer } : {};
      await this.#put(
        { kind: 'IdentityProvider', name },
        providerFindings(known.state, invalidProviders.get(name)),
        issuer,
      );
    }
    for (const tenant of resources.tenants.values()) {
      const about = { kind: 'Tenant', name: tenant.metadata.name } as const;
      const seen = observe(about);
      const ref = tenant.spec.kmsConfigRef;
      const findings = tenantFindings(tenant, seen, {
        providers,
        invalidProviders,
        isAccepted: (name) => this.#options.accepted.get(name) !== undefined,
        waitingFor: rendered.waiting.get(about.name),
        keyService: ref && keyServices.get(ref.name),
      });
      await this.#put(about, findings, this.#servers(seen.running, tenant.spec.replicas));
    }
    await this.#publishUnreadable(resources);
  }

  /** Manifests that never were good have no object, but a name to report under. */
  async #publishUnreadable(resources: Resources): Promise<void> {
    const maps = {
      Tenant: resources.tenants,
      IdentityProvider: resources.identityProviders,
      KMSConfig: resources.kmsConfigs,
    };
    for (const [kind, objects] of Object.entries(maps) as ['Tenant', ReadonlyMap<string, unknown>][]) {
      for (const [name, invalid] of invalidOf(kind, resources.invalid)) {
        if (objects.has(name)) continue;
        const seen = { running: undefined, step: undefined, problem: undefined, invalid };
        await this.#put({ kind, name }, workloadFindings(seen), {});
      }
    }
  }

  #servers(running: RunningWorkload | undefined, wanted: number): Partial<ResourceStatus> {
    const addresses = running?.addresses ?? {};
    return {
      servers: `${running?.state.kind === 'ready' ? 1 : 0}/${wanted}`,
      version: this.#options.version,
      ...(Object.keys(addresses).length === 0 ? {} : { addresses }),
    };
  }

  async #put(about: ResourceReference, findings: readonly Finding[], more: Partial<ResourceStatus>): Promise<void> {
    const { status, event, now } = this.#options;
    const before = status.get(about);
    const generation = status.generation(about);
    const conditions = mergeConditions(before?.conditions ?? [], findings, generation, now());
    const news = readyNews(before?.conditions ?? [], conditions);
    if (news !== undefined) event({ about, ...news });
    await status.put(about, { ...more, observedGeneration: generation, conditions });
  }
}

function invalidOf(kind: ResourceReference['kind'], invalid: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const prefix = `${kind}/`;
  return new Map(
    [...invalid].flatMap(([key, message]) => (key.startsWith(prefix) ? [[key.slice(prefix.length), message]] : [])),
  );
}

/** What to tell people when Ready changed; steps under way have events of their own. */
function readyNews(
  before: readonly Condition[],
  after: readonly Condition[],
): Pick<OperatorEvent, 'type' | 'reason' | 'message'> | undefined {
  const old = before.find(({ type }) => type === 'Ready');
  const now = after.find(({ type }) => type === 'Ready');
  if (now === undefined || (old?.status === now.status && old.reason === now.reason && old.message === now.message)) {
    return undefined;
  }
  if (now.status === 'True') {
    return old?.status === 'True' ? undefined : { type: 'Normal', reason: now.reason, message: now.message };
  }
  if (now.status === 'Unknown' || now.reason === 'Starting' || now.reason === 'NotStarted') return undefined;
  return { type: 'Warning', reason: now.reason, message: now.message };
}
