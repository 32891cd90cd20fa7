import type { CommandGroup, Example, OptionDefinition } from '../command-group.ts';
import type { EntitiesOptions, EntityKind, HolderOptions } from './policy-attachments.ts';

const holderOptions: readonly OptionDefinition[] = [
  ['-u, --user <name>', 'of a user'],
  ['-g, --group <name>', 'of a group'],
];

const entitiesOptions: readonly OptionDefinition[] = [
  ['-u, --user <name>', 'what this user has; several times for several', 'repeatable'],
  ['-g, --group <name>', 'what this group has', 'repeatable'],
  ['-p, --policy <name>', 'who has this policy', 'repeatable'],
];

export function addPolicyCommands(admin: CommandGroup): void {
  const policy = admin.group('policy', 'policies: what may be done, and by whom').from(() => import('./policies.ts'));
  policy.add('create <alias> <policy> <file>', {
    description: 'make a policy of a file in JSON, or change it; `-` reads standard input',
    examples: ['mine photos-read photos-read.json', 'mine photos-read -'],
    doing: 'create the policy',
    run: (module) => module.createPolicy,
  });
  policy.add('remove <alias> <policy>', {
    alias: 'rm',
    description: 'remove a policy that is not attached',
    examples: ['mine photos-read'],
    doing: 'remove the policy',
    run: (module) => module.removePolicy,
  });
  policy.add('list <alias>', {
    alias: 'ls',
    description: 'show the names of all policies, built-in ones too',
    examples: ['mine'],
    doing: 'list the policies of',
    run: (module) => module.listPolicies,
  });
  policy.add('info <alias> <policy>', {
    description: 'show the document of a policy, and when it was made and changed',
    options: [['-f, --policy-file <file>', 'write the document there']],
    examples: ['mine readonly', 'mine photos-read -f photos-read.json'],
    doing: 'show the policy',
    run: (module) => module.showPolicy,
  });
  addHolderCommands(policy, {
    kind: 'builtin',
    who: 'a user or group',
    holders: ['mine photos-read --user ann', 'mine photos-read readonly --group staff'],
    entities: {
      description: 'show who has which policies; without options all that are attached',
      examples: [['mine --user ann', 'also what she has by groups'], 'mine --policy photos-read'],
    },
  });
  policy
    .from(() => import('./policies.ts'))
    .add('explain <alias> <user> <action> [resource]', {
      description: 'say whether a user or access key may do something, and which statement decides',
      options: [['--context <key=value>', 'a condition key of the request; several times for several', 'repeatable']],
      examples: [
        'mine ann s3:GetObject photos/ann/1.jpg',
        'mine ann s3:PutObject photos/x --context aws:SourceIp=192.0.2.7',
        'mine ann admin:CreateUser',
      ],
      doing: 'explain the rights of',
      run: (module) => module.explainPolicy,
    });
}

interface HolderCommands {
  readonly kind: EntityKind;
  /** Names the possible holders of a policy in the help. */
  readonly who: string;
  /** Examples of attaching. */
  readonly holders: readonly string[];
  readonly entities: { readonly description: string; readonly examples: readonly Example[] };
}

/** Adds `attach`, `detach` and `entities`. */
export function addHolderCommands(
  policy: CommandGroup<unknown>,
  { kind, who, holders, entities }: HolderCommands,
): void {
  const attachments = policy.from(() => import('./policy-attachments.ts'));
  for (const change of ['attach', 'detach'] as const) {
    attachments.add(`${change} <alias> <policies...>`, {
      description: change === 'attach' ? `give policies to ${who}` : `take policies from ${who}`,
      options: holderOptions,
      examples: holders,
      doing: `${change} the policy`,
      run:
        ({ changeAttachments }) =>
        (context, args, options: HolderOptions) =>
          changeAttachments(context, args, options, { kind, change }),
    });
  }
  attachments.add('entities <alias>', {
    ...entities,
    options: entitiesOptions,
    doing: 'show who has policies at',
    run:
      ({ showEntities }) =>
      (context, args, options: EntitiesOptions) =>
        showEntities(context, args, options, kind),
  });
}
