import type { OptionDefinition } from '../command-group.ts';

export const rewindOption: OptionDefinition = ['--rewind <time>', 'as it was at a time: 7d10h, 2020.01.01T11:30'];

export const versionOptions: readonly OptionDefinition[] = [
  ['--versions', 'all versions and delete markers'],
  rewindOption,
];

export const versionIdOption: OptionDefinition = ['--vid, --version-id <id>', 'one version of an object'];

export const ageOptions: readonly OptionDefinition[] = [
  ['--older-than <duration>', 'only what was changed before: 7d10h31s'],
  ['--newer-than <duration>', 'only what was changed since: 7d10h31s'],
];
