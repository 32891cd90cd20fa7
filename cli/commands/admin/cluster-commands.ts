import type { Command } from 'commander';
import { define, group, type Runner } from '../define.ts';

export function addClusterCommands(admin: Command, run: Runner): void {
  const cluster = group(admin, 'cluster', 'what the servers of a cluster share');
  addIdentities(cluster, run);
  addBuckets(cluster, run);
}

function addBuckets(cluster: Command, run: Runner): void {
  const bucket = group(cluster, 'bucket', 'what is set for buckets: policies, tags, encryption');
  define<{ output?: string }>(bucket, run, {
    usage: 'export <target>',
    description: 'write what is set for all buckets, or for one, into an archive; objects are not in it',
    options: [['-o, --output <file>', 'where (ALIAS-bucket-metadata.zip, ALIAS-BUCKET-metadata.zip)']],
    examples: [
      ['admin cluster bucket export mine --output buckets.zip', ''],
      ['admin cluster bucket export mine/photos', 'of one bucket'],
    ],
    doing: 'export the buckets of',
    run: async (context, args, options) => (await import('./bucket-archive.ts')).exportBuckets(context, args, options),
  });
  define(bucket, run, {
    usage: 'import <target> <file>',
    description: 'set what an archive of Coffer or MinIO holds, of all its buckets or of one; missing buckets are made',
    examples: [
      ['admin cluster bucket import mine buckets.zip', ''],
      ['admin cluster bucket import mine/photos buckets.zip', 'of one bucket'],
    ],
    doing: 'import the buckets',
    run: async (context, args) => (await import('./bucket-archive.ts')).importBuckets(context, args),
  });
}

function addIdentities(cluster: Command, run: Runner): void {
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
