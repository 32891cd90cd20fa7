import type { Command } from 'commander';
import type { Context } from './context.ts';
import { administration, group, type Runner } from './command-group.ts';

/**
 * Every command with its arguments and options. The code of each is imported when it runs, so that a short command starts fast; and so
 * is the table of those for administrators, which has ten times as many as there are others.
 */
export async function addCommands(program: Command, run: Runner, words: readonly string[]): Promise<void> {
  addAlias(program, run);
  addBuckets(program, run);
  addObjects(program, run);
  addServers(program, run);
  if (words.some((word) => Object.hasOwn(administration, word))) {
    (await import('./admin/admin-commands.ts')).addAdminCommands(program, run);
    return;
  }
  for (const [name, description] of Object.entries(administration)) group(program, name, description);
}

function addAlias(program: Command, run: Runner): void {
  const alias = program.command('alias').description('keep servers and their keys under short names');
  alias
    .command('set <alias> <url> [accessKey] [secretKey]')
    .description('add or replace an alias; missing keys are asked for')
    .option('--api <api>', 'S3v4')
    .option('--path <path>', 'name buckets in the path: auto, on, off')
    .action(async (name: string, url: string, accessKey: string | undefined, secretKey: string | undefined, options) =>
      run(
        async (context) => {
          const { setAlias } = await import('./data/alias.ts');
          await setAlias(context, name, url, { accessKey, secretKey }, options);
        },
        'set the alias',
        [name],
      ),
    );
  alias
    .command('list [alias]')
    .alias('ls')
    .description('show aliases')
    .action(async (name: string | undefined) =>
      run(async (context) => (await import('./data/alias.ts')).listAliases(context, name), 'list aliases', []),
    );
  alias
    .command('remove <alias>')
    .alias('rm')
    .description('forget an alias')
    .action(async (name: string) =>
      run(async (context) => (await import('./data/alias.ts')).removeAlias(context, name), 'remove the alias', [name]),
    );
}

function addBuckets(program: Command, run: Runner): void {
  program
    .command('mb <targets...>')
    .description('make buckets')
    .option('--region <region>', 'where the bucket shall be')
    .option('-p, --ignore-existing', 'succeed when the bucket is there already')
    .action(async (targets: string[], options) =>
      each(targets, run, 'make the bucket', async (context, target) =>
        (await import('./data/buckets.ts')).makeBucket(context, target, options),
      ),
    );
  program
    .command('rb <targets...>')
    .description('remove buckets')
    .option('--force', 'with everything in them')
    .action(async (targets: string[], options) =>
      each(targets, run, 'remove the bucket', async (context, target) =>
        (await import('./data/buckets.ts')).removeBucket(context, target, options),
      ),
    );
  const encrypt = program.command('encrypt').description('default encryption of buckets');
  encrypt
    .command('set <kind> <keyOrTarget> [target]')
    .description('sse-s3 ALIAS/BUCKET, or sse-kms KEY ALIAS/BUCKET')
    .action(async (...given: unknown[]) => {
      const args = given.filter((one) => typeof one === 'string');
      const work = async (context: Context) => (await import('./data/encryption.ts')).setEncryption(context, args);
      await run(work, 'set the encryption of', args);
    });
  encrypt
    .command('info <target>')
    .description('show the default encryption of a bucket')
    .action(async (target: string) =>
      run(
        async (context) => (await import('./data/encryption.ts')).showEncryption(context, target),
        'show the encryption of',
        [target],
      ),
    );
  encrypt
    .command('clear <target>')
    .description('take the default encryption off a bucket; objects stay as they are')
    .action(async (target: string) =>
      run(
        async (context) => (await import('./data/encryption.ts')).clearEncryption(context, target),
        'clear the encryption of',
        [target],
      ),
    );
}

function addObjects(program: Command, run: Runner): void {
  program
    .command('ls <targets...>')
    .description('list buckets and objects')
    .option('-r, --recursive', 'everything under the prefix')
    .option('-I, --incomplete', 'uploads that were not completed')
    .option('--summarize', 'count and sizes at the end')
    .action(async (targets: string[], options) =>
      each(targets, run, 'list', async (context, target) =>
        (await import('./data/list.ts')).list(context, target, options),
      ),
    );
  program
    .command('cp <sources...>')
    .usage('[options] <source>... <target>')
    .description('copy files and objects; a folder with a slash at its end gives its contents, without one itself')
    .option('-r, --recursive', 'folders with all that is in them')
    .option('--disable-multipart', 'upload each file by one request')
    .option('--attr <attributes>', 'headers and metadata: NAME=VALUE;NAME=VALUE')
    .action(async (args: string[], options) =>
      run(async (context) => (await import('./data/copy/copy.ts')).copy(context, args, options), 'copy to', args),
    );
  program
    .command('cat <targets...>')
    .description('write objects to standard output')
    .action(async (targets: string[]) =>
      run(async (context) => (await import('./data/cat.ts')).cat(context, targets), 'read', targets),
    );
  program
    .command('stat <targets...>')
    .description('show what is known of objects and buckets')
    .option('-r, --recursive', 'of everything under the prefix')
    .action(async (targets: string[], options) =>
      each(targets, run, 'stat', async (context, target) =>
        (await import('./data/stat.ts')).statTarget(context, target, options),
      ),
    );
  program
    .command('rm <targets...>')
    .description('remove objects')
    .option('-r, --recursive', 'everything under the prefix; needs --force')
    .option('--force', 'without asking whether it is there')
    .option('-I, --incomplete', 'uploads that were not completed')
    .action(async (targets: string[], options) =>
      run(async (context) => (await import('./data/remove.ts')).remove(context, targets, options), 'remove', targets),
    );
}

function addServers(program: Command, run: Runner): void {
  program
    .command('ready <alias>')
    .description('say whether a server can serve; exit with 1 when not')
    .option('--cluster-read', 'whether it can be read')
    .option('--maintenance', 'whether it could serve without this node')
    .option('--wait <seconds>', 'ask again until it can')
    .action(async (target: string, options) =>
      run(async (context) => (await import('./data/health.ts')).ready(context, target, options), 'ask', [target]),
    );
  program
    .command('ping <alias>')
    .description('ask a server for a sign of life again and again')
    .option('-c, --count <count>', 'so many times')
    .option('-e, --error-count <count>', 'end after so many errors')
    .option('-i, --interval <seconds>', 'time between (1)')
    .action(async (target: string, options) =>
      run(async (context) => (await import('./data/health.ts')).ping(context, target, options), 'ping', [target]),
    );
}

/** One after the other; the first that fails ends the command. */
async function each(
  targets: readonly string[],
  run: Runner,
  description: string,
  work: (context: Context, target: string) => Promise<void>,
): Promise<void> {
  for (const target of targets) await run(async (context) => work(context, target), description, [target]);
}
