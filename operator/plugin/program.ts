import { counted } from '../../platform/text/message-text.ts';
import { errorText } from '../../platform/errors/system-error.ts';
import { ProgramError } from '../../platform/errors/program-error.ts';
import { KubeError, type KubeObject } from '../kube-client/kube-api.ts';
import { writeFileSync } from 'node:fs';
import { Command, CommanderError, Option } from 'commander';
import metadata from '../../package.json' with { type: 'json' };
import { resourceTypes } from '../kube-client/resource-types.ts';
import {
  changeResource,
  hibernate,
  pause,
  promote,
  restart,
  resume,
  rotate,
  type Change,
  resourceArgument,
} from './change-resource.ts';
import type { Cluster } from './cluster.ts';
import { collectReport } from './collect-report.ts';
import { isSettled, observe, statusOf } from './collect-status.ts';
import { printStatus } from './print-status.ts';
import { tarGz } from './tar.ts';

/** Returns advice for an error, in addition to its message. */
function explainError(error: unknown): string {
  const message = errorText(error);
  const advice = error instanceof KubeError ? adviceFor(error) : undefined;
  return advice === undefined ? message : `${message}\n${advice}`;
}

function adviceFor({ status, reason }: KubeError): string | undefined {
  if (status === undefined) return 'Is the cluster up, and is this the right --context (kubectl config get-contexts)?';
  if (status === 401) return 'The credentials of the kubeconfig are refused; log in again.';
  if (status === 403)
    return 'Your user lacks the permission. The chart adds the resources to the roles view, edit and admin.';
  if (status === 404 && reason === 'NotFound') {
    return 'Are the CustomResourceDefinitions installed (kubectl get crd tenants.coffer.dev), and is this the right --namespace?';
  }
  if (status === 422) return 'The API server refused the change; nothing was changed.';
  return undefined;
}

/** 0: done, and with `status` all resources are ready. */
const exitCodes = { failed: 1, usage: 2, notReady: 3 } as const;

export interface Connected {
  readonly cluster: Cluster;
  /** The namespace of the kubeconfig's context. */
  readonly namespace: string;
}

export interface ConnectionFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
}

/** The streams, the clock and the connection of the process. */
interface PluginIo {
  readonly connect: (flags: ConnectionFlags) => Promise<Connected>;
  readonly out: (text: string) => void;
  readonly error: (text: string) => void;
  readonly now: () => Date;
}

const programs = [resourceTypes.tenant, resourceTypes.kmsConfig];

/** Runs a command line and resolves with its exit code. */
export async function runPlugin(commandLine: readonly string[], io: PluginIo): Promise<number> {
  let code = 0;
  const program = commands(io, (exitCode) => {
    code = exitCode;
  });
  try {
    await program.parseAsync(commandLine, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
    io.error(`kubectl coffer: ${explainError(error)}\n`);
    return error instanceof ProgramError && error.code === 'usage' ? exitCodes.usage : exitCodes.failed;
  }
  return code;
}

/** Makes the command line. A command that ends with another code than 0 passes it to `exit`. */
export function commands(io: PluginIo, exit: (code: number) => void): Command {
  const program = new Command('kubectl coffer')
    .description('Shows and steers the Tenants of a namespace and what they use')
    .version(`kubectl-coffer ${metadata.version}`, '-v, --version')
    .exitOverride()
    .configureOutput({ writeOut: io.out, writeErr: io.error })
    .showHelpAfterError('(--help tells more)')
    .addHelpText(
      'after',
      '\nExit codes: 0 done (status: all is ready), 1 failed, 2 wrong usage, 3 status: something is not ready.',
    );

  command(program, 'status', 'shows a Tenant, or all of the namespace: conditions, pods, certificates, events')
    .argument('[tenant]', 'name of a Tenant; all without it')
    .addOption(new Option('-o, --output <format>', 'how it is printed').choices(['tree', 'json']).default('tree'))
    .action(async (tenant: string | undefined, flags: ConnectionFlags & { readonly output: 'tree' | 'json' }) => {
      const { cluster, namespace } = await io.connect(flags);
      const status = statusOf(await observe(cluster, namespace), tenant);
      if (tenant !== undefined && status.tenants.length === 0) {
        throw new Error(`there is no Tenant ${tenant} in the namespace ${namespace}`);
      }
      io.out(`${flags.output === 'json' ? JSON.stringify(status, undefined, 2) : printStatus(status, io.now())}\n`);
      if (!isSettled(status)) exit(exitCodes.notReady);
    });

  const change = (name: string, help: string, make: (current: KubeObject) => Change | undefined, types = programs) =>
    command(program, name, help)
      .argument('<kind/name>', `e.g. ${types.map(({ kind }) => `${kind.toLowerCase()}/demo`).join(' or ')}`)
      .action(async (text: string, flags: ConnectionFlags) => {
        const ref = resourceArgument(text, types);
        const { cluster, namespace } = await io.connect(flags);
        io.out(`${await changeResource(cluster, namespace, ref, make)}\n`);
      });
  change('restart', 'restarts the pods, one at a time', () => restart(io.now()));
  change('rotate', 'makes new keys for the certificates, without a restart', () => rotate(io.now()));
  change(
    'promote',
    'lets a restored store go on in place of the original, which must not run again',
    () => promote(io.now()),
    [resourceTypes.tenant],
  );
  change('pause', 'leaves what runs as it is, whatever is changed', pause, [resourceTypes.tenant]);
  change('hibernate', 'ends the pods and keeps everything else', hibernate, [resourceTypes.tenant]);
  change('resume', 'undoes pause and hibernate', resume, [resourceTypes.tenant]);

  command(program, 'report', 'writes a support bundle (.tar.gz) without any secret: resources, events, logs')
    .option('--file <path>', 'where it is written; coffer-report-NAMESPACE-TIME.tar.gz without it')
    .option('--tail <lines>', 'lines of each log', positiveInteger, 2000)
    .action(async (flags: ConnectionFlags & { readonly file?: string; readonly tail: number }) => {
      const { cluster, namespace } = await io.connect(flags);
      const now = io.now();
      const options = { namespace, now, tailLines: flags.tail, version: metadata.version };
      const files = await collectReport(cluster, options);
      const name = `coffer-report-${namespace}-${now.toISOString().replaceAll(/[:.]/g, '-')}`;
      const path = flags.file ?? `${name}.tar.gz`;
      const inFolder = new Map([...files].map(([file, content]) => [`${name}/${file}`, content]));
      writeFileSync(path, tarGz(inFolder, now), { mode: 0o600 });
      io.out(
        `${path}: ${counted(files.size, 'file')}. Look it over before you send it; problems.txt tells what is missing.\n`,
      );
    });
  return program;
}

function command(program: Command, name: string, help: string): Command {
  return program
    .command(name)
    .description(help)
    .option('-n, --namespace <name>', "namespace; that of the kubeconfig's context without it")
    .option('--kubeconfig <file>', 'kubeconfig; $KUBECONFIG or ~/.kube/config without it')
    .option('--context <name>', 'context of the kubeconfig; its current one without it');
}

function positiveInteger(text: string): number {
  if (!/^[1-9][0-9]{0,6}$/.test(text)) throw new ProgramError('usage', `--tail needs a number of lines, not "${text}"`);
  return Number(text);
}
