import { BucketAlreadyOwnedByYou, CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { inject } from 'vitest';
import { keycloakAt } from '../../keycloak/start-keycloak.ts';
import { answerOf } from './downtime.ts';
import { Kubectl, type KubernetesObject } from './kubectl.ts';
import { image } from '../../container/docker.ts';
import { until } from './until.ts';

/** Changes the client's secret at a running Keycloak, as its administrator does. */
export async function setClientSecret(keycloakUrl: string, clientId: string, secret: string): Promise<void> {
  const login = new URLSearchParams({
    client_id: 'admin-cli',
    grant_type: 'password',
    username: 'admin',
    password: 'admin-password',
  });
  const answer = await fetch(`${keycloakUrl}/realms/master/protocol/openid-connect/token`, {
    method: 'POST',
    body: login,
  });
  const { access_token: token } = (await answer.json()) as { access_token: string };
  const clients = `${keycloakUrl}/admin/realms/coffer/clients`;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const found = await fetch(`${clients}?clientId=${clientId}`, { headers });
  const [client] = (await found.json()) as [{ id: string }];
  const changed = await fetch(`${clients}/${client.id}`, {
    method: 'PUT',
    headers,
    body: JSON.stringify({ ...client, secret }),
  });
  if (!changed.ok) throw new Error(`Keycloak answered ${changed.status}: ${await changed.text()}`);
}

export const kubectl = new Kubectl(inject('kubeconfig'));
export const keycloak = keycloakAt(inject('keycloakUrl'));

const apiVersion = 'coffer.dev/v1alpha1';

/** A namespace with what one team commits: a Tenant, its IdentityProvider at the real Keycloak, and a key service. */
export class Team {
  readonly namespace: string;
  readonly tenant = 'demo';

  constructor(namespace: string) {
    this.namespace = namespace;
  }

  async createNamespace(): Promise<void> {
    await kubectl.apply({
      apiVersion: 'v1',
      kind: 'Namespace',
      // The strictest level of Kubernetes' own: nothing of ours needs more.
      metadata: { name: this.namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    });
  }

  /** Everything, as one commit would bring it; `server`: the Tenant, where it is not the usual one. */
  async commitAll(server = this.server()): Promise<void> {
    // Whatever a test before this one left at the provider.
    await setClientSecret(inject('keycloakUrl'), keycloak.clientId, keycloak.clientSecret);
    await this.createNamespace();
    await kubectl.apply(this.clientSecret(keycloak.clientSecret), this.identityProvider(), this.keyService(), server);
  }

  clientSecret(value: string, name = 'primary-iam-client'): object {
    return this.object('v1', 'Secret', name, {
      type: 'coffer.dev/identity-provider',
      stringData: { 'client-secret': value },
    });
  }

  identityProvider(spec: Readonly<Record<string, unknown>> = {}, name = 'primary-iam'): object {
    return this.object(apiVersion, 'IdentityProvider', name, {
      spec: {
        configUrl: keycloak.configUrl,
        clientId: keycloak.clientId,
        clientSecretRef: { name: 'primary-iam-client', key: 'client-secret' },
        scopes: ['openid', 'email'],
        ...spec,
      },
    });
  }

  keyService(spec: Readonly<Record<string, unknown>> = {}): object {
    return this.object(apiVersion, 'KMSConfig', 'keys', {
      spec: {
        imagePullPolicy: 'Never',
        keystore: { files: { size: '1Gi' } },
        defaultKey: 'team-key',
        ...spec,
      },
    });
  }

  server(spec: Readonly<Record<string, unknown>> = {}, metadata: Readonly<Record<string, unknown>> = {}): object {
    return this.object(
      apiVersion,
      'Tenant',
      this.tenant,
      {
        spec: {
          image,
          imagePullPolicy: 'Never',
          storage: { size: '1Gi' },
          // A pod that asks for nothing starves on a node of two cores while others start.
          resources: { requests: { cpu: '200m', memory: '256Mi' } },
          identityProviders: [{ name: 'primary-iam' }],
          kmsConfigRef: { name: 'keys' },
          ...spec,
        },
      },
      metadata,
    );
  }

  /** Any object of the namespace. */
  object(version: string, kind: string, name: string, rest: object, metadata: object = {}): object {
    return { apiVersion: version, kind, metadata: { name, namespace: this.namespace, ...metadata }, ...rest };
  }

  get(kind: string, name: string): Promise<KubernetesObject | undefined> {
    return kubectl.get(kind, name, this.namespace);
  }

  /** Waits until the resource's condition says so about its present generation; gives the resource. */
  untilCondition(
    kind: string,
    name: string,
    wanted: { readonly type?: string; readonly status: string; readonly reason?: string },
    timeoutMs = 360_000,
  ): Promise<KubernetesObject> {
    const { type = 'Ready', status, reason } = wanted;
    return until(
      `${kind}/${name} of ${this.namespace} ${type}=${status} ${reason ?? ''}`,
      async () => {
        const found = await this.get(kind, name);
        const condition = found?.status?.conditions?.find((each) => each.type === type);
        const current = found?.status?.['observedGeneration'] === found?.metadata.generation;
        const holds = condition?.status === status && (reason === undefined || condition.reason === reason);
        return current && holds ? found : undefined;
      },
      { timeoutMs, otherwise: () => this.describe() },
    );
  }

  /** Waits until everything is ready and nothing is under way. */
  async untilSettled(timeoutMs = 540_000): Promise<void> {
    await until(
      `all of ${this.namespace} to settle`,
      async () => {
        const text = await kubectl.run([
          'get',
          'tenants,identityproviders,kmsconfigs',
          '--namespace',
          this.namespace,
          '--output',
          'json',
        ]);
        const { items } = JSON.parse(text) as { items: readonly KubernetesObject[] };
        const settled = items.every(({ metadata, status }) => {
          const conditions = status?.conditions ?? [];
          const is = (type: string) => conditions.find((each) => each.type === type)?.status === 'True';
          return status?.['observedGeneration'] === metadata.generation && is('Ready') && !is('Reconciling');
        });
        return settled ? true : undefined;
      },
      { timeoutMs, otherwise: () => this.describe() },
    );
  }

  pods(workload: string): Promise<readonly KubernetesObject[]> {
    return kubectl.list('pods', this.namespace, `coffer.dev/workload=${workload}`);
  }

  /** UIDs, sorted: the same before and after where no pod was replaced. */
  async podUids(workload: string): Promise<readonly string[]> {
    return (await this.pods(workload)).map(({ metadata }) => metadata.uid ?? '').sort();
  }

  /** UIDs of a workload's pods with the number of restarts of their containers: the same before and after where no pod was touched. */
  async instances(workload: string): Promise<readonly string[]> {
    const found = (await this.pods(workload)).map(({ metadata, status }) => {
      const containers = (status?.['containerStatuses'] ?? []) as { restartCount: number }[];
      return `${metadata.uid} ${containers.map(({ restartCount }) => restartCount).join()}`;
    });
    return found.toSorted();
  }

  /** Waits until the resource is Stalled for the reason; gives the message of the condition. */
  async untilStalled(kind: string, name: string, reason: string): Promise<string> {
    const found = await this.untilCondition(kind, name, { type: 'Stalled', status: 'True', reason });
    return found.status?.conditions?.find(({ type }) => type === 'Stalled')?.message ?? '';
  }

  /** Waits until the one pod is another than this one, and everything is settled. */
  async untilReplaced(workload: string, before: readonly string[]): Promise<void> {
    await until(
      `the pods of ${workload} to be replaced`,
      async () => {
        const now = await this.podUids(workload);
        return now.length === before.length && now.every((uid) => !before.includes(uid)) ? true : undefined;
      },
      { otherwise: () => this.describe() },
    );
    await this.untilSettled();
  }

  /** `http://CLUSTER-IP:PORT` of a Service's port: kube-proxy serves this machine as it does pods. */
  async endpoint(service = 'demo-server', port = 's3'): Promise<string> {
    const found = await this.get('service', service);
    if (found === undefined) throw new Error(`there is no Service ${service} in ${this.namespace}`);
    const { clusterIP, ports } = found.spec as { clusterIP: string; ports: { name: string; port: number }[] };
    return `http://${clusterIP}:${ports.find(({ name }) => name === port)?.port}`;
  }

  /** The same, once it answers: kube-proxy hears of the first pods that are ready up to a second after their Tenant is. */
  async answeringEndpoint(): Promise<string> {
    const url = await this.endpoint();
    await until(`${url} to answer`, async () => ((await answerOf(url)) === 200 ? true : undefined), {
      otherwise: () => this.describe(),
    });
    return url;
  }

  /** Those that the operator made. */
  async rootCredentials(): Promise<{ accessKeyId: string; secretAccessKey: string }> {
    const secret = await this.get('secret', `${this.tenant}-root-credentials`);
    const decode = (key: string) => Buffer.from(secret?.data?.[key] ?? '', 'base64').toString('utf8');
    return { accessKeyId: decode('rootUser'), secretAccessKey: decode('rootPassword') };
  }

  async rootClient(): Promise<S3Client> {
    const [endpoint, credentials] = await Promise.all([this.endpoint(), this.rootCredentials()]);
    return new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials });
  }

  async createBucket(bucket: string): Promise<void> {
    try {
      await (await this.rootClient()).send(new CreateBucketCommand({ Bucket: bucket }));
    } catch (error) {
      // On a cluster that was kept.
      if (!(error instanceof BucketAlreadyOwnedByYou)) throw error;
    }
  }

  async events(): Promise<readonly string[]> {
    const found = await kubectl.list('events', this.namespace);
    return found.map(({ reason, message, involvedObject }) => {
      const { kind, name } = involvedObject as { kind: string; name: string };
      return `${kind}/${name} ${String(reason)}: ${String(message)}`;
    });
  }

  /** The events of the namespace about resources of a kind, as lines. */
  async said(kind: string): Promise<string> {
    return (await this.events()).filter((line) => line.startsWith(`${kind}/`)).join('\n');
  }

  describe(): Promise<string> {
    return kubectl.describe(this.namespace);
  }
}
