import type { Command } from 'commander';
import { define, group, type OptionDefinition, type Runner } from '../define.ts';
import type { ExplainOptions } from './explain.ts';
import type { EntitiesOptions, HolderOptions } from './policy-attachments.ts';

export const holderOptions: readonly OptionDefinition[] = [
  ['-u, --user <name>', 'of a user'],
  ['-g, --group <name>', 'of a group'],
];

export const entitiesOptions: readonly OptionDefinition[] = [
  ['-u, --user <name>', 'what this user has; several times for several', 'repeatable'],
  ['-g, --group <name>', 'what this group has', 'repeatable'],
  ['-p, --policy <name>', 'who has this policy', 'repeatable'],
];

export function addPolicyCommands(admin: Command, run: Runner): void {
  const policy = group(admin, 'policy', 'policies: what may be done, and by whom');
  define(policy, run, {
    usage: 'create <alias> <policy> <file>',
    description: 'make a policy of a file in JSON, or change it; `-` reads standard input',
    examples: [
      ['admin policy create mine photos-read photos-read.json', ''],
      ['admin policy create mine photos-read -', ''],
    ],
    doing: 'create the policy',
    run: async (context, args) => (await import('./policies.ts')).createPolicy(context, args),
  });
  define(policy, run, {
    usage: 'remove <alias> <policy>',
    alias: 'rm',
    description: 'remove a policy that is attached to nobody',
    examples: [['admin policy remove mine photos-read', '']],
    doing: 'remove the policy',
    run: async (context, args) => (await import('./policies.ts')).removePolicy(context, args),
  });
  define(policy, run, {
    usage: 'list <alias>',
    alias: 'ls',
    description: 'show the names of all policies, built-in ones too',
    examples: [['admin policy list mine', '']],
    doing: 'list the policies of',
    run: async (context, args) => (await import('./policies.ts')).listPolicies(context, args),
  });
  define<{ policyFile?: string }>(policy, run, {
    usage: 'info <alias> <policy>',
    description: 'show the document of a policy, and when it was made and changed',
    options: [['-f, --policy-file <file>', 'write the document there']],
    examples: [
      ['admin policy info mine readonly', ''],
      ['admin policy info mine photos-read -f photos-read.json', ''],
    ],
    doing: 'show the policy',
    run: async (context, args, options) => (await import('./policies.ts')).showPolicy(context, args, options),
  });
  for (const change of ['attach', 'detach'] as const) {
    define<HolderOptions>(policy, run, {
      usage: `${change} <alias> <policies...>`,
      description: change === 'attach' ? 'give policies to a user or group' : 'take policies from a user or group',
      options: holderOptions,
      examples: [
        [`admin policy ${change} mine photos-read --user ann`, ''],
        [`admin policy ${change} mine photos-read readonly --group staff`, ''],
      ],
      doing: `${change} the policy`,
      run: async (context, args, options) =>
        (await import('./policy-attachments.ts')).changeAttachments(context, args, options, {
          kind: 'builtin',
          change,
        }),
    });
  }
  define<EntitiesOptions>(policy, run, {
    usage: 'entities <alias>',
    description: 'show who has which policies; without options all that are attached',
    options: entitiesOptions,
    examples: [
      ['admin policy entities mine --user ann', 'also what she has by groups'],
      ['admin policy entities mine --policy photos-read', ''],
    ],
    doing: 'show who has policies at',
    run: async (context, args, options) =>
      (await import('./policy-attachments.ts')).showEntities(context, args, options, 'builtin'),
  });
  define<ExplainOptions>(policy, run, {
    usage: 'explain <alias> <user> <action> [resource]',
    description: 'say whether a user or access key may do something, and which statement decides',
    options: [['--context <key=value>', 'a condition key of the request; several times for several', 'repeatable']],
    examples: [
      ['admin policy explain mine ann s3:GetObject photos/ann/1.jpg', ''],
      ['admin policy explain mine ann s3:PutObject photos/x --context aws:SourceIp=192.0.2.7', ''],
      ['admin policy explain mine ann admin:CreateUser', ''],
    ],
    doing: 'explain the rights of',
    run: async (context, args, options) => (await import('./explain.ts')).explainPolicy(context, args, options),
  });
}
