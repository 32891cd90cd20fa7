import { createHmac, randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import manifest from '../../../package.json' with { type: 'json' };
import { discover } from '../../../platform/openid/discovery.ts';
import { createKeycloakAdmin } from '../../../platform/openid/keycloak-admin.ts';
import { probeClient, probeRedirect } from '../../../platform/openid/probe.ts';
import type { Tenant } from '../../api/object.ts';
import { createControllers } from '../../reconcile/managed/controllers.ts';
import { createTierController } from '../../reconcile/tenant/tier-controller.ts';
import { createSealedKeysReader, promoteStore, readDeployment } from '../../reconcile/tenant/read-sealed-keys.ts';
import { connectKeyService, proveKeys } from '../../reconcile/key-service/prove-keys.ts';
import { AcceptedProviders } from '../../reconcile/identity-provider/accepted-providers.ts';
import { checkProvider } from '../../reconcile/identity-provider/check-provider.ts';
import type { OperatorEvent } from '../../reconcile/reconciler-options.ts';
import { objectKey, parseObjectKey, type Resources } from '../../reconcile/resources.ts';
import { Reconciler } from '../../reconcile/reconciler.ts';
import type { ResourceStatus } from '../../reconcile/conditions.ts';
import { RolloutLimit } from '../../reconcile/rollout-limit.ts';
import { WorkQueue } from '../../reconcile/work-queue.ts';
import type { Program, ResourceRef } from '../../contract/workload.ts';
import { reachedAt } from './addresses.ts';
import { AcceptanceFile, AcceptedRootFiles } from './accepted-files.ts';
import { LocalRuntime } from './local-runtime.ts';
import { madeCredentials, rootCredentials, type RootCredentials } from './credentials.ts';
import { ManifestFolder } from './manifest-folder.ts';
import { StateFolder, lockState } from './state-folder.ts';
import { StatusFiles } from './status-files.ts';
import { watchFolder } from './watch-folder.ts';

interface LocalOptions {
  readonly manifests: string;
  readonly state: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly verbose?: boolean;
  /** Replaces the programs of this checkout. */
  readonly programs?: Readonly<Record<Program, string>> | undefined;
  /** Runs before the manifests are read, while the state folder is locked. */
  readonly prepare?: (state: StateFolder) => Promise<void>;
  /** Called after each read of the manifests, before they are applied. */
  readonly read?: (resources: Resources, state: StateFolder) => void;
  /** Awaited before each check of a provider. */
  readonly beforeChecks?: () => Promise<void>;
  readonly event: (event: OperatorEvent) => void;
  /** Called with problems that belong to no resource. */
  readonly issue: (message: string) => void;
  readonly childLine: (workload: string, line: string) => void;
}

export interface LocalOperator {
  readonly resources: () => Resources;
  readonly status: (ref: ResourceRef) => ResourceStatus | undefined;
  readonly rootCredentials: (tenant: Tenant) => Promise<RootCredentials>;
  /** Calls the listener after every change of a status. */
  readonly onStatus: (listener: () => void) => void;
  /** Stops every program, dependents first, and unlocks the state folder. */
  readonly stop: () => Promise<void>;
}

const programs: Readonly<Record<Program, string>> = {
  'coffer-server': fileURLToPath(new URL('../../../server/main.ts', import.meta.url)),
  keysvc: fileURLToPath(new URL('../../../keysvc/main.ts', import.meta.url)),
};

/**
 * Runs the operator without Kubernetes: it runs the manifests of a folder as processes of this machine, and follows their changes. Errors
 * when another operator uses the state folder, or when the folder cannot be read.
 */
export async function startLocal(options: LocalOptions): Promise<LocalOperator> {
  const state = new StateFolder(options.state);
  const unlock = await lockState(state);
  try {
    const status = new StatusFiles(state, now);
    const manifests = new ManifestFolder(options.manifests, status.objects(), state.folder('secrets'));
    await manifests.read();
    await options.prepare?.(state);
    await manifests.read();
    const key = await state.madeOnce(() => randomBytes(32).toString('base64url'), 'fingerprint-key');
    // A Tenant of a folder has no UID. Another state folder has another key, and a Tenant that is written again is the same one.
    const localUid = (name: string) =>
      createHmac('sha256', key).update(`tenant uid:${name}`).digest('hex').slice(0, 32);
    const listeners: (() => void)[] = [];
    const failures = new Map<string, string>();
    const event = (news: OperatorEvent) => {
      options.event(news);
      void status.record(news).catch((error: unknown) => options.issue(describe(error)));
    };
    const runtime = new LocalRuntime({
      state,
      programs: options.programs ?? programs,
      event,
      childLine: (workload, line) => options.childLine(workload, line),
      version: manifest.version,
      verbose: options.verbose ?? false,
      random: Math.random,
      now,
    });
    const findRoot = (tenant: Tenant, secrets = manifests.resources.secrets) =>
      rootCredentials(tenant, secrets, state, options.environment);
    const controllers = createControllers({
      onChanged: ({ kind, metadata: { name } }, differences) => {
        const message = `made it as it should be: ${differences.join('; ')}`;
        event({ ref: { kind, name }, type: 'Normal', reason: 'Changed', message });
      },
    });
    const queue = new WorkQueue({
      work: async (key) => {
        const ref = parseObjectKey(key);
        if (ref !== undefined) await reconciler.reconcile(ref);
        failures.delete(key);
      },
      failed: (key, error) => {
        // The queue retries; the reason is reported once.
        if (failures.get(key) !== describe(error)) options.issue(describe(error));
        failures.set(key, describe(error));
      },
      random: Math.random,
      // The watch of the folder already waits until changes settle.
      settleMs: 0,
      lastRetryMs: 2_000,
    });
    const reconciler: Reconciler = new Reconciler({
      namespace: '',
      resources: () => manifests.resources,
      runtime,
      accepted: new AcceptedProviders(await AcceptanceFile.open(state)),
      enqueue: (ref, afterMs) => queue.add(objectKey(ref), afterMs),
      rolloutLimit: new RolloutLimit({ now }),
      controllers,
      tiers: createTierController(),
      sealedKeys: createSealedKeysReader(),
      deploymentOf: readDeployment,
      promoteStore,
      tenantUids: {
        uidOf: localUid,
        find: (uid) => {
          const name = [...manifests.resources.tenants.keys()].find((each) => localUid(each) === uid);
          return name === undefined ? undefined : { namespace: '', name };
        },
      },
      finalizer: {
        // The reader of the folder keeps removed resources.
        hold: () => Promise.resolve(),
        release: async (ref) => {
          if (manifests.release(objectKey(ref))) await reread();
        },
      },
      credentials: (resource, secrets) => madeCredentials(resource, secrets, state),
      proveKeys: (move) =>
        proveKeys(move, async ({ spec: { address, enclave } }, certificate) => {
          const pem = await runtime.certificate(certificate);
          if (pem === undefined) return undefined;
          const endpoints = [`https://${reachedAt(address)}`];
          return connectKeyService({ endpoints, credentials: { kind: 'pem', ...pem }, enclave });
        }),
      acceptedRoots: new AcceptedRootFiles(state),
      rootCredentials: async (tenant, secrets) => (await findRoot(tenant, secrets)).secret,
      check: async (provider, secret) => {
        await options.beforeChecks?.();
        return checkProvider(provider, secret, { discover, probeClient, probeRedirect, createKeycloakAdmin });
      },
      fingerprint: (value) => createHmac('sha256', key).update(value).digest('base64url'),
      status: {
        get: (ref) => status.get(ref),
        generation: (ref) => status.generation(ref),
        put: async (ref, next) => {
          await status.put(ref, next);
          for (const listener of listeners) listener();
        },
      },
      event,
      now,
      random: Math.random,
    });

    let read = new Set<string>();
    const take = () => {
      const { tenants, identityProviders, kmsConfigs, managed, invalid } = manifests.resources;
      const objects = [...tenants.values(), ...identityProviders.values(), ...kmsConfigs.values(), ...managed.values()];
      status.observe(objects, new Set(invalid.keys()));
      options.read?.(manifests.resources, state);
      const before = read;
      read = new Set([...objects.map(({ kind, metadata: { name } }) => objectKey({ kind, name })), ...invalid.keys()]);
      for (const key of new Set([...before, ...read])) queue.add(key);
    };
    let known: readonly string[] = [];
    const report = () => {
      for (const issue of manifests.problems) if (!known.includes(issue)) options.issue(issue);
      known = manifests.problems;
    };
    report();
    take();
    const reread = async () => {
      try {
        await manifests.read();
        report();
        take();
      } catch (error) {
        options.issue(`${describe(error)}; what runs is left as it is`);
      }
    };
    const watches = [options.manifests, state.folder('secrets')].map((folder) =>
      watchFolder(folder, () => void reread()),
    );
    return {
      resources: () => manifests.resources,
      status: (ref) => status.get(ref),
      rootCredentials: (tenant) => findRoot(tenant),
      onStatus: (listener) => listeners.push(listener),
      stop: async () => {
        for (const watch of watches) watch.close();
        reconciler.close();
        await queue.close();
        await runtime.stop();
        await status.markStopped();
        await status.flush();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

const now = () => new Date();

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
