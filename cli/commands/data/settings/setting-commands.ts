import type { CommandGroup, OptionDefinition } from '../../command-group.ts';
import { versionIdOption, versionOptions } from '../shared-options.ts';

/** The commands for what is set for buckets and objects. */
export function addSettingCommands(commands: CommandGroup): void {
  addVersioning(commands);
  addTags(commands);
  addLocks(commands);
  addAnonymous(commands);
  addCors(commands);
  addEncryption(commands);
  addQuota(commands);
}

function addVersioning(commands: CommandGroup): void {
  const version = commands
    .group('version', 'versions of the objects of a bucket')
    .from(() => import('./versioning.ts'));
  version.add('enable <target>', {
    description: 'keep the versions of objects',
    options: [
      ['--excluded-prefixes <prefixes>', 'but not under PREFIX,PREFIX'],
      ['--exclude-folders', 'but not of keys that end with a slash'],
    ],
    examples: ['mine/photos', 'mine/tables --excluded-prefixes tmp/,logs/'],
    doing: 'enable the versions of',
    run: (module) => module.enableVersioning,
  });
  version.add('suspend <target>', {
    description: 'keep the versions that there are, and make no more',
    examples: ['mine/photos'],
    doing: 'suspend the versions of',
    run: (module) => module.suspendVersioning,
  });
  version.add('info <target>', {
    description: 'show whether a bucket keeps versions',
    examples: ['mine/photos'],
    doing: 'show the versioning of',
    run: (module) => module.showVersioning,
  });
}

/** The flags that choose several objects or versions. */
const selectOptions: readonly OptionDefinition[] = [
  ['-r, --recursive', 'of everything under the prefix'],
  ...versionOptions,
  versionIdOption,
];

function addTags(commands: CommandGroup): void {
  const tag = commands.group('tag', 'tags of buckets and objects').from(() => import('./tags.ts'));
  tag.add('set <target> <tags>', {
    description: 'replace the tags: KEY=VALUE&KEY=VALUE',
    options: [...selectOptions, ['--exclude-folders', 'but not of keys that end with a slash']],
    examples: ['mine/photos "team=design&cost=12"', 'mine/photos/cat.jpg animal=cat', 'mine/photos/2025/ -r year=2025'],
    doing: 'set the tags of',
    subject: 0,
    run: (module) => module.setTags,
  });
  tag.add('list <target>', {
    description: 'show the tags; exit with 1 when a bucket has none',
    options: selectOptions,
    examples: ['mine/photos', 'mine/photos/cat.jpg --versions'],
    doing: 'list the tags of',
    run: (module) => module.listTags,
  });
  tag.add('remove <target>', {
    alias: 'rm',
    description: 'remove all tags',
    options: selectOptions,
    examples: ['mine/photos/cat.jpg', 'mine/photos/2025/ --recursive'],
    doing: 'remove the tags of',
    run: (module) => module.removeTags,
  });
}

function addLocks(commands: CommandGroup): void {
  const hold = commands
    .group('legalhold', 'hold versions until the hold is cleared')
    .from(() => import('./legal-hold.ts'));
  hold.add('set <target>', {
    description: 'hold a version: nobody can remove it',
    options: selectOptions,
    examples: ['mine/records/2026.pdf', 'mine/records/ --recursive --versions'],
    doing: 'set the legal hold of',
    run: (module) => module.setLegalHold,
  });
  hold.add('clear <target>', {
    description: 'end the hold',
    options: selectOptions,
    examples: ['mine/records/2026.pdf'],
    doing: 'clear the legal hold of',
    run: (module) => module.clearLegalHold,
  });
  hold.add('info <target>', {
    description: 'show whether versions are held',
    options: selectOptions,
    examples: ['mine/records/ --recursive'],
    doing: 'show the legal hold of',
    run: (module) => module.showLegalHold,
  });

  const retention = commands
    .group('retention', 'keep versions from removal for a time')
    .from(() => import('./retention.ts'));
  const ofBucket: OptionDefinition = ['--default', 'the retention that new objects of the bucket get'];
  const bypass: OptionDefinition = ['--bypass', 'also shorten a retention of the mode governance'];
  retention.add('set <mode> <validity> <target>', {
    description: 'set a retention: governance or compliance, for days (30d) or years (1y)',
    options: [...selectOptions, bypass, ofBucket],
    examples: ['governance 30d mine/records/2026.pdf', ['compliance 10y mine/records --default', 'of all new objects']],
    doing: 'set the retention of',
    subject: -1,
    run: (module) => module.setRetention,
  });
  retention.add('clear <target>', {
    description: 'remove a retention of the mode governance',
    options: [...selectOptions, bypass, ofBucket],
    examples: ['mine/records/2026.pdf', 'mine/records --default'],
    doing: 'clear the retention of',
    run: (module) => module.clearRetention,
  });
  retention.add('info <target>', {
    description: 'show mode and end of retentions',
    options: [...selectOptions, ofBucket],
    examples: ['mine/records/ --recursive --versions', 'mine/records --default'],
    doing: 'show the retention of',
    run: (module) => module.showRetention,
  });
}

function addAnonymous(commands: CommandGroup): void {
  const anonymous = commands
    .group('anonymous', 'access without keys, for everybody')
    .from(() => import('./anonymous.ts'));
  anonymous.add('set <permission> <target>', {
    description: 'private, download, upload or public, for a bucket or prefix',
    examples: ['download mine/site', 'upload mine/inbox/new/', 'private mine/site'],
    doing: 'set the anonymous access to',
    run: (module) => module.setAnonymous,
  });
  anonymous.add('set-json <file> <target>', {
    description: 'replace the policy of a bucket; `-` is standard input',
    examples: ['policy.json mine/site'],
    doing: 'set the policy of',
    run: (module) => module.setAnonymousJson,
  });
  anonymous.add('get <target>', {
    description: 'show the permission',
    examples: ['mine/site'],
    doing: 'show the anonymous access to',
    run: (module) => module.getAnonymous,
  });
  anonymous.add('get-json <target>', {
    description: 'show the policy of a bucket',
    examples: ['mine/site'],
    doing: 'show the policy of',
    run: (module) => module.getAnonymousJson,
  });
  anonymous.add('list <target>', {
    description: 'show the permissions by prefix',
    examples: ['mine/site'],
    doing: 'list the anonymous access to',
    run: (module) => module.listAnonymous,
  });
  anonymous.add('links <target>', {
    description: 'show the addresses of the objects that everybody can read',
    options: [['-r, --recursive', 'everything under the prefix']],
    examples: ['mine/site --recursive'],
    doing: 'list the links of',
    run: (module) => module.linkAnonymous,
  });
}

function addCors(commands: CommandGroup): void {
  const cors = commands.group('cors', 'which sites a browser lets use a bucket').from(() => import('./cors.ts'));
  cors.add('set <target> <file>', {
    description: 'set the rules of an XML document; `-` is standard input',
    examples: ['mine/site cors.xml'],
    doing: 'set the CORS configuration of',
    subject: 0,
    run: (module) => module.setCors,
  });
  cors.add('get <target>', {
    description: 'show the rules',
    examples: ['mine/site'],
    doing: 'show the CORS configuration of',
    run: (module) => module.getCors,
  });
  cors.add('remove <target>', {
    alias: 'rm',
    description: 'remove the rules',
    examples: ['mine/site'],
    doing: 'remove the CORS configuration of',
    run: (module) => module.removeCors,
  });
}

function addEncryption(commands: CommandGroup): void {
  const encrypt = commands.group('encrypt', 'default encryption of buckets').from(() => import('./encryption.ts'));
  encrypt.add('set <kind> <keyOrTarget> [target]', {
    description: 'sse-s3 ALIAS/BUCKET, or sse-kms [KEY] ALIAS/BUCKET',
    examples: ['sse-s3 mine/photos', 'sse-kms my-key mine/photos'],
    doing: 'set the encryption of',
    subject: -1,
    run: (module) => module.setEncryption,
  });
  encrypt.add('info <target>', {
    description: 'show the default encryption of a bucket',
    examples: ['mine/photos'],
    doing: 'show the encryption of',
    run: (module) => module.showEncryption,
  });
  encrypt.add('clear <target>', {
    description: 'take the default encryption off a bucket; objects stay as they are',
    examples: ['mine/photos'],
    doing: 'clear the encryption of',
    run: (module) => module.clearEncryption,
  });
}

function addQuota(commands: CommandGroup): void {
  const quota = commands.group('quota', 'how much a bucket may hold').from(() => import('./quota.ts'));
  quota.add('set <target>', {
    description: 'refuse uploads to a bucket that holds this size',
    options: [['--size <size>', 'such as 64GiB']],
    examples: ['mine/photos --size 64GiB'],
    doing: 'set the quota of',
    run: (module) => module.setQuota,
  });
  quota.add('info <target>', {
    description: 'show the quota of a bucket',
    examples: ['mine/photos'],
    doing: 'show the quota of',
    run: (module) => module.showQuota,
  });
  quota.add('clear <target>', {
    description: 'take the quota off a bucket',
    examples: ['mine/photos'],
    doing: 'clear the quota of',
    run: (module) => module.clearQuota,
  });
}
