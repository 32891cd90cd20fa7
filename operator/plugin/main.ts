import { KubeClient } from '../kube-client/kube-client.ts';
import { fromKubeconfig } from '../kube-client/connection.ts';
import { failOnLostOutput } from '../../platform/output/standard-output.ts';
import { runPlugin, type Connected, type ConnectionFlags } from './program.ts';

async function connect({ kubeconfig, context, namespace }: ConnectionFlags): Promise<Connected> {
  const connection = await fromKubeconfig({
    file: kubeconfig,
    context,
  });
  const cluster = new KubeClient(connection, { fieldManager: 'kubectl-coffer', userAgent: 'kubectl-coffer' });
  return { cluster, namespace: namespace ?? connection.namespace ?? 'default' };
}

failOnLostOutput('kubectl-coffer');

process.exitCode = await runPlugin(process.argv.slice(2), {
  connect,
  out: (text) => process.stdout.write(text),
  error: (text) => process.stderr.write(text),
  now: () => new Date(),
});
// Idle connections would keep the process alive. The output must be flushed first.
process.stdout.write('', () => process.exit());
