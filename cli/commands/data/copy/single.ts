import { EncryptionRules } from '../../../s3/encryption-rules.ts';
import { ProgramError } from '../../../../platform/errors/program-error.ts';
import { parseObject, parseTarget } from '../../../config/target.ts';
import { formatSize } from '../../../terminal/format.ts';
import { printable } from '../../../../platform/text/printable.ts';
import type { Context } from '../../context.ts';
import { copy, type CopyCommandOptions } from './copy.ts';
import { copyOne } from './copy-one.ts';
import { givenHeaders, wantedDigests, workersOf, type TransferOptions } from './transfer-options.ts';
import { multipartOf } from './upload.ts';
import { Downloads } from './download.ts';
import { UploadSessions } from '../../../s3/upload-sessions.ts';
import { writeOut } from '../../../terminal/io.ts';
import { semaphore } from '../../../../platform/async/concurrency.ts';

/** The command `get`: one object to this machine. */
export async function get(context: Context, args: readonly string[], options: CopyCommandOptions): Promise<void> {
  const [source = '', target = ''] = args;
  const aliases = await context.aliases();
  parseObject(source, aliases);
  if (parseTarget(target, aliases).kind === 'remote') {
    throw new ProgramError('BadArgument', `\`${target}\` is on a server: \`coffer cp\` copies between servers`);
  }
  await copy(context, args, options);
}

interface PutOptions extends TransferOptions {
  readonly parallel?: string;
  readonly partSize?: string;
  readonly ifNotExists?: boolean;
}

/** The command `put`: one file to a server. */
export async function put(context: Context, args: readonly string[], options: PutOptions): Promise<void> {
  const [source = '', target = ''] = args;
  const aliases = await context.aliases();
  if (parseTarget(source, aliases).kind === 'remote') {
    throw new ProgramError('BadArgument', `\`${source}\` is on a server: \`coffer cp\` copies between servers`);
  }
  if (parseTarget(target, aliases).kind === 'local') {
    throw new ProgramError('BadArgument', `\`${target}\` is not on a server: name ALIAS/BUCKET/KEY`);
  }
  await copy(context, args, { ...options, maxWorkers: options.parallel });
}

interface PipeOptions extends TransferOptions {
  readonly concurrent?: string;
  readonly partSize?: string;
}

/** The command `pipe`: standard input to an object or file; without a target to standard output. */
export async function pipe(context: Context, [argument]: readonly string[], options: PipeOptions): Promise<void> {
  if (argument === undefined) {
    for await (const bytes of context.io.stdin) await writeOut(context.io, Buffer.from(bytes as Buffer | string));
    return;
  }
  const target = parseTarget(argument, await context.aliases());
  if (target.kind === 'remote' && (target.key === '' || target.key.endsWith('/'))) {
    throw new ProgramError('BadArgument', `Invalid target \`${argument}\`: name an object, ALIAS/BUCKET/KEY`);
  }
  const { large: workers } = workersOf({ maxWorkers: options.concurrent ?? '2' });
  const source = {
    kind: 'stream',
    path: '/dev/stdin',
    display: '-',
    name: 'stdin',
    size: 0,
    modified: new Date(),
  } as const;
  let size = 0;
  await copyOne(
    context,
    source,
    { target, folder: false },
    {
      multipart: multipartOf(context.io.env, options),
      given: givenHeaders(options, new Date()),
      preserve: false,
      keepsLock: false,
      inPlace: false,
      digests: wantedDigests(options),
      encryption: new EncryptionRules(options, context.io.env, [argument]),
      semaphore: semaphore(workers),
      large: semaphore(1),
      parallel: workers,
      downloads: new Downloads(context.io),
      sessions: new UploadSessions(context.folder),
      count: (bytes) => {
        size += bytes;
      },
      onLeft: () => undefined,
    },
  );
  context.output.message(`${formatSize(size)} -> \`${printable(argument)}\``, { target: argument, size });
}
