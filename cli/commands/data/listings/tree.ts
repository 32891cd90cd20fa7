import { ProgramError } from '../../../../platform/errors/program-error.ts';
import { parseTarget, type Target } from '../../../config/target.ts';
import { printable } from '../../../../platform/text/printable.ts';
import type { Context } from '../../context.ts';
import { asFolder, entryPages, requirePlace, rewindOf, type VersionOptions } from '../entries/entries.ts';
import { Failures, readable, type Entry } from '../entries/entry.ts';
import { baseOf, fieldsOf } from './list.ts';

interface TreeOptions extends Pick<VersionOptions, 'rewind'> {
  readonly files?: boolean;
  readonly depth?: string;
}

interface Drawing {
  readonly context: Context;
  readonly rewind: Date | undefined;
  readonly files: boolean;
  readonly depth: number;
  readonly failures: Failures;
}

/** Draws the folders of a place, with `files` also what is in them. As JSON it lists all objects. */
export async function tree(context: Context, [argument = '']: readonly string[], options: TreeOptions): Promise<void> {
  const given = parseTarget(argument, await context.aliases());
  const target = asFolder(given);
  const failures = new Failures(context);
  const rewind = rewindOf(options);
  const depth = depthOf(options.depth);
  await requirePlace(context, given, { rewind });
  if (context.output.json) {
    const url = baseOf(target);
    for await (const entry of readable(context, entryPages(context, target, { recursive: true, rewind }), failures)) {
      await context.output.line('', fieldsOf(entry, 1, url));
    }
  } else {
    await context.output.line(printable(argument.replace(/(?<=.)\/+$/, '')), {});
    await draw({ context, rewind, files: options.files === true, depth, failures }, target, '', 1);
  }
  failures.throwIfAny();
}

/** Each folder is a listing of its own, so that memory holds one page for each level. */
async function draw(drawing: Drawing, target: Target, indent: string, level: number): Promise<void> {
  if (level > drawing.depth) return;
  for await (const { entry, last } of withLast(shown(drawing, target))) {
    const name = entry.kind === 'folder' ? entry.name.slice(0, -1) : entry.name;
    await drawing.context.output.line(`${indent}${last ? '└─ ' : '├─ '}${printable(name)}`, {});
    if (entry.kind === 'folder')
      await draw(drawing, inside(target, entry), `${indent}${last ? '   ' : '│  '}`, level + 1);
  }
}

async function* shown({ context, rewind, files, failures }: Drawing, target: Target): AsyncGenerator<Entry> {
  for await (const entry of readable(context, entryPages(context, target, { recursive: false, rewind }), failures)) {
    if (entry.name !== '' && (files || entry.kind === 'folder')) yield entry;
  }
}

async function* withLast(entries: AsyncIterable<Entry>): AsyncGenerator<{ entry: Entry; last: boolean }> {
  let held: Entry | undefined;
  for await (const entry of entries) {
    if (held !== undefined) yield { entry: held, last: false };
    held = entry;
  }
  if (held !== undefined) yield { entry: held, last: true };
}

function inside(target: Target, { bucket, key }: Entry): Target {
  return target.kind === 'local' ? { kind: 'local', path: key } : { ...target, bucket, key };
}

function depthOf(text: string | undefined): number {
  const depth = Number(text ?? -1);
  if (depth === -1) return Infinity;
  if (Number.isInteger(depth) && depth > 0) return depth;
  throw new ProgramError('BadArgument', `Invalid --depth \`${text}\`: it is a number above 0`);
}
