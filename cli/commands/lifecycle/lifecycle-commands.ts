import { laterGroups, type CommandGroup, type OptionDefinition } from '../command-group.ts';
import { readKeyOption, versionIdOption } from '../data/shared-options.ts';

/** Adds the commands for lifecycle rules, remote tiers and restored objects. */
export function addLifecycleCommands(commands: CommandGroup): void {
  const ilm = commands.group('ilm', laterGroups.ilm);
  addRules(ilm);
  addTiers(ilm);
  ilm
    .from(() => import('./restore.ts'))
    .add('restore <target>', {
      description: 'copy objects back from their tier for a time',
      options: [
        ['--days <days>', 'keep the copies for this number of days (1)'],
        ['-r, --recursive', 'everything under the prefix'],
        ['--versions', 'all versions'],
        versionIdOption,
        readKeyOption,
      ],
      examples: ['mine/photos/cat.jpg --days 7', 'mine/photos/2019/ --recursive'],
      doing: 'restore',
      run: (module) => module.restore,
    });
}

const ruleOptions: readonly OptionDefinition[] = [
  ['--prefix <prefix>', 'only for keys that begin with it'],
  ['--tags <tags>', 'only for objects with these tags: KEY=VALUE&KEY=VALUE'],
  ['--size-gt <size>', 'only for larger objects, such as 1MiB'],
  ['--size-lt <size>', 'only for smaller objects'],
  ['--expire-days <days>', 'remove objects this number of days after their upload'],
  ['--expire-delete-marker', 'remove delete markers without other versions'],
  ['--expire-all-object-versions', 'remove all versions with the current one'],
  ['--noncurrent-expire-days <days>', 'remove versions this number of days after they were replaced'],
  ['--noncurrent-expire-newer <count>', 'but keep this number of the newest of them'],
  ['--transition-days <days>', 'move objects to a tier after this number of days'],
  ['--transition-tier <tier>', 'the tier'],
  ['--noncurrent-transition-days <days>', 'move versions to a tier after they were replaced'],
  ['--noncurrent-transition-newer <count>', 'but keep this number of the newest of them'],
  ['--noncurrent-transition-tier <tier>', 'the tier'],
  ['--expiry-date <date>', 'YYYY-MM-DD; older than --expire-days', 'hidden'],
  ['--expiry-days <days>', '--expire-days', 'hidden'],
  ['--expired-object-delete-marker', '--expire-delete-marker', 'hidden'],
  ['--transition-date <date>', 'YYYY-MM-DD; older than --transition-days', 'hidden'],
  ['--storage-class <tier>', '--transition-tier', 'hidden'],
  ['--tier <tier>', '--transition-tier', 'hidden'],
  ['--noncurrentversion-expiration-days <days>', '--noncurrent-expire-days', 'hidden'],
  ['--newer-noncurrentversions-expiration <count>', '--noncurrent-expire-newer', 'hidden'],
  ['--noncurrentversion-transition-days <days>', '--noncurrent-transition-days', 'hidden'],
  ['--newer-noncurrentversions-transition <count>', '--noncurrent-transition-newer', 'hidden'],
  ['--noncurrentversion-transition-storage-class <tier>', '--noncurrent-transition-tier', 'hidden'],
  ['--noncurrentversion-tier <tier>', '--noncurrent-transition-tier', 'hidden'],
];

function addRules(ilm: CommandGroup): void {
  const rule = ilm.group('rule', 'lifecycle rules of a bucket').from(() => import('./rules.ts'));
  rule.add('add <target>', {
    description: 'add a rule',
    options: ruleOptions,
    examples: [
      'mine/logs --expire-days 30',
      ['mine/photos --noncurrent-expire-days 90 --noncurrent-expire-newer 3', 'old versions, but the newest three'],
    ],
    doing: 'add a rule to',
    run: (module) => module.addRule,
  });
  rule.add('edit <target>', {
    description: 'change a rule; what no flag names stays',
    options: [
      ['--id <id>', 'the rule'],
      ['--disable', 'switch the rule off'],
      ['--enable', 'switch the rule on'],
      ...ruleOptions,
    ],
    examples: ['mine/logs --id c79ntj94b0t6rukh6lr0 --expire-days 60', 'mine/logs --id c79ntj94b0t6rukh6lr0 --disable'],
    doing: 'change a rule of',
    run: (module) => module.changeRule,
  });
  rule.add('list <target>', {
    alias: 'ls',
    description: 'show the rules',
    options: [
      ['--expiry', 'only those that remove'],
      ['--transition', 'only those that move to a tier'],
    ],
    examples: ['mine/logs'],
    doing: 'list the rules of',
    run: (module) => module.listRules,
  });
  rule.add('remove <target>', {
    alias: 'rm',
    description: 'remove a rule, or all',
    options: [
      ['--id <id>', 'the rule'],
      ['--all', 'all rules; needs --force'],
      ['--force', 'allow --all'],
    ],
    examples: ['mine/logs --id c79ntj94b0t6rukh6lr0', 'mine/logs --all --force'],
    doing: 'remove rules of',
    run: (module) => module.removeRule,
  });
  rule.add('export <target>', {
    description: 'print the rules as JSON, for `import`',
    examples: ['mine/logs > rules.json'],
    doing: 'export the rules of',
    run: (module) => module.exportRules,
  });
  rule.add('import <target>', {
    description: 'replace the rules by those of standard input',
    examples: ['mine/logs < rules.json'],
    doing: 'import the rules of',
    run: (module) => module.importRules,
  });
}

const keyOptions: readonly OptionDefinition[] = [
  ['--access-key <key>', 'for S3 and MinIO'],
  ['--secret-key <key>', 'for S3 and MinIO'],
  ['--use-aws-role', 'the role of the machine that the server runs on'],
  ['--account-key <key>', 'for Azure'],
  ['--az-sp-tenant-id <id>', 'the tenant of a service principal of Azure'],
  ['--az-sp-client-id <id>', 'its client ID'],
  ['--az-sp-client-secret <secret>', 'its secret'],
  ['--credentials-file <file>', 'for Google Cloud Storage'],
];

export function addTiers(ilm: CommandGroup): void {
  const tier = ilm.group('tier', 'remote places where rules move objects to').from(() => import('./tiers.ts'));
  tier.add('add <kind> <alias> <name>', {
    description: 'add a tier: minio, s3, azure or gcs',
    options: [
      ['--endpoint <url>', 'the address of the server'],
      ['--region <region>', 'its region'],
      ['--bucket <bucket>', 'the bucket'],
      ['--prefix <prefix>', 'begin the keys with it'],
      ['--storage-class <class>', 'for S3'],
      ...keyOptions,
      ['--account-name <name>', 'for Azure'],
      ['--aws-role-arn <arn>', 'the role of a web identity'],
      ['--aws-web-identity-file <file>', 'where the server finds its token'],
      ['--force', 'also where the place is in use', 'hidden'],
    ],
    examples: ['minio mine WARM --endpoint https://warm.example.com --access-key K --secret-key S --bucket warm'],
    doing: 'add the tier',
    subject: 2,
    run: (module) => module.addTier,
  });
  tier.add('update <alias> <name>', {
    alias: 'edit',
    description: 'replace the keys of a tier',
    options: keyOptions,
    examples: ['mine WARM --access-key K --secret-key S'],
    doing: 'update the tier',
    run: (module) => module.updateTier,
  });
  tier.add('list <alias>', {
    alias: 'ls',
    description: 'show the tiers',
    examples: ['mine'],
    doing: 'list the tiers of',
    run: (module) => module.listTiers,
  });
  tier.add('info <alias> [name]', {
    description: 'show what the tiers hold',
    examples: ['mine', 'mine WARM'],
    doing: 'show the tiers of',
    subject: 0,
    run: (module) => module.tierInfo,
  });
  tier.add('remove <alias> <name>', {
    alias: 'rm',
    description: 'remove a tier that is empty',
    options: [
      ['--force', 'also one that holds objects; needs --dangerous', 'hidden'],
      ['--dangerous', 'allow --force', 'hidden'],
    ],
    examples: ['mine WARM'],
    doing: 'remove the tier',
    run: (module) => module.removeTier,
  });
  tier.add('check <alias> <name>', {
    alias: 'verify',
    description: 'have the server reach a tier',
    examples: ['mine WARM'],
    doing: 'check the tier',
    run: (module) => module.checkTier,
  });
}
