import type { OptionDefinition } from '../command-group.ts';

export const rewindOption: OptionDefinition = ['--rewind <time>', 'as it was at a time: 7d10h, 2020.01.01T11:30'];

export const versionOptions: readonly OptionDefinition[] = [
  ['--versions', 'all versions and delete markers'],
  rewindOption,
];

export const versionIdOption: OptionDefinition = ['--vid, --version-id <id>', 'one version of an object'];

export const zipOption: OptionDefinition = [
  '--zip',
  'look into an archive: ALIAS/BUCKET/FILE.zip/NAME; only MinIO does',
];

/** For reading, where only a key of the client is to be sent. */
export const readKeyOption: OptionDefinition = [
  '--enc-c <place=key>',
  'key of the client for objects under ALIAS/BUCKET/PREFIX; may be repeated',
  'repeatable',
];

export const encryptionOptions: readonly OptionDefinition[] = [
  readKeyOption,
  [
    '--enc-kms <place=key>',
    'key of the key service for new objects under it (or MC_ENC_KMS); may be repeated',
    'repeatable',
  ],
  ['--enc-s3 <place>', 'encrypt new objects under it (or MC_ENC_S3); may be repeated', 'repeatable'],
  [
    '--enc-none <place>',
    'leave copies under it to the default of their bucket, also those of encrypted objects; may be repeated',
    'repeatable',
  ],
  ['--encrypt <places>', 'the old form of --enc-s3, separated by commas (or MC_ENCRYPT)'],
  ['--encrypt-key <places>', 'the old form of --enc-c with keys of 32 characters (or MC_ENCRYPT_KEY)'],
];

export const ageOptions: readonly OptionDefinition[] = [
  ['--older-than <duration>', 'only what was changed before: 7d10h31s, or a time: 2020-01-01T11:30:00Z'],
  ['--newer-than <duration>', 'only what was changed since: 7d10h31s, or a time: 2020-01-01T11:30:00Z'],
];
