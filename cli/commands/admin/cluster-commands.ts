import type { CommandGroup } from '../command-group.ts';

export function addClusterCommands(admin: CommandGroup): void {
  const cluster = admin.group('cluster', 'what the servers of a cluster share');
  addIdentities(cluster);
  addBuckets(cluster);
}

function addBuckets(cluster: CommandGroup): void {
  const bucket = cluster
    .group('bucket', 'what is set for buckets: policies, tags, encryption')
    .from(() => import('./bucket-archive.ts'));
  bucket.add('export <target>', {
    description: 'write what is set for all buckets, or for one, into an archive; objects are not in it',
    options: [['-o, --output <file>', 'where (ALIAS-bucket-metadata.zip, ALIAS-BUCKET-metadata.zip)']],
    examples: ['mine --output buckets.zip', ['mine/photos', 'of one bucket']],
    doing: 'export the buckets of',
    run: (code) => code.exportBuckets,
  });
  bucket.add('import <target> <file>', {
    description: 'set what an archive of Coffer or MinIO holds, of all its buckets or of one; missing buckets are made',
    examples: ['mine buckets.zip', ['mine/photos buckets.zip', 'of one bucket']],
    doing: 'import the buckets',
    run: (code) => code.importBuckets,
  });
}

function addIdentities(cluster: CommandGroup): void {
  const iam = cluster
    .group('iam', 'users, groups, policies and access keys as a whole')
    .from(() => import('./identity-archive.ts'));
  iam.add('export <alias>', {
    description: 'write all identities into an archive, secret keys included',
    options: [['-o, --output <file>', 'where (ALIAS-iam-info.zip); only you can read it']],
    examples: ['mine --output identities.zip'],
    doing: 'export the identities of',
    run: (code) => code.exportIdentities,
  });
  iam.add('import <alias> <file>', {
    description: 'add what an archive of Coffer or MinIO holds; what has the same name is replaced',
    examples: ['mine identities.zip'],
    doing: 'import the identities',
    run: (code) => code.importIdentities,
  });
}
