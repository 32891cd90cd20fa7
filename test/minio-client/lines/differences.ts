import type { Difference } from './compare-lines.ts';

/** A difference that stays, with its reason. There are at most 20, and none is of an exit code. */
interface KnownDifference {
  readonly name: string;
  readonly reason: string;
  /** Absent where the comparison itself leaves it out. */
  readonly is?: (difference: Difference) => boolean;
}

export const knownDifferences: readonly KnownDifference[] = [
  {
    name: 'wording',
    is: ({ kind, mc }) => kind === 'text' && mc[0]?.startsWith('NAME:') === true,
    reason: 'The texts of errors and of people are written anew: those of mc are under the AGPL, and name no way out.',
  },
  {
    name: 'more fields',
    reason: 'A document may have more fields than that of mc: a script reads those that it knows.',
  },
  { name: 'type of an error', reason: 'An error of the only argument is fatal here: the command ends with it.' },
  { name: 'wrong use in JSON', reason: 'With --json a wrong use is a document here, where mc prints its help.' },
  {
    name: 'checked before the server is asked',
    reason:
      'What the command line alone shows to be wrong is refused at once; mc may ask the server first, and show its refusal.',
    is: ({ kind, mc, coffer }) =>
      kind === 'json' &&
      [mc, coffer].every((side) => side.length === 1 && isError(side[0])) &&
      /"code":"BadArgument"|^\{"status":"error"\}$/.test(coffer[0] ?? ''),
  },
  {
    name: 'announced copies',
    reason:
      'mc prints a copy when it begins, also one that fails, and sums of none; here a line is a copy that was made.',
    is: ({ kind, mc, line }) =>
      kind === 'json' &&
      (/^(get |! mirror )/.test(line) ||
        (mc.length > 0 && mc.every((text) => text.includes('"source"') && text.includes('"target"')))),
  },
  {
    name: 'secret keys',
    reason: 'A secret key that the caller gave is not printed again: output ends in logs.',
    is: ({ kind, line, coffer }) =>
      kind === 'json' &&
      /^(alias (set|import)|admin user add)/.test(line) &&
      coffer.some((text) => text.includes('********')),
  },
  {
    name: 'what was set',
    reason:
      '`version enable|suspend` and `anonymous set` print what is set then; mc prints an empty mode, and `custom` or the name of a file.',
    is: ({ kind, line }) => kind === 'json' && /^(version (enable|suspend)|anonymous set(-json)?) /.test(line),
  },
  {
    name: 'siblings in stat',
    reason: '`stat` of an object or folder shows it alone; mc shows all whose names begin the same, too.',
    is: ({ kind, line, mc, coffer }) =>
      kind === 'json' &&
      /^stat (--versions )?A\/\S+$/.test(line) &&
      coffer.length === 0 &&
      mc.every((text) => text.includes('"type":"folder"')),
  },
  {
    name: 'fields of find',
    reason: '`find` has the type and the ETag of each object, and its key with --maxdepth; mc leaves them empty.',
    is: ({ kind, line }) => kind === 'json' && line.startsWith('find '),
  },
  {
    name: 'attributes of files',
    reason:
      '`stat` of a file does not show the attributes that a copy would keep, and `mirror --attr` does not keep them.',
    is: ({ kind, line }) => kind === 'json' && line === 'stat $D/a.txt',
  },
  {
    name: 'one request of pipe',
    reason:
      '`pipe` stores a short input by one request, so that its ETag is the MD5 and its checksum that of the object.',
    is: ({ kind, mc }) => kind === 'json' && mc.length > 0 && mc.every((text) => /"etag":"[0-9a-f]{32}-1"/.test(text)),
  },
  {
    name: 'links without a version',
    reason: '`share` links to the object, not to the version `null`, which an upload would replace.',
    is: ({ kind, line, mc }) =>
      kind === 'json' && line.startsWith('share ') && mc.every((text) => text.includes('versionId=null')),
  },
  {
    name: 'numbers of ping',
    reason:
      '`ping` prints numbers as numbers and the address as a text; mc pads them with spaces, and prints the parts of a Go URL.',
    is: ({ kind, line }) => kind === 'json' && line.startsWith('ping '),
  },
  {
    name: 'kept by a change',
    reason:
      '`ilm rule edit --tags` keeps the prefix of the rule, and `cp --attr` the storage class of the object; mc drops both, so that the rule removes more.',
    is: ({ kind, line, coffer }) =>
      (kind === 'json' && line === '= ilm rule ls A/ilm-two') ||
      (coffer.length > 0 &&
        coffer.every((text) =>
          /^(flags-two\/attr\.txt|places-one\/name|\{.*"key":"attr\.txt").*REDUCED_REDUNDANCY/.test(text),
        )),
  },
  {
    name: 'statistics of a bucket',
    reason:
      '`stat` of a bucket has the time at which it was made, and not the present one; its usage is of the last count; the parts of ARNs and the names of XML elements are those of a Go program.',
    is: ({ kind, line }) => kind === 'json' && /^stat A\/[\w-]+$/.test(line),
  },
  {
    name: 'quoted form',
    reason: '`share upload` quotes the name of the file, which a shell would take for a redirection.',
    is: ({ kind, coffer }) =>
      kind === 'json' && coffer.length > 0 && coffer.every((text) => text.includes("'file=@<FILE>'")),
  },
  {
    name: 'dry runs',
    reason: '`mirror --dry-run` prints each copy that would be made; mc prints sums alone.',
    is: ({ kind, line }) => kind === 'json' && /^mirror --(dry-run|fake)/.test(line),
  },
  {
    name: 'codes without a document',
    reason: 'An answer to HEAD has no document: the code is made from the status, and mc asks by GET.',
    is: ({ kind, line }) => kind === 'json' && line.startsWith('! cat --part-number'),
  },
  {
    name: 'license',
    reason: '`license info` names the license of the server that answers.',
    is: ({ kind, line }) => kind === 'json' && line.startsWith('license info'),
  },
];

function isError(text: string | undefined): boolean {
  return text?.startsWith('{"status":"error"') === true;
}
