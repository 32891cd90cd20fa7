import type { TestProject } from 'vitest/node';
import { startKeycloak } from '../../keycloak/start-keycloak.ts';
import { installOperator } from './operator.ts';
import { nodeAddress, startCluster } from './start-cluster.ts';

declare module 'vitest' {
  interface ProvidedContext {
    readonly kubeconfig: string;
    readonly clusterState: string;
    readonly keycloakUrl: string;
  }
}

/** One cluster, one operator and one Keycloak for the whole tier. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const started = Date.now();
  const cluster = await startCluster();
  const stopping = [() => cluster.stop()];
  const stop = async () => {
    for (const part of stopping.toReversed()) await part();
  };
  try {
    // Pods reach it at the node's address, which exists since the cluster does.
    const [keycloak] = await Promise.all([startKeycloak({ host: nodeAddress }), installOperator(cluster.kubectl)]);
    stopping.push(() => keycloak.stop());
    console.log(`cluster, Keycloak and operator are up after ${((Date.now() - started) / 1000).toFixed(1)} s`);
    project.provide('kubeconfig', cluster.kubectl.kubeconfig);
    project.provide('clusterState', cluster.state);
    project.provide('keycloakUrl', keycloak.url);
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}
