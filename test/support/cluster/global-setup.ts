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

/**
 * One cluster, one operator and one Keycloak for the whole tier. For work on the tests, COFFER_CLUSTER_KEEP leaves the cluster running
 * and COFFER_CLUSTER_KEYCLOAK is the address of a Keycloak that runs already.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const started = Date.now();
  const cluster = await startCluster();
  const stopping = [() => cluster.stop()];
  const stop = async () => {
    for (const part of stopping.toReversed()) await part();
  };
  try {
    // Pods reach it at the node's address, which exists since the cluster does.
    const running = process.env['COFFER_CLUSTER_KEYCLOAK'];
    const [keycloak] = await Promise.all([
      running === undefined ? startKeycloak({ host: nodeAddress }) : { url: running, stop: async () => {} },
      installOperator(cluster.kubectl),
    ]);
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
