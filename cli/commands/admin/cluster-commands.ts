import type { Command } from 'commander';
import { define, group, type Runner } from '../define.ts';

export function addClusterCommands(admin: Command, run: Runner): void {
  const cluster = group(admin, 'cluster', 'what the servers of a cluster share');
  const iam = group(cluster, 'iam', 'users, groups, policies and access keys as a whole');
  define<{ output?: string }>(iam, run, {
    usage: 'export <alias>',
    description: 'write all identities into an archive, secret keys included',
    options: [['-o, --output <file>', 'where (ALIAS-iam-info.zip); only you can read it']],
    examples: [['admin cluster iam export mine --output identities.zip', '']],
    doing: 'export the identities of',
    run: async (context, args, options) =>
      (await import('./identity-archive.ts')).exportIdentities(context, args, options),
  });
  define(iam, run, {
    usage: 'import <alias> <file>',
    description: 'add what an archive of Coffer or MinIO holds; what has the same name is replaced',
    examples: [['admin cluster iam import mine identities.zip', '']],
    doing: 'import the identities',
    run: async (context, args) => (await import('./identity-archive.ts')).importIdentities(context, args),
  });
}
