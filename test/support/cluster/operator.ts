import { fileURLToPath } from 'node:url';
import { runCommand, tool } from '../process/run-command.ts';
import type { Kubectl } from './kubectl.ts';

export const operatorNamespace = 'coffer-operator';
export const release = 'coffer-operator';
const chart = fileURLToPath(new URL('../../../charts/coffer-operator', import.meta.url));

/**
 * As the guide tells people to, but for the image, which is on the node already. Waits until it is ready. A second operator leaves the CRDs and the
 * roles of users, which are of the whole cluster, to the first one.
 */
export async function installOperator(
  kubectl: Kubectl,
  values: readonly string[] = [],
  { namespace = operatorNamespace, isFirst = true } = {},
): Promise<void> {
  const image = ['image.repository=localhost/coffer', 'image.tag=dev', 'image.pullPolicy=Never', 'allowedImages[0]=*'];
  // This kubelet brings a changed Secret into its pods within seconds: a renewal need not take five minutes for each of its phases.
  const spread = ['extraEnv[0].name=COFFER_OPERATOR_CERTIFICATE_SPREAD_SECONDS', 'extraEnv[0].value=60'];
  await helm(kubectl, [
    'upgrade',
    release,
    chart,
    '--install',
    '--create-namespace',
    '--namespace',
    namespace,
    '--wait',
    '--timeout',
    '2m',
    '--set',
    `crds.enabled=${isFirst},rbac.aggregateToDefaultRoles=${isFirst}`,
    ...[...image, ...spread, ...values].flatMap((value) => ['--set-string', value]),
  ]);
}

/** Waits until as many operators run as there should, all of the newest template. */
export async function untilOperatorRolledOut(kubectl: Kubectl): Promise<void> {
  await kubectl.run([
    'rollout',
    'status',
    'deployment/coffer-operator',
    '--namespace',
    operatorNamespace,
    '--timeout=90s',
  ]);
}

export async function helm(kubectl: Kubectl, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(tool('kubernetes/helm', 'kubernetes'), args, {
    env: { KUBECONFIG: kubectl.kubeconfig },
    timeoutMs: 180_000,
  });
  if (code !== 0) {
    const state = await kubectl.attempt(['get', 'pods,events', '--namespace', operatorNamespace]);
    const logs = await kubectl.attempt([
      'logs',
      '--namespace',
      operatorNamespace,
      '--selector',
      operatorSelector,
      '--tail',
      '20',
    ]);
    throw new Error(
      `helm ${args.join(' ')} exited with ${code}: ${stderr}\n${state.stdout}\n${logs.stdout}${logs.stderr}`,
    );
  }
  return stdout;
}

export const operatorSelector = 'app.kubernetes.io/name=coffer-operator';
