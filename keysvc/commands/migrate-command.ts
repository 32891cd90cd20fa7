import { ProgramError } from '../../platform/errors/program-error.ts';
import type { Command } from 'commander';
import { patternError } from '../../protocol/key-service/names.ts';
import type { KeyStore } from '../keystores/keystore.ts';
import type { KeyOutcome } from '../keys/migrate-keys.ts';
import { type Terminal } from './terminal.ts';

interface Options {
  readonly from: string;
  readonly to: string;
  readonly merge?: boolean;
  readonly dryRun?: boolean;
  readonly quiet?: boolean;
}

/** Milliseconds between progress reports. */
const progressMs = 1000;

export function addMigrate(program: Command, terminal: Terminal): void {
  program
    .command('migrate [pattern]')
    .description('copy keys from one key store to another, and read each back')
    .requiredOption('--from <file>', 'configuration file whose keystore the keys are in')
    .requiredOption('--to <file>', 'configuration file whose keystore they go to')
    .option('--merge', 'keep different keys of the same name at the target')
    .option('--dry-run', 'compare only')
    .option('-q, --quiet', 'report failures only')
    .addHelpText(
      'after',
      `
Of the two files only the keystore counts. Nothing is ever written over or deleted. Broken off, the same command goes on: keys that are
there already are compared. Stop changing keys before you begin, or run it once more at the end.

Examples:
  keysvc migrate --from files.yml --to azure.yml --dry-run
  keysvc migrate --from files.yml --to azure.yml
  keysvc migrate --from files.yml --to azure.yml 'tenant-a-*'`,
    )
    .action((pattern: string | undefined, options: Options) => migrate(pattern ?? '*', options, terminal));
}

async function migrate(pattern: string, options: Options, terminal: Terminal): Promise<void> {
  const issue = patternError(pattern);
  if (issue !== undefined) throw new ProgramError('usage', `"${pattern}" is no pattern of key names: ${issue}`);
  const [{ loadKeyStoreSettings }, { migrateKeys }, { openKeyStore }] = await Promise.all([
    import('../config/config-file.ts'),
    import('../keys/migrate-keys.ts'),
    import('../keystores/open-keystore.ts'),
  ]);
  const settings = await Promise.all(
    [options.from, options.to].map((file) => loadKeyStoreSettings(file, terminal.environment)),
  );
  const stores: KeyStore[] = [];
  for (const store of settings) stores.push(await openKeyStore(store));
  const [from, to] = stores;
  if (from === undefined || to === undefined) return;
  const report = new Report(options, terminal);
  const { dryRun = false } = options;
  try {
    await migrateKeys({ from, to, pattern, dryRun, onKey: (name, outcome) => report.add(name, outcome) });
  } catch (error) {
    throw new Error(
      `the migration broke off after ${report.summary()}: ${(error as Error).message}\nThe same command goes on from here.`,
      { cause: error },
    );
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
  report.finish();
}

/** Counts the outcomes and reports the progress. */
class Report {
  readonly #options: Options;
  readonly #terminal: Terminal;
  readonly #counts = { copied: 0, present: 0, differs: 0, failed: 0 };
  #reportedAt = Date.now();

  constructor(options: Options, terminal: Terminal) {
    this.#options = options;
    this.#terminal = terminal;
  }

  add(name: string, outcome: KeyOutcome): void {
    this.#counts[outcome.kind]++;
    if (outcome.kind === 'failed') this.#terminal.report(`${name}: not copied: ${outcome.reason}\n`);
    if (outcome.kind === 'differs') {
      this.#terminal.report(
        `${name}: the target has another key of this name${this.#options.merge === true ? '; left as it is' : ', which is never written over'}\n`,
      );
    }
    if (this.#options.quiet === true || Date.now() - this.#reportedAt < progressMs) return;
    this.#reportedAt = Date.now();
    this.#terminal.report(`${this.summary()}…\n`);
  }

  summary(): string {
    const { copied, present, differs, failed } = this.#counts;
    const what = this.#options.dryRun === true ? 'to copy' : 'copied and read back';
    return `${copied} ${what}, ${present} already there, ${differs} different, ${failed} not readable`;
  }

  /** Prints the summary; fails when a key needs attention. */
  finish(): void {
    if (this.#options.quiet !== true) this.#terminal.write(`${this.summary()}\n`);
    const { differs, failed } = this.#counts;
    if (failed > 0 || (differs > 0 && this.#options.merge !== true)) {
      throw new Error(
        'not every key is at the target as it is at the source: see above. To keep what the target has of different keys, add --merge.',
      );
    }
  }
}
