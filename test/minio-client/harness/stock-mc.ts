import { join } from 'node:path';
import { expect } from 'vitest';
import { runCommand } from '../../harness/run-command.ts';
import { tool } from '../../harness/tools.ts';

export interface McReply {
  readonly code: number | null;
  /** One for each document of JSON. */
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  /** All that was printed, for where something goes wrong. */
  readonly text: string;
}

/** Stock `mc` with a configuration of its own, below a folder of the test's. */
export class StockMc {
  readonly #program = tool('bin/mc', 'mc');
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Whatever comes of it. */
  async try(...args: readonly string[]): Promise<McReply> {
    const options = ['--config-dir', join(this.#folder, 'mc'), '--disable-pager', '--json'];
    // Exports are put where it runs.
    const { code, stdout, stderr } = await runCommand(this.#program, [...options, ...args], { cwd: this.#folder });
    return {
      code,
      lines: documents(stdout).map((document) => JSON.parse(document) as Readonly<Record<string, unknown>>),
      text: `mc ${args.join(' ')}\n${stdout}${stderr}`,
    };
  }

  /** Expects success. */
  async run(...args: readonly string[]): Promise<McReply['lines']> {
    const reply = await this.try(...args);
    expect(reply, reply.text).toMatchObject({ code: 0 });
    return reply.lines;
  }

  async alias(name: string, url: string, accessKey: string, secretKey: string): Promise<void> {
    await this.run('alias', 'set', name, url, accessKey, secretKey);
  }
}

/** Most answers have a line each; policies and reports are one on many. */
function documents(output: string): string[] {
  const lines = output.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'));
  return lines.length === 0 && output.startsWith('{') ? [output] : lines;
}
