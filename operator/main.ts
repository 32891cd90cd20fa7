import { errorText } from '../platform/errors/system-error.ts';
import { Command } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { createLogger } from '../platform/output/logger.ts';
import { failOnLostOutput } from '../platform/output/standard-output.ts';
import { cleanProcessVariables } from '../platform/settings/setting-variables.ts';
import { onShutdown } from '../platform/process/shutdown.ts';
import { kubernetesCommand } from './runtime/kubernetes/kubernetes-command.ts';

// Each command loads what it needs: a check of a provider starts in a pod of its own, and an operator is asked for its memory.

failOnLostOutput('coffer-operator');

const program = new Command('coffer-operator')
  .description('Runs Coffer as its custom resources describe it')
  .version(`coffer-operator ${manifest.version}`, '-v, --version')
  .showHelpAfterError();

program
  .command('local')
  .description('runs the manifests of a folder as processes of this machine, and follows their changes')
  .requiredOption('--manifests <folder>', 'folder of manifests (YAML): Tenants and what belongs to them, Secrets')
  .requiredOption('--state <folder>', 'folder for data, secrets, certificates, logs and status files')
  .option('--verbose', 'also prints the logs of the programs', false)
  .action(async ({ manifests, state, verbose }: { manifests: string; state: string; verbose: boolean }) => {
    const { startLocal } = await import('./runtime/local/start-local.ts');
    const { Terminal } = await import('./runtime/local/terminal.ts');
    const terminal = new Terminal(process.stdout, () => new Date());
    const operator = await startLocal({
      manifests,
      state,
      verbose,
      environment: process.env,
      event: (event) => terminal.event(event),
      issue: (message) => terminal.issue(message),
      childLine: (workload, line) => terminal.childLine(workload, line),
    });
    onShutdown({ log: createLogger({ name: 'coffer-operator', level: 'warn' }), timeoutMs: 60_000 }, async (reason) => {
      terminal.say(`stopping (${reason})`);
      await operator.stop();
    });
  });

const variables = {
  prefixes: ['COFFER_OPERATOR_', 'SVC_ROOT_', 'MINIO_ROOT_', 'POD_'],
  secrets: ['SVC_ROOT_PASSWORD', 'MINIO_ROOT_PASSWORD'],
};

program.addCommand(kubernetesCommand(process.env));

program
  .command('check-provider')
  .description('asks an identity provider from the network of a pod; the operator runs it in one')
  .requiredOption('--request <file>', 'JSON with the provider and its client secret')
  .action(async ({ request }: { request: string }) => {
    const { checkProviderProgram } = await import('./runtime/kubernetes/provider-check/check-provider-program.ts');
    await checkProviderProgram(request);
  });

program
  .command('crds')
  .description('prints the CustomResourceDefinitions')
  .action(async () => {
    const { crdFiles } = await import('./api/crd.ts');
    process.stdout.write([...crdFiles().values()].join('---\n'));
  });

try {
  cleanProcessVariables(variables);
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`coffer-operator: ${errorText(error)}\n`);
  process.exit(1);
}
