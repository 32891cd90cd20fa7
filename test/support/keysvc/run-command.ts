import { makeProgram } from '../../../keysvc/commands/program.ts';
import { variables } from '../../../keysvc/commands/variables.ts';
import { settingVariables } from '../../../platform/settings/setting-variables.ts';
import type { Terminal } from '../../../keysvc/commands/terminal.ts';

interface Ran {
  readonly output: string;
  /** Progress and warnings. */
  readonly reported: string;
}

/** Runs a command in this process, and rejects with its error. */
export async function runCommand(
  args: readonly string[],
  options: Partial<Omit<Terminal, 'readInput'>> & { readonly input?: string } = {},
): Promise<Ran> {
  const written: (string | Uint8Array)[] = [];
  let reported = '';
  const program = makeProgram({
    isTerminal: false,
    write: (text) => written.push(text),
    report: (text) => (reported += text),
    askSecret: () => Promise.resolve(undefined),
    readInput: () => Promise.resolve(Buffer.from(options.input ?? '')),
    interrupted: new AbortController().signal,
    ...options,
    environment: settingVariables(options.environment ?? {}, variables),
  });
  for (const command of [program, ...program.commands, ...program.commands.flatMap(({ commands }) => commands)])
    command.exitOverride().configureOutput({ writeErr: () => undefined });
  await program.parseAsync(['node', 'keysvc', ...args]);
  return { output: Buffer.concat(written.map((part) => Buffer.from(part))).toString(), reported };
}
